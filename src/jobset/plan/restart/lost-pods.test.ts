import { defined } from '@lockstep/kube/json/defined.ts';
import type { Stored } from '@lockstep/kube/meta.ts';
import { describe, expect, test } from 'vitest';
import {
  replicatedJob,
  storedJob,
  storedJobSet,
} from '../../../../test/fixtures/jobset-objects.ts';
import { actionsOf, afterwards, conditionsOf } from '../../../../test/fixtures/planned.ts';
import { answering, NOW_MS, podOf, snapshotOf } from '../../../../test/fixtures/snapshots.ts';
import type { JobSet } from '../../jobset.ts';
import { type Plan, plan } from '../../plan.ts';
import { MemberCounts } from '../../roster/members.ts';
import type { PodFacts } from '../../roster/pod-facts.ts';
import { MAX_LOST_PODS_AT_ONCE, OVERDUE_AFTER_MS } from './lost-pods.ts';

const JOB = storedJob('train-w-0', 'w', { pods: 3 });
const JOBSET: Stored<JobSet> = {
  ...storedJobSet({
    replicatedJobs: [replicatedJob('w', 3)],
    failurePolicy: { restartStrategy: 'InPlaceRestart' },
  }),
  status: {
    restarts: 0,
    restartsCountTowardsMax: 0,
    executionAttempts: 0,
    deprecatedEpoch: 0,
    syncedEpoch: 1,
    syncedTime: '2026-01-01T00:01:00.000000Z',
    replicatedJobsStatus: [
      { name: 'w', ready: 0, succeeded: 0, failed: 0, active: 0, suspended: 0, syncedEpoch: 1 },
    ],
  },
};

const DEADLINE_MS = 300_000;

/** A member that should have ended this long ago. */
function ending(slot: number, agoMs: number, more: Partial<PodFacts> = {}): PodFacts {
  return podOf(JOB, slot, 1, { isTerminating: true, endMs: NOW_MS - agoMs, ...more });
}

function planFor(
  pods: readonly PodFacts[],
  node: string | undefined = 'n4',
  jobSet: Stored<JobSet> = JOBSET,
): Plan {
  const members = new MemberCounts();
  for (const pod of pods) members.observe(pod, NOW_MS);
  const snapshot = snapshotOf(jobSet, { jobs: [JOB], members });
  const first = plan(snapshot);
  if (first.question?.kind !== 'OverduePods') return first;
  const overduePods = new Map(first.question.pods.map(({ uid }) => [uid, { node }]));
  return plan({ ...snapshot, answer: answering({ OverduePods: overduePods }) });
}

const MINUTE = 60_000;
/** After this time the condition has to name the Pods that are in the way by then. */
const REVIEW_MS = 15_000;
const OVERDUE = 'WaitingForLostNode=True PodOverdue';

