import { describe, expect, it } from 'vitest';
import type { JobSet } from '../jobset.ts';
import { type AgentDefaults, withAgentDefaults } from './agent-defaults.ts';

const IN_PLACE: JobSet = {
  apiVersion: 'jobset.x-k8s.io/v1alpha2',
  kind: 'JobSet',
  metadata: { name: 'train' },
  spec: { failurePolicy: { restartStrategy: 'InPlaceRestart' } },
};
const SUPERVISED: AgentDefaults = { mode: 'Supervisor', injection: 'Disabled' };
const ANNOTATIONS = {
  'lockstep/restart-mode': 'Supervisor',
  'lockstep/agent-injection': 'Disabled',
};

describe('defaults of agents', () => {
  it('become annotations of a JobSet that restarts in place', () => {
    expect(withAgentDefaults(IN_PLACE, SUPERVISED).metadata.annotations).toEqual(ANNOTATIONS);
  });

  it('leave what the JobSet says itself', () => {
    const own = { 'lockstep/restart-mode': 'Sidecar', other: 'x' };
    const jobSet = { ...IN_PLACE, metadata: { name: 'train', annotations: own } };
    expect(withAgentDefaults(jobSet, SUPERVISED).metadata.annotations).toEqual({
      ...ANNOTATIONS,
      ...own,
    });
  });

  it.each<[string, JobSet, AgentDefaults | undefined]>([
    ['of other strategies', { ...IN_PLACE, spec: { failurePolicy: {} } }, SUPERVISED],
    ['without a spec', { ...IN_PLACE, spec: {} }, SUPERVISED],
    ['where the defaults are the usual ones', IN_PLACE, { mode: 'Sidecar', injection: 'Enabled' }],
    ['where there are none', IN_PLACE, undefined],
  ])('change no JobSet %s', (_, jobSet, defaults) => {
    expect(withAgentDefaults(jobSet, defaults)).toBe(jobSet);
  });
});
