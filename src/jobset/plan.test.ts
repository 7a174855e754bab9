import type { JobStatus } from '@lockstep/kube/objects/job.ts';
import { describe, expect, test } from 'vitest';
import {
  replicatedJob,
  SURROUNDINGS,
  storedJob,
  storedJobSet,
} from '../../test/fixtures/jobset-objects.ts';
import {
  conditionsOf,
  COMPLETE as DONE,
  FAILED,
  kindsOf,
  RESTARTING,
} from '../../test/fixtures/planned.ts';
import { BEGUN, jobSetOfTwo, planForTwo, TWO_WORKERS } from '../../test/fixtures/two-workers.ts';
import type { JobSetSpec } from './jobset.ts';
import type { JobSetStatus } from './jobset-status.ts';
import type { Plan } from './plan.ts';

const COMPLETE: JobStatus = { ...DONE, succeeded: 2 };

describe('a JobSet that runs', () => {
  test('gets its first status, its Service and its Jobs at once', () => {
    const fresh = storedJobSet({ replicatedJobs: [replicatedJob('w', 2)] });
    const made = planForTwo(fresh, {
      jobs: [],
      surroundings: { ...SURROUNDINGS, service: undefined },
    });
    expect(kindsOf(made)).toEqual(['CreateService', 'CreateJob']);
    expect(made.status).toEqual({
      ...BEGUN,
      restartsCountTowardsMax: 0,
      startTime: '2026-01-01T01:00:00Z',
    });
  });

  test('is left alone when everything is as it should be', () => {
    expect(planForTwo(jobSetOfTwo({}))).toMatchObject({
      status: undefined,
      actions: [],
      events: [],
    });
  });

  test.each([
    ['somebody else manages it', jobSetOfTwo({ managedBy: 'acme.io/manager' })],
    ['it is being deleted', jobSetOfTwo({}, BEGUN, { deletionTimestamp: '2026-01-01T00:00:00Z' })],
  ])('is not touched if %s', (_why, jobSet) => {
    expect(planForTwo(jobSet, { jobs: [] })).toMatchObject({ status: undefined, actions: [] });
  });

  test.each(['jobset.sigs.k8s.io/jobset-controller', 'lockstep/jobset-controller'])(
    'is acted on if it names %s',
    (managedBy) => {
      expect(planForTwo(jobSetOfTwo({ managedBy }), { jobs: [] }).actions).not.toEqual([]);
    },
  );

  test('whose spec cannot be right is reported and not acted on', () => {
    const made = planForTwo(jobSetOfTwo({ replicatedJobs: [replicatedJob('W')] }), { jobs: [] });
    expect(conditionsOf(made)).toEqual(['Rejected=True InvalidSpec']);
    expect(made.events[0]).toMatchObject({ type: 'Warning', reason: 'InvalidSpec' });
    expect(made.actions).toEqual([]);
  });

  test('does not use a name again while a Job holds it, being deleted or unreadable', () => {
    const deleting = {
      ...TWO_WORKERS,
      metadata: { ...TWO_WORKERS.metadata, deletionTimestamp: 'x' },
    };
    expect(planForTwo(jobSetOfTwo({}), { jobs: [deleting] }).actions).toEqual([]);
    const odd = { ...TWO_WORKERS, metadata: { ...TWO_WORKERS.metadata, labels: {} } };
    const made = planForTwo(jobSetOfTwo({}), { jobs: [odd] });
    expect(made.actions, 'it is recreated').toEqual([{ kind: 'DeleteJob', job: odd }]);
    expect(made.events).toEqual([
      expect.objectContaining({ reason: 'UnreadableJob', isOnce: true }),
    ]);
  });
});

describe('success', () => {
  test('completes the JobSet, and ends what still runs in the next pass', () => {
    const jobSet = jobSetOfTwo({ successPolicy: { operator: 'Any' } });
    const done = storedJob('train-w-0', 'w', { pods: 2, status: COMPLETE });
    const made = planForTwo(jobSet, { jobs: [done] });
    expect(conditionsOf(made)).toEqual(['Completed=True AllJobsCompleted']);
    expect(made).toMatchObject({
      status: { terminalState: 'Completed' },
      outcomes: [{ kind: 'Completed' }],
    });
    const running = storedJob('train-v-0', 'v');
    const after = planForTwo({ ...jobSet, ...statusOf(made) }, { jobs: [done, running] });
    expect(after.status).toBeUndefined();
    expect(after.actions).toEqual([{ kind: 'DeleteJob', job: running }]);
  });

  test('loses to a failure in the same pass', () => {
    const jobs = [
      storedJob('train-w-0', 'w', { pods: 2, status: COMPLETE }),
      storedJob('train-w-1', 'w', { pods: 2, index: 1, status: FAILED }),
    ];
    const spec: JobSetSpec = {
      replicatedJobs: [replicatedJob('w', 2, 2)],
      successPolicy: { operator: 'Any' },
    };
    expect(conditionsOf(planForTwo(jobSetOfTwo(spec), { jobs }))).toEqual([
      'Failed=True FailedJobs',
    ]);
  });
});

describe('failure of a Job', () => {
  const failed = storedJob('train-w-0', 'w', { pods: 2, status: FAILED });
  const policy = { failurePolicy: { maxRestarts: 1 } };

  test('recreates all Jobs: the status first, the deletion next, the creation when all is gone', () => {
    const counted = planForTwo(jobSetOfTwo(policy), { jobs: [failed] });
    expect(counted.status).toMatchObject({ restarts: 1, restartsCountTowardsMax: 1 });
    expect(conditionsOf(counted)).toEqual(['RestartingJobSet=True DefaultFailurePolicy']);
    expect(counted.actions).toEqual([]);

    const jobSet = jobSetOfTwo(policy, counted.status);
    expect(kindsOf(planForTwo(jobSet, { jobs: [failed] }))).toEqual(['DeleteJob']);
    const created = planForTwo(jobSet, { jobs: [] });
    expect(created.actions).toEqual([
      {
        kind: 'CreateJob',
        job: expect.objectContaining({
          metadata: expect.objectContaining({
            labels: expect.objectContaining({ 'jobset.sigs.k8s.io/restart-attempt': '1' }),
          }),
        }),
      },
    ]);
  });

  test('fails the JobSet when the budget is spent, by either kind of restart', () => {
    for (const spent of [{ restartsCountTowardsMax: 1 }, { inPlaceRestartsCountTowardsMax: 1 }]) {
      const made = planForTwo(jobSetOfTwo(policy, { ...BEGUN, ...spent }), { jobs: [failed] });
      expect(conditionsOf(made)).toEqual(['Failed=True ReachedMaxRestarts']);
    }
  });

  test('is over for the condition once all Jobs are ready', () => {
    const status = { ...BEGUN, restarts: 1, conditions: [RESTARTING] };
    const ready = storedJob('train-w-0', 'w', { pods: 2, attempt: 1, status: { ready: 2 } });
    const made = planForTwo(jobSetOfTwo(policy, status), { jobs: [ready] });
    expect(conditionsOf(made)).toEqual(['RestartingJobSet=False JobsReady']);
  });
});

function statusOf({ status }: Plan): { readonly status?: JobSetStatus } {
  return status === undefined ? {} : { status };
}