describe('a Pod that is being deleted', () => {
  test.each<
    [string, PodFacts, { overdue: boolean; deleted: boolean; againMs: number | undefined }]
  >([
    [
      'within its grace period',
      ending(0, -MINUTE),
      { overdue: false, deleted: false, againMs: MINUTE + OVERDUE_AFTER_MS },
    ],
    [
      'just after it',
      ending(0, 1000),
      { overdue: false, deleted: false, againMs: OVERDUE_AFTER_MS - 1000 },
    ],
    [
      'long after it, without a deadline',
      ending(0, 60 * MINUTE),
      { overdue: true, deleted: false, againMs: REVIEW_MS },
    ],
    [
      'before its deadline',
      ending(0, MINUTE, { lostNodeDeadlineMs: DEADLINE_MS }),
      { overdue: true, deleted: false, againMs: REVIEW_MS },
    ],
    [
      'a moment before its deadline',
      ending(0, DEADLINE_MS - 1, { lostNodeDeadlineMs: DEADLINE_MS }),
      { overdue: true, deleted: false, againMs: 1 },
    ],
    [
      'at its deadline',
      ending(0, DEADLINE_MS, { lostNodeDeadlineMs: DEADLINE_MS }),
      { overdue: true, deleted: true, againMs: REVIEW_MS },
    ],
  ])('%s', (_when, pod, { overdue, deleted, againMs }) => {
    const made = planFor([pod]);
    expect(conditionsOf(made).includes(OVERDUE)).toBe(overdue);
    expect(actionsOf(made).includes(`DeleteLostPod ${pod.name}`)).toBe(deleted);
    expect(made.requeueAfterMs).toBe(againMs);
  });

  test('is named with its node and what will be done, in condition and Event', () => {
    const pods = [ending(0, DEADLINE_MS, { lostNodeDeadlineMs: DEADLINE_MS }), ending(1, MINUTE)];
    const made = planFor(pods);
    const condition = made.status?.conditions?.find(({ type }) => type === 'WaitingForLostNode');
    expect(condition?.message).toBe(
      'Pod train-w-0-0 on node n4 should have ended at 2026-01-01T00:55:00Z, is deleted by force at ' +
        '2026-01-01T01:00:00Z; Pod train-w-0-1 on node n4 should have ended at 2026-01-01T00:59:00Z, ' +
        'and nothing confirms that it has: if the node is off, delete the Node',
    );
    expect(made.events).toContainEqual({
      type: 'Warning',
      reason: 'LostPodDeleted',
      note: 'Pod train-w-0-0 on node n4 should have ended at 2026-01-01T00:55:00Z: it is deleted by force, its deadline has passed',
      isOnce: true,
    });
  });

  test('is not acted on if the API does not show it any more, even if the cache does', () => {
    const members = new MemberCounts();
    members.observe(ending(0, DEADLINE_MS, { lostNodeDeadlineMs: DEADLINE_MS }), NOW_MS);
    const snapshot = snapshotOf(JOBSET, { jobs: [JOB], members });
    expect(plan(snapshot).question?.kind).toBe('OverduePods');
    const gone = new Map([...members.ending()].map(({ uid }) => [uid, undefined]));
    const made = plan({ ...snapshot, answer: answering({ OverduePods: gone }) });
    expect(actionsOf(made)).toEqual([]);
    expect(conditionsOf(made)).not.toContain(OVERDUE);
  });

  test('waits for the next plan if it became overdue after the question', () => {
    const members = new MemberCounts();
    members.observe(ending(0, MINUTE), NOW_MS);
    const { status } = planFor([ending(0, MINUTE)]);
    const snapshot = snapshotOf({ ...JOBSET, ...defined({ status }) }, { jobs: [JOB], members });
    const made = plan({ ...snapshot, answer: answering({ OverduePods: new Map() }) });
    expect(made).toMatchObject({ status: undefined, requeueAfterMs: 0 });
  });

  test('is no longer waited for once it is gone', () => {
    const waiting = afterwards(JOBSET, planFor([ending(0, MINUTE)]));
    const made = plan(snapshotOf(waiting, { jobs: [JOB] }));
    expect(conditionsOf(made)).toContain('WaitingForLostNode=False PodsGone');
  });

  test('is one of those that are looked at together, longest overdue first', () => {
    const members = new MemberCounts();
    for (let slot = 0; slot < MAX_LOST_PODS_AT_ONCE + 5; slot++) {
      members.observe(ending(slot, MINUTE + slot), NOW_MS);
    }
    const { question } = plan(snapshotOf(JOBSET, { jobs: [JOB], members }));
    if (question?.kind !== 'OverduePods') throw new Error('not asked');
    expect(question.pods.map(({ slot }) => Number(slot)).slice(0, 2)).toEqual([54, 53]);
    expect(question.pods).toHaveLength(MAX_LOST_PODS_AT_ONCE);
  });

  test('is left alone if the group does not restart in place', () => {
    const spec = { replicatedJobs: [replicatedJob('w', 3)] };
    const plain = { ...storedJobSet(spec), status: { restarts: 0 } };
    const made = planFor(
      [ending(0, DEADLINE_MS, { lostNodeDeadlineMs: DEADLINE_MS })],
      'n4',
      plain,
    );
    expect(actionsOf(made).some((action) => action.startsWith('DeleteLostPod'))).toBe(false);
  });
});
