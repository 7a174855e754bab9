import { describe, expect, test } from 'vitest';
import { replicatedJob, storedJobSet } from '../../test/fixtures/jobset-objects.ts';
import { formatFieldError } from '../kube/field-error.ts';
import type { JobSpec } from '../kube/job.ts';
import { withDefaults } from './defaults.ts';
import { DEFAULT_FEATURE_GATES } from './feature-gates.ts';
import type { JobSetSpec } from './jobset.ts';
import { jobSetWarnings, validateJobSetCreate } from './validation.ts';

function problems(
  spec: JobSetSpec,
  metadata: Parameters<typeof storedJobSet>[1] = {},
): readonly string[] {
  const jobSet = storedJobSet(spec, metadata);
  return validateJobSetCreate(jobSet, DEFAULT_FEATURE_GATES).map(formatFieldError);
}

function worker(job: Partial<JobSpec>, more: object = {}): JobSetSpec {
  const base = replicatedJob('w', 2);
  const template = { ...base.template, spec: { ...base.template.spec, ...job } };
  return { replicatedJobs: [{ ...base, template, ...more }] };
}

const IN_PLACE = { failurePolicy: { restartStrategy: 'InPlaceRestart' } } as const;
const JOBS = 'spec.replicatedJobs[0]';

describe('validation', () => {
  test('finds nothing wrong with a plain JobSet, an empty one, or no replicas at all', () => {
    expect(problems(worker({}))).toEqual([]);
    expect(problems({ ...worker({}), ...IN_PLACE })).toEqual([]);
    expect(problems({})).toEqual([]);
    expect(problems(worker({}, { replicas: 0 }))).toEqual([]);
  });

  test.each<[string, JobSetSpec, Parameters<typeof storedJobSet>[1], string]>([
    [
      'too many Pods',
      worker({ parallelism: 2_000_000 }, { replicas: 2000 }),
      {},
      `${JOBS}.replicas: Invalid value: 2000: the product of replicas and parallelism must not exceed 2147483647 for replicatedJob 'w'`,
    ],
    [
      'a name that makes Job names too long',
      worker({}, { replicas: 10 }),
      { name: 'a'.repeat(60) },
      `${JOBS}.name: Invalid value: "` +
        `${'a'.repeat(60)}-w-9": JobSet name is too long, job names generated for this JobSet will exceed 63 characters`,
    ],
    [
      'a name that makes Pod names too long',
      worker({ completions: 100, parallelism: 1 }),
      { name: 'a'.repeat(52) },
      `JobSet name is too long, pod names generated for this JobSet will exceed 63 characters`,
    ],
    [
      'a name that is no DNS label',
      worker({}, { name: 'W_1' }),
      {},
      `${JOBS}.name: Invalid value: "train-W_1-0": a DNS-1035 label`,
    ],
    [
      'a group name that is no DNS label',
      worker({}, { groupName: '1x' }),
      {},
      `${JOBS}.groupName: Invalid value: "1x": a DNS-1035 label`,
    ],
    [
      'a subdomain that is too long',
      { ...worker({}), network: { subdomain: 'a'.repeat(64) } },
      {},
      '.spec.network.subdomain is too long, must be less than 63 characters',
    ],
    [
      'a manager without domain',
      { ...worker({}), managedBy: 'me' },
      {},
      'spec.managedBy: Invalid value: "me": must be a domain-prefixed path',
    ],
    [
      'an unknown target of the success policy',
      { ...worker({}), successPolicy: { operator: 'All', targetReplicatedJobs: ['x'] } },
      {},
      "invalid replicatedJob name 'x' does not appear in .spec.ReplicatedJobs",
    ],
    [
      'an unknown coordinator',
      { ...worker({}), coordinator: { replicatedJob: 'x' } },
      {},
      'coordinator replicatedJob x does not exist',
    ],
    [
      'a coordinator in a Job that is not there',
      { ...worker({}), coordinator: { replicatedJob: 'w', jobIndex: 1 } },
      {},
      'coordinator job index 1 is invalid for replicatedJob w',
    ],
    [
      'a coordinator without an index',
      { ...worker({ completionMode: 'NonIndexed' }), coordinator: { replicatedJob: 'w' } },
      {},
      'job for coordinator pod must be indexed completion mode, and completions number must be set',
    ],
    [
      'a coordinator beyond the last Pod',
      { ...worker({}), coordinator: { replicatedJob: 'w', podIndex: 2 } },
      {},
      'coordinator pod index 2 is invalid for replicatedJob w job index 0',
    ],
    [
      'another backoffLimit',
      { ...worker({ backoffLimit: 6 }), ...IN_PLACE },
      {},
      `${JOBS}.template.spec.backoffLimit: Invalid value: 6: replicatedJob w: must be set to 2147483647 (MaxInt32) when in-place restart is enabled`,
    ],
    [
      'another replacement policy',
      { ...worker({ podReplacementPolicy: 'TerminatingOrFailed' }), ...IN_PLACE },
      {},
      'replicatedJob w: must be set to Failed when in-place restart is enabled',
    ],
    [
      'unequal completions',
      { ...worker({ completions: 5 }), ...IN_PLACE },
      {},
      'replicatedJob w: completions and parallelism must be set and equal to each other when in-place restart is enabled',
    ],
    [
      'an unknown mode',
      worker({}),
      { annotations: { 'lockstep/restart-mode': 'Fast' } },
      'metadata.annotations[lockstep/restart-mode]: Unsupported value: "Fast": supported values: "Sidecar", "Supervisor"',
    ],
    [
      'a supervisor without a command to start',
      { ...worker({ template: { spec: { containers: [{ name: 'c' }] } } }), ...IN_PLACE },
      { annotations: { 'lockstep/restart-mode': 'Supervisor' } },
      `${JOBS}.template.spec.template.spec.containers[0].command: Required value`,
    ],
  ])('refuses %s', (_what, spec, metadata, expected) => {
    expect(problems(spec, metadata)).toContainEqual(expect.stringContaining(expected));
  });

  test('names all problems at once', () => {
    const spec: JobSetSpec = {
      replicatedJobs: [replicatedJob('A'), replicatedJob('B')],
      managedBy: 'x',
    };
    expect(problems(spec).length).toBeGreaterThanOrEqual(3);
  });

  test('checks a sample of the name that the server will generate', () => {
    const jobSet = { ...storedJobSet(worker({})), metadata: { generateName: 'a'.repeat(58) } };
    const errors = validateJobSetCreate(jobSet, DEFAULT_FEATURE_GATES);
    expect(errors.map(({ field }) => field)).toContain(`${JOBS}.name`);
  });

  test('accepts what upstream’s webhook stores, with a warning', () => {
    const spec: JobSetSpec = {
      ...worker({
        template: { spec: { containers: [{ name: 'c' }], restartPolicy: 'OnFailure' } },
      }),
      ...IN_PLACE,
    };
    expect(problems(spec)).toEqual([]);
    expect(jobSetWarnings(storedJobSet(spec), withDefaults(spec))).toEqual([
      expect.stringContaining('restartPolicy OnFailure'),
    ]);
  });
});
