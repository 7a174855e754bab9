import type { Condition } from '@lockstep/kube/meta.ts';
import type { JobStatus } from '@lockstep/kube/objects/job.ts';
import { expect, test } from 'vitest';
import {
  replicatedJob,
  storedJob,
  storedJobSet,
} from '../../../../test/fixtures/jobset-objects.ts';
import { NOW_MS, podOf, snapshotOf } from '../../../../test/fixtures/snapshots.ts';
import { type Plan, plan } from '../../plan.ts';
import { MemberCounts } from '../../roster/members.ts';

const ENDED: Condition = {
  type: 'RestartingInPlace',
  status: 'True',
  reason: 'WorkerFailed',
  message: 'epoch 1 ended: a member failed; 1 of 3 restarts used',
  lastTransitionTime: '2026-01-01T00:59:00Z',
};

/** A group of two whose epoch has ended, with Pods in these slots. */
function planFor(status: JobStatus, slots: readonly number[], message = ENDED.message): Plan {
  const job = { ...storedJob('train-w-0', 'w', { pods: 2 }), status };
  const members = new MemberCounts();
  for (const slot of slots) members.observe(podOf(job, slot, 2), NOW_MS);
  const jobSet = {
    ...storedJobSet({
      replicatedJobs: [replicatedJob('w', 2)],
      failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 3 },
    }),
    status: {
      restarts: 0,
      restartsCountTowardsMax: 0,
      executionAttempts: 0,
      deprecatedEpoch: 1,
      syncedEpoch: 1,
      syncedTime: '2026-01-01T00:01:00.000000Z',
      conditions: [{ ...ENDED, message }],
      replicatedJobsStatus: [
        { name: 'w', ready: 0, succeeded: 0, failed: 0, active: 1, suspended: 0, syncedEpoch: 1 },
      ],
    },
  };
  return plan(snapshotOf(jobSet, { jobs: [job], members }));
}

function messageOf(made: Plan): string | undefined {
  return made.status?.conditions?.find(({ type }) => type === ENDED.type)?.message;
}

test('a group that waits for a Pod which Kubernetes makes later says so', () => {
  const message = messageOf(planFor({ failed: 1, active: 1 }, [0]));
  expect(message).toBe(
    `${ENDED.message}; Job train-w-0 lacks a Pod: Kubernetes creates another about 10 s after a Pod of a Job failed, and waits longer after each further failure`,
  );
  expect(messageOf(planFor({ failed: 1, active: 1 }, [0], message)) ?? message).toBe(message);
});

test('an operator of another version has said so already', () => {
  const message = `${ENDED.message}; Job train-w-0 lacks a Pod: Kubernetes makes another later`;
  expect(messageOf(planFor({ failed: 1, active: 1 }, [0], message)) ?? message).toBe(message);
});

test.each<[string, JobStatus, readonly number[]]>([
  ['all Pods are there', { failed: 1, active: 2 }, [0, 1]],
  ['its Job has not counted the failure yet', { active: 2 }, [0]],
  ['the Job has made another that is not seen yet', { failed: 1, active: 2 }, [0]],
])('nothing is added while %s', (_why, status, slots) => {
  expect(messageOf(planFor(status, slots)) ?? '').not.toContain('lacks a Pod');
});
