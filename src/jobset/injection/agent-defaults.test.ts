import type { StringMap } from '@lockstep/kube/meta.ts';
import type { Container, PodSpec } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, it, test } from 'vitest';
import type { JobSet } from '../jobset.ts';
import type { JobSetStatus } from '../jobset-status.ts';
import { type AgentDefaults, type ModeFacts, withAgentDefaults } from './agent-defaults.ts';

const WORKER: Container = { name: 'worker', image: 'i', command: ['train'] };
const SUPERVISED: AgentDefaults = { mode: 'Supervisor', injection: 'Disabled' };
const ANNOTATIONS = {
  'lockstep/restart-mode': 'Supervisor',
  'lockstep/agent-injection': 'Disabled',
};

function jobSetOf(
  pods: readonly PodSpec[],
  more: { readonly annotations?: StringMap; readonly status?: JobSetStatus } = {},
): JobSet {
  const { annotations, status } = more;
  return {
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    metadata: { name: 'train', ...(annotations === undefined ? {} : { annotations }) },
    spec: {
      failurePolicy: { restartStrategy: 'InPlaceRestart' },
      replicatedJobs: pods.map((spec, index) => ({
        name: `w${index}`,
        template: { spec: { template: { spec } } },
      })),
    },
    ...(status === undefined ? {} : { status }),
  };
}

const IN_PLACE = jobSetOf([{ containers: [WORKER] }]);

function modeOf(jobSet: JobSet, facts?: ModeFacts): string | undefined {
  return withAgentDefaults(jobSet, facts).metadata.annotations?.['lockstep/restart-mode'];
}

describe('defaults of agents', () => {
  it('become annotations of a JobSet that restarts in place', () => {
    const { metadata } = withAgentDefaults(IN_PLACE, { defaults: SUPERVISED });
    expect(metadata.annotations).toEqual(ANNOTATIONS);
  });

  it('leave what the JobSet says itself', () => {
    const own = { 'lockstep/restart-mode': 'Sidecar', other: 'x' };
    const jobSet = { ...IN_PLACE, metadata: { name: 'train', annotations: own } };
    expect(withAgentDefaults(jobSet, { defaults: SUPERVISED }).metadata.annotations).toEqual({
      ...ANNOTATIONS,
      ...own,
    });
  });

  it.each<[string, JobSet]>([
    ['of other strategies', { ...IN_PLACE, spec: { failurePolicy: {} } }],
    ['without a spec', { ...IN_PLACE, spec: {} }],
  ])('change no JobSet %s', (_, jobSet) => {
    expect(withAgentDefaults(jobSet, { defaults: SUPERVISED })).toBe(jobSet);
  });
});

describe('the mode of a new JobSet', () => {
  test('is Supervisor where that suits every template', () => {
    const readinessProbe = { exec: { command: ['true'] } };
    const init = { name: 'prepare', image: 'i' };
    const second = { initContainers: [init], containers: [{ ...WORKER, readinessProbe }] };
    expect(modeOf(jobSetOf([{ containers: [WORKER] }, second]))).toBe('Supervisor');
  });

  const probe = { exec: { command: ['true'] } };
  test.each<[string, PodSpec]>([
    ['has no command', { containers: [{ name: 'worker', image: 'i' }] }],
    ['has a liveness probe', { containers: [{ ...WORKER, livenessProbe: probe }] }],
    ['has a startup probe', { containers: [{ ...WORKER, startupProbe: probe }] }],
    ['has a hook', { containers: [{ ...WORKER, lifecycle: { preStop: probe } }] }],
    ['has two containers', { containers: [WORKER, { name: 'log', image: 'i' }] }],
    [
      'has a sidecar',
      {
        initContainers: [{ name: 'log', image: 'i', restartPolicy: 'Always' }],
        containers: [WORKER],
      },
    ],
  ])('is Sidecar for all templates if one %s', (_, pod) => {
    expect(modeOf(jobSetOf([{ containers: [WORKER] }, pod]))).toBe('Sidecar');
  });

  test('is the same if its annotation says Auto, with any default of the administrator', () => {
    const auto = jobSetOf([{ containers: [WORKER] }], {
      annotations: { 'lockstep/restart-mode': 'Auto' },
    });
    const defaults: AgentDefaults = { mode: 'Sidecar', injection: 'Enabled' };
    expect(modeOf(auto, { defaults })).toBe('Supervisor');
    expect(modeOf(IN_PLACE, { defaults })).toBe('Sidecar');
  });

  test('is left open where all templates bring agents, or get none', () => {
    const own = { name: 'lockstep-agent', image: 'i', restartPolicy: 'Always' } as const;
    expect(modeOf(jobSetOf([{ initContainers: [own], containers: [WORKER] }]))).toBeUndefined();
    const defaults: AgentDefaults = { mode: 'Auto', injection: 'Disabled' };
    expect(modeOf(IN_PLACE, { defaults })).toBeUndefined();
  });

  test('is Supervisor where nodes leave no choice', () => {
    const jobSet = jobSetOf([{ containers: [{ name: 'worker', image: 'i' }] }]);
    expect(modeOf(jobSet, { restartAllProblem: { why: 'old nodes', dropsRules: false } })).toBe(
      'Supervisor',
    );
  });
});

describe('the mode of a JobSet that has run', () => {
  const stored = (status: JobSetStatus): JobSet => jobSetOf([{ containers: [WORKER] }], { status });

  test.each<[string, JobSet, ModeFacts]>([
    ['a status', stored({ restarts: 0 }), {}],
    ["upstream's status", stored({ replicatedJobsStatus: [] }), {}],
    ['Jobs', IN_PLACE, { hasJobs: true }],
  ])('without a record stays Sidecar: it has %s', (_, jobSet, facts) => {
    expect(modeOf(jobSet, facts)).toBe('Sidecar');
  });

  test('stays as recorded after a change of its templates or of the default', () => {
    const pods = [{ containers: [{ name: 'worker', image: 'i' }] }];
    const status = { restarts: 0, restartMode: 'Supervisor' } as const;
    const defaults: AgentDefaults = { mode: 'Sidecar', injection: 'Enabled' };
    expect(modeOf(jobSetOf(pods, { status }), { defaults, hasJobs: true })).toBe('Supervisor');
  });

  test('is what its annotation says from now on', () => {
    const annotations = { 'lockstep/restart-mode': 'Sidecar' };
    const status = { restarts: 0, restartMode: 'Supervisor' } as const;
    const jobSet = jobSetOf([{ containers: [WORKER] }], { annotations, status });
    expect(withAgentDefaults(jobSet, { hasJobs: true })).toBe(jobSet);
  });
});
