import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  replicatedJob,
  SURROUNDINGS,
  storedJob,
  storedJobSet,
} from '../../../../test/fixtures/jobset-objects.ts';
import { conditionsOf, planOf } from '../../../../test/fixtures/planned.ts';
import { BEGUN } from '../../../../test/fixtures/two-workers.ts';
import type { plan } from '../../plan.ts';
import { MAX_CREATIONS_PER_PASS } from './job-creation.ts';

/** A JobSet with this many Jobs of each ReplicatedJob, which has begun. */
function jobSetOf(...replicas: readonly number[]) {
  const replicatedJobs = replicas.map((count, i) => replicatedJob(`w${i}`, 1, count));
  return { ...storedJobSet({ replicatedJobs }), status: BEGUN };
}

const madeBy = ({ actions }: ReturnType<typeof plan>): readonly Job[] =>
  actions.flatMap((action) => (action.kind === 'CreateJob' ? [action.job] : []));

function stored(job: Job): Stored<Job> {
  const { name = '' } = job.metadata;
  const identity = { name, uid: name, resourceVersion: '1', creationTimestamp: '' };
  return { ...job, metadata: { ...job.metadata, ...identity } };
}

describe('the Jobs of a large JobSet', () => {
  test('are made a part at a time, each once, with nothing in between', () => {
    const jobSet = jobSetOf(1, 2 * MAX_CREATIONS_PER_PASS, 30);
    const jobs: Stored<Job>[] = [];
    const passes: number[] = [];
    while (passes.length < 4) {
      const made = planOf(jobSet, { jobs });
      jobs.push(...madeBy(made).map(stored));
      passes.push(madeBy(made).length);
      if (made.requeueAfterMs !== 0) break;
    }
    expect(passes).toEqual([MAX_CREATIONS_PER_PASS, MAX_CREATIONS_PER_PASS, 31]);
    expect(new Set(jobs.map(({ metadata }) => metadata.name)).size).toBe(jobs.length);
  });

  test('are announced once, by the pass that makes the first of an ordered ReplicatedJob', () => {
    const ordered = jobSetOf(MAX_CREATIONS_PER_PASS + 1);
    const spec = { ...ordered.spec, startupPolicy: { startupPolicyOrder: 'InOrder' as const } };
    const jobSet = { ...ordered, spec };
    const first = planOf(jobSet);
    const second = planOf(jobSet, { jobs: madeBy(first).map(stored) });
    const starts = [first, second].map(
      ({ events }) => events.filter(({ reason }) => reason === 'StartingReplicatedJob').length,
    );
    expect(starts).toEqual([1, 0]);
    expect(madeBy(second)).toHaveLength(1);
  });

  test('continue behind names that are held by others', () => {
    const held = new Map(
      Array.from({ length: MAX_CREATIONS_PER_PASS }, (_, i) => [
        `train-w0-${i}`,
        storedJob(`train-w0-${i}`, 'other'),
      ]),
    );
    const surroundings = { ...SURROUNDINGS, jobNamed: (name: string) => held.get(name) };
    const made = planOf(jobSetOf(MAX_CREATIONS_PER_PASS + 1), { surroundings });
    expect(madeBy(made).map(({ metadata }) => metadata.name)).toEqual([
      `train-w0-${MAX_CREATIONS_PER_PASS}`,
    ]);
    expect(conditionsOf(made)).toEqual(['NameConflict=True ForeignJob']);
  });

  test.each([
    ['train-w0-01', 'train-w0-1'],
    ['train-w0-1e0', 'train-w0-1'],
    ['train-w0-0x1', 'train-w0-1'],
    ['train-w0--1', 'train-w0-1'],
    ['other-w0-1', 'train-w0-1'],
    ['w0-1', 'train-w0-1'],
    ['1', 'train-w0-1'],
    ['train-w0-', 'train-w0-0'],
    ['train-w0-0-1', 'train-w0-1'],
  ])('are not held back by a Job of the JobSet with the name %s', (name, missing) => {
    const jobSet = jobSetOf(3);
    const all = madeBy(planOf(jobSet)).map(stored);
    const jobs = all.map((job) =>
      job.metadata.name === missing ? { ...job, metadata: { ...job.metadata, name } } : job,
    );
    expect(madeBy(planOf(jobSet, { jobs })).map(({ metadata }) => metadata.name)).toEqual([
      missing,
    ]);
  });

  test('cost no more than those that are there and those that one pass makes', () => {
    const sizes = fc.array(fc.nat({ max: 5_000 }), { minLength: 1, maxLength: 4 });
    const existing = fc.uniqueArray(fc.nat({ max: 5_000 }), { maxLength: 50, size: 'max' });
    fc.assert(
      fc.property(sizes, existing, (replicas, indexes) => {
        const jobs = indexes.map((index) => storedJob(`train-w0-${index}`, 'w0', { index }));
        let asked = 0;
        const jobNamed = () => {
          asked++;
          return undefined;
        };
        const made = planOf(jobSetOf(...replicas), {
          jobs,
          surroundings: { ...SURROUNDINGS, jobNamed },
        });
        const count = madeBy(made).length;
        expect(count).toBeLessThanOrEqual(MAX_CREATIONS_PER_PASS);
        // One more of each ReplicatedJob shows that there is more to do.
        expect(asked).toBeLessThanOrEqual(count + replicas.length);
      }),
      { numRuns: 30 },
    );
  });
});

describe('a JobSet that was stored too large', () => {
  const huge = storedJobSet({ replicatedJobs: [replicatedJob('w', 1, 2_000_000_000)] });
  const running = Array.from({ length: 3 }, (_, index) =>
    storedJob(`train-w-${index}`, 'w', { index, status: { active: 1, ready: 1 } }),
  );
  const unaffordable = () => {
    throw new Error('nothing is to be looked up for it');
  };

  test.each([
    ['new', undefined, []],
    ['with Jobs that run', BEGUN, running],
  ])('is rejected, and nothing is made, changed or deleted: %s', (_what, status, jobs) => {
    const made = planOf(status === undefined ? huge : { ...huge, status }, {
      jobs,
      surroundings: { ...SURROUNDINGS, jobNamed: unaffordable },
    });
    expect(conditionsOf(made)).toEqual(['Rejected=True InvalidSpec']);
    expect(made.status?.conditions?.[0]?.message).toContain(
      'spec.replicatedJobs: Invalid value: 2000000000: the sum of replicas must not exceed 20000',
    );
    expect(made.actions).toEqual([]);
  });

  test('is rejected even while it is being deleted, so that its finalizers can go', () => {
    const deletionTimestamp = '2026-01-01T00:30:00Z';
    const leaving = { ...huge, metadata: { ...huge.metadata, deletionTimestamp } };
    const made = planOf(leaving);
    expect(conditionsOf(made)).toEqual(['Rejected=True InvalidSpec']);
    const { status } = made;
    expect(planOf({ ...leaving, ...(status && { status }) }).status).toBeUndefined();
  });

  test('continues when the limit is raised', () => {
    const jobSet = storedJobSet({ replicatedJobs: [replicatedJob('w', 1, 20_001)] });
    const rejected = planOf(jobSet).status ?? {};
    const limits = { maxJobs: 20_001, maxPods: 20_001 };
    const made = planOf({ ...jobSet, status: rejected }, { limits });
    expect(conditionsOf(made)).toEqual(['Rejected=False ValidSpec']);
    expect(madeBy(made)).toHaveLength(MAX_CREATIONS_PER_PASS);
  });
});
