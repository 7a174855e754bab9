import { formatFieldErrors } from '@lockstep/kube/field-error.ts';
import { describe, expect, test } from 'vitest';
import { replicatedJob, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import { withDefaults } from '../defaults.ts';
import { podFacts } from '../roster/pod-facts.ts';
import { jobSetWarnings } from '../validation/validation.ts';
import { injectAgent } from './agent-injection.ts';
import { leaseMs, lostNodeDeadlineErrors, parseLostNodeDeadline } from './lost-node-deadline.ts';

const KEY = 'lockstep/lost-node-deadline';

function errorsOf(text: string | undefined, graceSeconds?: number): string {
  const job = replicatedJob('w');
  const template = job.template.spec.template;
  if (graceSeconds !== undefined) {
    Object.assign(template.spec, { terminationGracePeriodSeconds: graceSeconds });
  }
  const spec = withDefaults({ replicatedJobs: [job] });
  const annotations = text === undefined ? undefined : { [KEY]: text };
  return formatFieldErrors(lostNodeDeadlineErrors(spec, annotations));
}

describe('the deadline of a JobSet', () => {
  test.each([
    ['absent', undefined, undefined],
    ['five minutes', '5m', undefined],
    ['the least for the default grace period', '2m', undefined],
    ['the most', '24h', undefined],
    ['the least without a grace period', '60s', 0],
  ])('is accepted: %s', (_what, text, grace) => {
    expect(errorsOf(text, grace)).toBe('[]');
  });

  test.each([
    [
      'no unit',
      '300',
      undefined,
      '120s (a minute more than twice the longest terminationGracePeriodSeconds, 30)',
    ],
    ['nothing', '', undefined, '120s'],
    ['negative', '-5m', undefined, '120s'],
    ['too short', '119s', undefined, '120s'],
    ['too short for the grace period', '5m', 300, '660s'],
    ['too long', '24h1s', undefined, '120s'],
  ])(
    'is refused with the field, the value and what is expected: %s',
    (_what, text, grace, least) => {
      const told = errorsOf(text, grace);
      expect(told).toContain(
        `metadata.annotations[${KEY}]: Invalid value: ${JSON.stringify(text)}`,
      );
      expect(told).toContain(`expected Off, or a duration such as "5m", from ${least}`);
      expect(told).toContain('to 24h');
    },
  );

  test('leaves an agent less time than the operator, by the margin and the time to stop', () => {
    expect(leaseMs(300_000, 5000)).toBe(275_000);
  });
});

describe('the deadline of a Pod', () => {
  const template = replicatedJob('w').template.spec.template;

  test.each(['Sidecar', 'Supervisor'] as const)('reaches the %s and the Pod alike', (mode) => {
    const { template: injected } = injectAgent(template, {
      image: 'agent',
      mode,
      lostNodeDeadline: '5m',
    });
    const { initContainers = [], containers } = injected.spec;
    const agent = mode === 'Sidecar' ? initContainers[0] : containers[0];
    expect(agent?.env).toContainEqual({ name: 'LOCKSTEP_LOST_NODE_DEADLINE', value: '5m' });
    const facts = podFacts({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        ...injected.metadata,
        deletionTimestamp: '2026-01-01T00:00:00Z',
        ownerReferences: [
          { apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'u', controller: true },
        ],
      },
    });
    expect(facts).toMatchObject({
      lostNodeDeadlineMs: parseLostNodeDeadline('5m'),
      endMs: Date.parse('2026-01-01T00:00:00Z'),
    });
  });

  test('has no place in a template without an agent of its own', () => {
    const { errors } = injectAgent(
      { ...template, metadata: { annotations: { [KEY]: '5m' } } },
      { image: 'agent', mode: 'Sidecar', path: 'template' },
    );
    expect(formatFieldErrors(errors)).toContain(
      `template.metadata.annotations[${KEY}]: Invalid value: "5m": must be an annotation of the JobSet`,
    );
  });

  test('is not known to the template’s own agent, which a warning reports', () => {
    const job = replicatedJob('w');
    const own = {
      ...job,
      template: {
        spec: {
          ...job.template.spec,
          template: {
            spec: { containers: [{ name: 'lockstep-agent', image: 'own', command: ['agent'] }] },
          },
        },
      },
    };
    const jobSet = storedJobSet(
      { replicatedJobs: [own], failurePolicy: { restartStrategy: 'InPlaceRestart' } },
      { annotations: { [KEY]: '5m' } },
    );
    expect(jobSetWarnings(jobSet).join()).toContain(
      `${KEY} has no effect on Pods of this template`,
    );
  });
});
