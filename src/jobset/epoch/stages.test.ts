import type { JobStatus } from '@lockstep/kube/objects/job.ts';
import { describe, expect, test } from 'vitest';
import { asked, replicatedJob, storedJob } from '../../../test/fixtures/jobset-objects.ts';
import { classifyJobs } from '../child-jobs/child-jobs.ts';
import { withDefaults } from '../defaults.ts';
import type { JobSetStatus } from '../jobset-status.ts';
import { MemberCounts } from '../roster/members.ts';
import type { PodFacts } from '../roster/pod-facts.ts';
import { groupStages } from './stages.ts';

const COMPLETE: JobStatus = { conditions: [{ type: 'Complete', status: 'True' }], succeeded: 2 };
const PARTLY: JobStatus = { succeeded: 1, completedIndexes: '0' };

/** Two ReplicatedJobs: `a` with two Jobs of two Pods, `b` with one. */
function stagesOf(
  statuses: readonly [JobStatus, JobStatus, JobStatus],
  status: JobSetStatus,
  members = new MemberCounts(),
) {
  const jobs = [
    storedJob('train-a-0', 'a', { pods: 2, status: statuses[0] }),
    storedJob('train-a-1', 'a', { pods: 2, index: 1, status: statuses[1] }),
    storedJob('train-b-0', 'b', { pods: 2, status: statuses[2] }),
  ];
  const { replicatedJobs } = withDefaults({
    replicatedJobs: [replicatedJob('a', 2, 2), replicatedJob('b', 2)],
  });
  return groupStages(replicatedJobs, classifyJobs(jobs, asked(0)), status, members);
}

function released(epoch: number): JobSetStatus {
  const zero = { ready: 0, succeeded: 0, failed: 0, active: 0, suspended: 0 };
  return {
    replicatedJobsStatus: ['a', 'b'].map((name) => ({ name, ...zero, syncedEpoch: epoch })),
  };
}

describe('when an epoch has ended', () => {
  const ENDED = { ...released(1), deprecatedEpoch: 1 };

  test('Jobs that are partly done start over, unless their ReplicatedJob is complete', () => {
    const { stages, toRecreate } = stagesOf([PARTLY, {}, COMPLETE], ENDED);
    expect(toRecreate.map(({ metadata }) => metadata.name)).toEqual(['train-a-0']);
    expect(stages.map((stage) => [stage.name, stage.isComplete, stage.jobs.length])).toEqual([
      ['a', false, 1],
      ['b', true, 1],
    ]);
  });

  test('a complete Job starts over if another Job of its ReplicatedJob is not', () => {
    const { toRecreate } = stagesOf([COMPLETE, {}, {}], ENDED);
    expect(toRecreate.map(({ metadata }) => metadata.name)).toEqual(['train-a-0']);
  });

  test('Pods that succeeded count before the Job controller has counted them', () => {
    const members = new MemberCounts();
    const pod = (uid: string, slot: string): PodFacts => ({
      namespace: 'default',
      name: uid,
      uid,
      jobUid: 'uid-of-train-b-0',
      jobName: 'train-b-0',
      slot,
      epoch: 1,
      malformedEpoch: undefined,
      notice: undefined,
      isTerminating: false,
    });
    members.observeSucceeded(pod('p0', '0'));
    members.observeSucceeded({ ...pod('p1', '1'), isTerminating: true, isDiscarded: true });
    expect(stagesOf([{}, {}, {}], ENDED, members).toRecreate).toHaveLength(1);
    const done = stagesOf([{}, {}, { succeeded: 1, completedIndexes: '1' }], ENDED, members);
    expect(done.stages[1]).toMatchObject({ name: 'b', isComplete: true });
    expect(done.toRecreate).toEqual([]);
  });
});

test('nothing starts over while the epoch runs, nor before any epoch has ended', () => {
  const running = { ...released(2), deprecatedEpoch: 1 };
  expect(stagesOf([PARTLY, {}, {}], running).toRecreate).toEqual([]);
  expect(stagesOf([PARTLY, {}, {}], { deprecatedEpoch: 0 }).toRecreate).toEqual([]);
});
