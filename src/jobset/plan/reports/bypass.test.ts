import { describe, expect, test } from 'vitest';
import {
  replicatedJob,
  storedJob,
  storedJobSet,
} from '../../../../test/fixtures/jobset-objects.ts';
import { membersAt, snapshotOf, WITHOUT_READY } from '../../../../test/fixtures/snapshots.ts';
import type { FailurePolicy } from '../../jobset.ts';
import type { JobSetStatus } from '../../jobset-status.ts';
import { DISABLE_IN_PLACE_RESTART } from '../../names.ts';
import { type Plan, plan } from '../../plan.ts';
import type { MemberCounts } from '../../roster/members.ts';

/** Restarts in place are switched off, and on again, on a running JobSet. */
const JOB = storedJob('train-w-0', 'w', { pods: 2 });
const COUNTERS = { ready: 0, succeeded: 0, failed: 0, active: 0, suspended: 0 };
const IN_PLACE: FailurePolicy = { restartStrategy: 'InPlaceRestart', maxRestarts: 3 };

function statusAt(deprecatedEpoch: number, syncedEpoch: number): JobSetStatus {
  return {
    restarts: 0,
    executionAttempts: 0,
    deprecatedEpoch,
    syncedEpoch,
    replicatedJobsStatus: [{ name: 'w', ...COUNTERS, syncedEpoch }],
  };
}

function planOf(
  failurePolicy: FailurePolicy | undefined,
  annotations: Readonly<Record<string, string>>,
  status: JobSetStatus,
  members: MemberCounts,
): Plan {
  const spec = {
    replicatedJobs: [replicatedJob('w', 2)],
    ...(failurePolicy === undefined ? {} : { failurePolicy }),
  };
  const jobSet = { ...storedJobSet(spec, { annotations }), status };
  return plan(snapshotOf(jobSet, { ...WITHOUT_READY, jobs: [JOB], members }));
}

describe.each<[string, FailurePolicy | undefined, Readonly<Record<string, string>>, string]>([
  ['the annotation', IN_PLACE, { [DISABLE_IN_PLACE_RESTART]: '' }, 'DisabledByAnnotation'],
  ['a removed failure policy', undefined, {}, 'StrategyChanged'],
])('%s', (_what, policy, annotations, reason) => {
  test('is reported by a condition, and epochs stand still', () => {
    const made = planOf(policy, annotations, statusAt(3, 4), membersAt(5, JOB));
    expect(made.status).toMatchObject({ deprecatedEpoch: 3, syncedEpoch: 4 });
    expect(made.status?.conditions).toEqual([
      expect.objectContaining({ type: 'InPlaceRestartBypassed', status: 'True', reason }),
    ]);
    expect(made.watchpoint).toBeUndefined();
    const again = planOf(policy, annotations, made.status ?? {}, membersAt(5, JOB));
    expect(again.status, 'said once').toBeUndefined();
  });

  test.each<[string, JobSetStatus]>([
    ['from a running epoch', statusAt(3, 4)],
    ['in the middle of a restart', statusAt(3, 3)],
  ])('taken back continues %s, and no worker restarts for that', (_from, status) => {
    const off = planOf(policy, annotations, status, membersAt(undefined, JOB));
    // Workers that ran meanwhile announce the epoch in which they did: the current one.
    const on = planOf(IN_PLACE, {}, off.status ?? {}, membersAt(4, JOB));
    expect(on.status).toMatchObject({ deprecatedEpoch: 3 });
    expect(on.status?.conditions?.[0]).toMatchObject({ status: 'False', reason: 'InPlaceRestart' });
    const settled = planOf(IN_PLACE, {}, on.status ?? {}, membersAt(4, JOB));
    expect({ ...on.status, ...settled.status }).toMatchObject({
      deprecatedEpoch: 3,
      syncedEpoch: 4,
    });
  });
});

test('a JobSet that never restarted in place gets no condition about it', () => {
  const made = planOf(undefined, {}, { restarts: 0, executionAttempts: 0 }, membersAt(1, JOB));
  expect(made.status?.conditions ?? []).toEqual([]);
});
