import { describe, expect, test } from 'vitest';
import { replicatedJob, storedJob } from '../../../test/fixtures/jobset-objects.ts';
import { withDefaults } from '../defaults.ts';
import { REPLICATED_JOB_REPLICAS } from '../names.ts';
import { hasGrown, sizeChange, sizeChanges } from './elastic.ts';

function defaulted(size: { parallelism?: number; completions?: number }, replicas = 1) {
  const job = replicatedJob('w', 1, replicas);
  const { parallelism: _, completions: __, ...spec } = job.template.spec;
  const template = { spec: { ...spec, ...size } };
  const [first] = withDefaults({ replicatedJobs: [{ ...job, template }] }).replicatedJobs;
  if (first === undefined) throw new Error('no ReplicatedJob');
  return first;
}

describe('elastic Jobs', () => {
  const job = (pods: number) => storedJob('train-w-0', 'w', { pods });
  test.each([
    ['bigger', 2, { parallelism: 4, completions: 4 }, 4],
    ['smaller', 2, { parallelism: 1, completions: 1 }, 1],
    ['the same', 2, { parallelism: 2, completions: 2 }, undefined],
    ['unset, which is 1 and 1: no patch over and over', 1, {}, undefined],
    ['unset after it was more', 2, {}, 1],
    ['two numbers that differ', 2, { parallelism: 2, completions: 4 }, undefined],
    ['only one of them set', 2, { parallelism: 4 }, undefined],
  ])('%s', (_behaviour, pods, template, expected) => {
    const size =
      expected === undefined ? undefined : { parallelism: expected, completions: expected };
    expect(sizeChange(job(pods), defaulted(template))).toEqual(size);
  });

  test('are Indexed, known and not on their way out', () => {
    const wanted = defaulted({ parallelism: 4, completions: 4 });
    const nonIndexed = {
      ...job(2),
      spec: { ...job(2).spec, completionMode: 'NonIndexed' as const },
    };
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    const deleting = storedJob('train-w-1', 'w', {
      metadata: { ...job(2).metadata, deletionTimestamp },
    });
    const unknown = storedJob('train-x-0', 'x');
    expect(sizeChanges([nonIndexed, deleting, unknown], [wanted])).toEqual([]);
  });
});

describe('a ReplicatedJob has grown (KEP-463)', () => {
  const told = (index: number, replicas: number) => {
    const job = storedJob(`train-w-${index}`, 'w', { index });
    const labels = { ...job.metadata.labels, [REPLICATED_JOB_REPLICAS]: String(replicas) };
    return { ...job, metadata: { ...job.metadata, labels } };
  };
  test.each([
    ['when no Job was told of so many', [told(0, 2), told(1, 2)], 3, true],
    ['not when a Job of the present size is missing', [told(0, 3), told(2, 3)], 3, false],
    ['not when it shrank', [told(0, 3), told(1, 3)], 2, false],
    ['not while it has no Job', [], 3, false],
    ['not any more when the first of the new Jobs is there', [told(0, 2), told(2, 3)], 3, false],
  ])('%s', (_behaviour, jobs, replicas, expected) => {
    expect(hasGrown(jobs, defaulted({}, replicas))).toBe(expected);
  });
});
