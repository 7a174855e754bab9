import type { Container, PodSpec } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, test } from 'vitest';
import { replicatedJob, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import { snapshotOf, WITHOUT_READY } from '../../../test/fixtures/snapshots.ts';
import { withDefaults } from '../defaults.ts';
import type { JobSetSpec } from '../jobset.ts';
import { plan } from '../plan.ts';
import { withAgentDefaults } from './agent-defaults.ts';
import { agentInjector } from './agent-mode.ts';
import { nodeSupportErrors } from './node-support.ts';

const WHY = 'no node declares it';
const WORKER: Container = { name: 'worker', image: 'i', command: ['train'] };
const AGENT = { image: 'agent', restartAllProblem: { why: WHY, dropsRules: false } };
const SUPERVISOR = { 'lockstep/restart-mode': 'Supervisor' };
const RESTARTS_POD = {
  action: 'RestartPod',
  exitCodes: { operator: 'In', values: [3] },
} as const;

function specOf(pod: PodSpec): JobSetSpec {
  const job = replicatedJob('w');
  const template = { spec: { ...job.template.spec, template: { spec: pod } } };
  return {
    failurePolicy: { restartStrategy: 'InPlaceRestart' },
    replicatedJobs: [{ ...job, template }],
  };
}

function errorsOf(pod: PodSpec, annotations = SUPERVISOR as Record<string, string>) {
  const errors = nodeSupportErrors(withDefaults(specOf(pod)), annotations, AGENT);
  return errors.map(({ field, detail }) => `${field}: ${detail}`);
}

const PATH = 'spec.replicatedJobs[0].template.spec.template.spec';

describe('nodes that cannot restart all containers of a Pod', () => {
  test('get supervised workers, without a rule that only the others know', () => {
    const helper: Container = { name: 'helper', image: 'i' };
    const worker: Container = {
      ...WORKER,
      restartPolicy: 'Never',
      restartPolicyRules: [
        RESTARTS_POD,
        { action: 'Restart', exitCodes: { operator: 'In', values: [4] } },
      ],
    };
    const spec = withDefaults(specOf({ containers: [worker, helper] }));
    const [template] = spec.replicatedJobs.map((job) => job.template.spec.template);
    if (template === undefined) throw new Error('no template');
    const { containers } = agentInjector(spec, SUPERVISOR, AGENT)(template, 'w').spec;
    expect(containers[0]?.command).toEqual(['lockstep-agent', '--', 'train']);
    expect(containers[0]?.restartPolicyRules?.map(({ action }) => action)).toEqual([
      'Restart',
      'Restart',
    ]);
    const told = containers[0]?.env?.find(({ name }) => name === 'LOCKSTEP_RESTART_RULES');
    expect(told?.value, 'the agent judges by the rules as they were written').toContain(
      'RestartPod',
    );
    expect(containers[1]).toEqual(helper);
    const plain = withDefaults(specOf({ containers: [WORKER] }));
    const [other] = plain.replicatedJobs.map((job) => job.template.spec.template);
    if (other === undefined) throw new Error('no template');
    const injected = agentInjector(plain, SUPERVISOR, AGENT)(other, 'w').spec.containers;
    expect(injected[0]).toMatchObject({
      restartPolicy: 'Never',
      restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'NotIn', values: [0] } }],
    });
  });

  test('get no rule and no policy where the API server would refuse them', () => {
    const worker: Container = {
      ...WORKER,
      restartPolicy: 'Never',
      restartPolicyRules: [RESTARTS_POD],
    };
    const restartAllProblem = { why: WHY, dropsRules: true };
    for (const given of [WORKER, worker]) {
      const spec = withDefaults(specOf({ containers: [given] }));
      const [template] = spec.replicatedJobs.map((job) => job.template.spec.template);
      if (template === undefined) throw new Error('no template');
      const injected = agentInjector(spec, SUPERVISOR, { ...AGENT, restartAllProblem })(
        template,
        'w',
      );
      const [supervised] = injected.spec.containers;
      expect(supervised?.command).toEqual(['lockstep-agent', '--', 'train']);
      expect(supervised).not.toHaveProperty('restartPolicy');
      expect(supervised).not.toHaveProperty('restartPolicyRules');
    }
  });

  test.each<[string, PodSpec, Record<string, string>, readonly string[]]>([
    ['a worker with a command is fine', { containers: [WORKER] }, SUPERVISOR, []],
    [
      'an annotation that wants a sidecar',
      { containers: [WORKER] },
      { 'lockstep/restart-mode': 'Sidecar' },
      [
        `metadata.annotations[lockstep/restart-mode]: ${WHY}: without that only Supervisor is possible`,
      ],
    ],
    [
      'a worker whose command only its image knows',
      { containers: [{ name: 'worker', image: 'i' }] },
      SUPERVISOR,
      [
        `${PATH}.containers[0].command: ${WHY}: without that the agent has to start the worker, and needs its command`,
      ],
    ],
    [
      'rules of containers without a supervisor',
      {
        initContainers: [{ name: 'init', restartPolicyRules: [RESTARTS_POD] }],
        containers: [WORKER, { name: 'helper', restartPolicyRules: [RESTARTS_POD] }],
      },
      SUPERVISOR,
      [
        `${PATH}.initContainers[0].restartPolicyRules[0].action: ${WHY}`,
        `${PATH}.containers[1].restartPolicyRules[0].action: ${WHY}`,
      ],
    ],
    [
      'an agent of the template, whose rules they are',
      {
        initContainers: [
          { name: 'lockstep-agent', restartPolicy: 'Always', restartPolicyRules: [RESTARTS_POD] },
        ],
        containers: [{ name: 'worker', image: 'i' }],
      },
      { 'lockstep/agent-injection': 'Disabled' },
      [`${PATH}.initContainers[0].restartPolicyRules[0].action: ${WHY}`],
    ],
  ])('%s', (_, pod, annotations, expected) => {
    expect(errorsOf(pod, annotations)).toEqual(expected);
  });

  test('do not matter to a JobSet that does not restart in place', () => {
    const spec = withDefaults({ replicatedJobs: [replicatedJob('w')] });
    expect(nodeSupportErrors(spec, undefined, AGENT)).toEqual([]);
  });
});

describe('a plan for them', () => {
  const planned = (pod: PodSpec, annotations?: Record<string, string>) => {
    const jobSet = storedJobSet(specOf(pod), annotations === undefined ? {} : { annotations });
    return plan(snapshotOf(withAgentDefaults(jobSet, AGENT), { ...WITHOUT_READY, agent: AGENT }));
  };

  test('says why agents supervise', () => {
    const { status, events } = planned({ containers: [WORKER] });
    expect(status?.conditions ?? []).toEqual([]);
    expect(events).toContainEqual(
      expect.objectContaining({
        reason: 'SupervisorMode',
        note: `agents supervise their workers: ${WHY}`,
      }),
    );
  });

  test('has a condition that says why nothing is possible', () => {
    const { status, actions } = planned({ containers: [{ name: 'worker', image: 'i' }] });
    expect(actions).toEqual([]);
    expect(status?.conditions).toMatchObject([
      { type: 'Rejected', status: 'True', message: expect.stringContaining(WHY) },
    ]);
  });
});
