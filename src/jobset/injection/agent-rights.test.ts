import type { PodSpec } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, it } from 'vitest';
import {
  replicatedJob,
  SURROUNDINGS,
  storedJobSet,
} from '../../../test/fixtures/jobset-objects.ts';
import { actionsOf, planOf } from '../../../test/fixtures/planned.ts';
import { withDefaults } from '../defaults.ts';
import type { JobSetSpec } from '../jobset.ts';
import { AGENT_CHANNEL } from '../names.ts';
import type { AgentChannel, ServedHub } from './agent-hub.ts';
import type { AgentProgram } from './agent-mode.ts';
import { agentRights } from './agent-rights.ts';

const TRAIN = { name: 'train', namespace: 'ml', uid: 'u' };
const IN_PLACE = { failurePolicy: { restartStrategy: 'InPlaceRestart' } } as const;
const OWNER = { kind: 'JobSet', name: 'train', uid: 'u', controller: true };
const OWN = { serviceAccountName: 'trainer' };

/** A JobSet with a ReplicatedJob for each Pod spec. */
function specOf(...pods: readonly object[]): JobSetSpec {
  return {
    ...IN_PLACE,
    replicatedJobs: pods.map((pod, i) => ({
      name: `r${i}`,
      template: {
        spec: { template: { spec: { containers: [{ name: 'w', image: 'i' }], ...pod } } },
      },
    })),
  };
}

const hub = (channel: AgentChannel): ServedHub => ({
  url: 'https://hub',
  authorities: '',
  channel,
});
const rightsOf = (spec: JobSetSpec, annotations = {}) =>
  agentRights(TRAIN, withDefaults(spec), annotations, { grantsRights: true });
const subjectsOf = (...pods: readonly object[]) =>
  rightsOf(specOf(...pods))?.binding.subjects.map(({ name }) => name);

describe('the rights of agents', () => {
  it.each<[AgentChannel | undefined, AgentChannel | undefined, boolean]>([
    ['Hub', undefined, false],
    ['Auto', undefined, true],
    ['API', undefined, true],
    [undefined, undefined, true],
    ['Hub', 'Auto', true],
    ['Hub', 'API', true],
    ['Auto', 'Hub', false],
    [undefined, 'Auto', true],
  ])('are needed by channel: default %s, annotation %s: %s', (channel, chosen, isGranted) => {
    const annotations = chosen === undefined ? undefined : { [AGENT_CHANNEL]: chosen };
    const program = channel === undefined ? {} : { hub: hub(channel) };
    const rights = agentRights(TRAIN, withDefaults(specOf(OWN)), annotations, {
      ...program,
      grantsRights: true,
    });
    expect(rights !== undefined).toBe(isGranted);
  });

  it('are given only if the operator is told to', () => {
    const spec = withDefaults(specOf(OWN));
    expect(agentRights(TRAIN, spec, undefined, {})).toBeUndefined();
    expect(agentRights(TRAIN, spec, undefined, { grantsRights: false })).toBeUndefined();
  });

  it('are for one JobSet, and belong to it', () => {
    const rights = rightsOf(specOf(OWN));
    expect(rights?.role.rules).toEqual([
      { apiGroups: [''], resources: ['pods'], verbs: ['patch'] },
      {
        apiGroups: ['jobset.x-k8s.io'],
        resources: ['jobsets'],
        resourceNames: ['train'],
        verbs: ['list', 'watch'],
      },
    ]);
    expect(rights?.binding).toMatchObject({
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'Role',
        name: 'train-lockstep-agent',
      },
      subjects: [{ kind: 'ServiceAccount', namespace: 'ml', name: 'trainer' }],
    });
    for (const object of [rights?.role, rights?.binding]) {
      expect(object?.metadata).toMatchObject({
        name: 'train-lockstep-agent',
        namespace: 'ml',
        ownerReferences: [OWNER],
      });
    }
  });

  it('are for an account that a template names, each once, and never of `default`', () => {
    expect(subjectsOf(OWN, OWN, { serviceAccount: 'old-name' })).toEqual(['old-name', 'trainer']);
    expect(subjectsOf(OWN, {})).toEqual(['trainer']);
    expect(subjectsOf({})).toBeUndefined();
    for (const field of ['serviceAccountName', 'serviceAccount']) {
      expect(subjectsOf({ [field]: 'default' })).toBeUndefined();
      expect(subjectsOf({ [field]: 'default' }, OWN)).toEqual(['trainer']);
    }
  });

  it('are given only where an agent is injected', () => {
    const { replicatedJobs = [] } = specOf(OWN);
    expect(rightsOf({ replicatedJobs })).toBeUndefined();
    expect(rightsOf(specOf(OWN), { 'lockstep/agent-injection': 'Disabled' })).toBeUndefined();
    const ownAgent = { initContainers: [{ name: 'in-place-restart-agent', image: 'i' }] };
    expect(rightsOf(specOf(ownAgent))).toBeUndefined();
    expect(subjectsOf({ ...ownAgent, serviceAccountName: 'theirs' }, OWN)).toEqual(['trainer']);
  });
});

describe('a plan', () => {
  const without = { surroundings: { ...SURROUNDINGS, hasAgentRights: false } };
  const granting: AgentProgram = { image: 'agent', grantsRights: true };

  function begunWith(pod: Partial<PodSpec>) {
    const job = replicatedJob('w', 1, 1);
    const { template } = job.template.spec;
    const named = { ...template, spec: { ...template.spec, ...pod } };
    const spec = { ...job.template.spec, template: named };
    const replicatedJobs = [{ ...job, template: { ...job.template, spec } }];
    return { ...storedJobSet({ ...IN_PLACE, replicatedJobs }), status: { executionAttempts: 1 } };
  }

  it('gives the rights with the first Jobs, once', () => {
    const begun = begunWith(OWN);
    const { actions } = planOf(begun, { ...without, agent: granting });
    expect(actions.map(({ kind }) => kind)).toEqual(['GrantAgentRights', 'CreateJob']);
    expect(actionsOf(planOf(begun, { agent: granting }))).toEqual(['CreateJob train-w-0']);
    expect(actionsOf(planOf(begun, without))).toEqual(['CreateJob train-w-0']);
  });

  it.each<[string, Partial<PodSpec>]>([
    ['names none', {}],
    ['names one', OWN],
    ['names `default`', { serviceAccountName: 'default' }],
    ['mounts no token', { automountServiceAccountToken: false }],
    ['uses the old name', { serviceAccount: 'old-name' }],
  ])('leaves the account of a template that %s, with every channel and mode', (_what, pod) => {
    for (const channel of ['Hub', 'Auto', 'API', undefined] as const) {
      for (const mode of ['Sidecar', 'Supervisor']) {
        const begun = begunWith(pod);
        const annotations = { 'lockstep/restart-mode': mode };
        const jobSet = { ...begun, metadata: { ...begun.metadata, annotations } };
        const agent = { ...granting, ...(channel && { hub: hub(channel) }) };
        const { actions } = planOf(jobSet, { ...without, agent });
        const create = actions.find((action) => action.kind === 'CreateJob');
        const { serviceAccountName, serviceAccount, automountServiceAccountToken } =
          create?.job.spec.template.spec ?? {};
        const found = { serviceAccountName, serviceAccount, automountServiceAccountToken };
        expect(JSON.parse(JSON.stringify(found))).toEqual(pod);
      }
    }
  });
});
