import type { Container } from '@lockstep/kube/objects/pod.ts';
import { expect, it } from 'vitest';
import { literalFacts, literalGroupFacts } from '../../../../test/fixtures/facts.ts';
import { withDefaults } from '../../defaults.ts';
import type { JobSetSpec } from '../../jobset.ts';
import { reportGuarantees } from './agent-guarantees.ts';

const UPSTREAMS: Container = { name: 'in-place-restart-agent', restartPolicy: 'Always' };

function specOf(agent: Container | undefined, more: Partial<JobSetSpec> = {}): JobSetSpec {
  const initContainers = agent === undefined ? [] : [agent];
  const spec = { template: { spec: { initContainers, containers: [{ name: 'worker' }] } } };
  return {
    replicatedJobs: [{ name: 'w', template: { spec } }],
    failurePolicy: { restartStrategy: 'InPlaceRestart' },
    ...more,
  };
}

function reported(spec: JobSetSpec, isGroup = true) {
  const facts = { spec: withDefaults(spec) };
  const [decision] = reportGuarantees(isGroup ? literalGroupFacts(facts) : literalFacts(facts));
  return decision?.conditions?.[0];
}

it("says what is not guaranteed with an agent in upstream's dialect", () => {
  const condition = reported(specOf(UPSTREAMS));
  expect(condition).toMatchObject({ status: 'True', reason: 'UpstreamAgent' });
  expect(condition?.message).toContain(
    'agent container "in-place-restart-agent" of replicatedJob w',
  );
  expect(condition?.message).not.toContain('startup order');
});

it('says that upstream’s agent does not get past the first stage', () => {
  const startupPolicy = { startupPolicyOrder: 'InOrder' } as const;
  expect(reported(specOf(UPSTREAMS, { startupPolicy }))?.message).toContain('startup order stops');
});

it.each<[string, Container | undefined]>([
  ['an injected agent', undefined],
  ...['NAMESPACE', 'JOBSET_UID', 'RESTART_POD_IN_PLACE_EXIT_CODE'].map(
    (name): [string, Container] => [
      `an agent that has ${name}`,
      { ...UPSTREAMS, env: [{ name, value: 'x' }] },
    ],
  ),
])('has nothing to say of %s', (_, agent) => {
  expect(reported(specOf(agent))).toMatchObject({ status: 'False', onlyIfTrue: true });
});

it('takes it back while the group does not restart in place', () => {
  expect(reported(specOf(UPSTREAMS), false)).toMatchObject({ status: 'False', onlyIfTrue: true });
});
