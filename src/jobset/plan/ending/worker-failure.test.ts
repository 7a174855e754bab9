import type { JobStatus } from '@lockstep/kube/objects/job.ts';
import { describe, expect, test } from 'vitest';
import {
  replicatedJob,
  storedJob,
  storedJobSet,
} from '../../../../test/fixtures/jobset-objects.ts';
import {
  answering,
  membersAt,
  NOW_MS,
  podOf,
  snapshotOf,
  WITHOUT_READY,
} from '../../../../test/fixtures/snapshots.ts';
import type { Witness } from '../../epoch/witness.ts';
import { DEFAULT_FEATURE_GATES } from '../../feature-gates.ts';
import type { FailurePolicyRule } from '../../jobset.ts';
import type { JobSetStatus, ReplicatedJobStatus } from '../../jobset-status.ts';
import { type Plan, plan } from '../../plan.ts';
import { NO_ANSWERS, withAnswer } from '../questions.ts';
import type { Snapshot } from '../snapshot.ts';

/** The results and the costs of failures in a group that restarts in place. */
const ZERO = { ready: 0, succeeded: 0, failed: 0, active: 0, suspended: 0 };
const A = storedJob('train-a-0', 'a', { pods: 2 });
const B = storedJob('train-b-0', 'b', { pods: 2 });

const WITNESS: Witness = {
  record: { pod: 'train-a-0-0', container: 'worker', exitCode: 42, reason: 'Error' },
  finishedMs: NOW_MS,
  showsFailure: true,
};
const WHO =
  '(the cause is not known; first seen: container worker of Pod train-a-0-0 exited with code 42 (Error))';

function statusAt(deprecated: number, released: number, more: JobSetStatus = {}): JobSetStatus {
  return {
    restarts: 0,
    executionAttempts: 0,
    deprecatedEpoch: deprecated,
    syncedEpoch: released,
    replicatedJobsStatus: ['a', 'b'].map((name) => ({ name, ...ZERO, syncedEpoch: released })),
    ...more,
  };
}

function planOf(
  rules: readonly FailurePolicyRule[],
  status: JobSetStatus,
  more: Partial<Snapshot> = {},
  maxRestarts = 5,
): Plan {
  const jobSet = storedJobSet({
    replicatedJobs: [replicatedJob('a', 2), replicatedJob('b', 2)],
    failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts, rules },
  });
  return plan(snapshotOf({ ...jobSet, status }, { ...WITHOUT_READY, jobs: [A, B], ...more }));
}

/** A worker of `a` has failed in epoch 4. */
function failure(more: Partial<Snapshot> = {}): Partial<Snapshot> {
  const members = membersAt(4, A, B);
  members.observe(podOf(A, 0, 5), NOW_MS);
  return { members, answer: answering({ Witness: WITNESS, SucceededPods: true }), ...more };
}

function rule(action: FailurePolicyRule['action'], more: Partial<FailurePolicyRule> = {}) {
  return { name: 'r', action, onJobFailureReasons: ['BackoffLimitExceeded'], ...more };
}

function conditions({ status }: Plan): readonly string[] {
  return (status?.conditions ?? []).map((c) => `${c.type}=${c.status} ${c.reason}`);
}

function events({ events: planned }: Plan): readonly string[] {
  return planned.map(({ reason }) => reason);
}

function countersOfA({ status }: Plan): ReplicatedJobStatus | undefined {
  return status?.replicatedJobsStatus?.find(({ name }) => name === 'a');
}

describe('a rule for a worker that fails', () => {
  const RUNNING = statusAt(3, 4);

  test.each<[FailurePolicyRule['action'] | undefined, object, string, readonly string[]]>([
    [
      undefined,
      { inPlaceRestarts: 1, inPlaceRestartsCountTowardsMax: 1, restarts: 0 },
      'WorkerFailed',
      ['WorkerFailed'],
    ],
    [
      'RestartJobSet',
      { inPlaceRestarts: 1, inPlaceRestartsCountTowardsMax: 1, restarts: 0 },
      'FailurePolicy_r',
      ['RestartJobSetFailurePolicyAction', 'FailurePolicy_r'],
    ],
    [
      'RestartJobSetAndIgnoreMaxRestarts',
      { inPlaceRestarts: 1, inPlaceRestartsCountTowardsMax: 0, restarts: 0 },
      'FailurePolicy_r',
      ['RestartJobSetAndIgnoreMaxRestartsFailurePolicyAction', 'FailurePolicy_r'],
    ],
    [
      'RestartJob',
      { inPlaceRestarts: 0, inPlaceRestartsCountTowardsMax: 0, restarts: 0 },
      'FailurePolicy_r',
      ['RestartJobFailurePolicyAction', 'FailurePolicy_r'],
    ],
    [
      'RestartJobAndIgnoreMaxRestarts',
      { inPlaceRestarts: 0, inPlaceRestartsCountTowardsMax: 0, restarts: 0 },
      'FailurePolicy_r',
      ['RestartJobAndIgnoreMaxRestartsFailurePolicyAction', 'FailurePolicy_r'],
    ],
  ])(
    '%s ends the epoch once and leaves RestartingJobSet alone',
    (action, counters, reason, told) => {
      const made = planOf(action === undefined ? [] : [rule(action)], RUNNING, failure());
      expect(made.status).toMatchObject({ deprecatedEpoch: 4, ...counters });
      expect(made.status?.restartHistory).toHaveLength(1);
      expect(conditions(made)).toEqual([`RestartingInPlace=True ${reason}`]);
      expect(events(made)).toEqual(told);
    },
  );

  test.each([
    ['RestartJob', { jobRestarts: [1], jobRestartsCountTowardsMax: [1] }],
    ['RestartJobAndIgnoreMaxRestarts', { jobRestarts: [1] }],
  ] as const)(
    '%s recreates the Job of the worker while the rest restarts in place',
    (action, counted) => {
      const made = planOf([rule(action)], RUNNING, failure());
      const [a, b] = made.status?.replicatedJobsStatus ?? [];
      expect(a).toEqual({ name: 'a', ...ZERO, syncedEpoch: 4, ...counted });
      expect(b).toEqual({ name: 'b', ...ZERO, syncedEpoch: 4 });
      const next = planOf([rule(action)], made.status ?? {}, failure());
      expect(next.actions).toEqual([{ kind: 'DeleteJob', job: A }]);
    },
  );

  test('a pattern may end where the words on the end of the worker do, before its rank', () => {
    const witness = { ...WITNESS, slot: '0' };
    const rules = [rule('FailJobSet', { onJobFailureMessagePatterns: ['\\(Error\\)$'] })];
    const made = planOf(
      rules,
      RUNNING,
      failure({ answer: answering({ Witness: witness, SucceededPods: true }) }),
    );
    expect(made.status?.conditions?.[0]).toMatchObject({
      reason: 'FailJobSetFailurePolicyAction',
      message: expect.stringContaining('worker 0 of a'),
    });
  });

  test('FailJobSet fails the JobSet, after a look at what has succeeded', () => {
    const asked = planOf(
      [rule('FailJobSet')],
      RUNNING,
      failure({ answer: answering({ Witness: WITNESS }) }),
    );
    expect(asked.question).toEqual({ kind: 'SucceededPods' });
    const made = planOf([rule('FailJobSet')], RUNNING, failure());
    expect(made.status).toMatchObject({ terminalState: 'Failed', deprecatedEpoch: 3 });
    expect(made.status?.conditions?.[0]).toMatchObject({
      reason: 'FailJobSetFailurePolicyAction',
      message: `applying FailJobSet failure policy action ${WHO}`,
    });
  });

  test.each<[FailurePolicyRule['action'], string | undefined]>([
    ['RestartJobSet', 'ReachedMaxRestarts'],
    ['RestartJob', 'ReachedMaxRestarts'],
    ['RestartJobSetAndIgnoreMaxRestarts', undefined],
    ['RestartJobAndIgnoreMaxRestarts', undefined],
  ])('%s with a spent budget', (action, reason) => {
    const spent = statusAt(3, 4, { inPlaceRestartsCountTowardsMax: 2 });
    const made = planOf([rule(action)], spent, failure(), 2);
    const failed = made.status?.conditions?.find(({ type }) => type === 'Failed');
    expect(failed?.reason).toBe(reason);
    if (reason !== undefined) {
      expect(failed?.message).toBe(`jobset failed due to reaching max number of restarts ${WHO}`);
    }
  });

  test.each<[string, FailurePolicyRule]>([
    ['lists no reason', rule('FailJobSet', { onJobFailureReasons: [] })],
    ['lists another reason', rule('FailJobSet', { onJobFailureReasons: ['PodFailurePolicy'] })],
    ['is for another ReplicatedJob', rule('FailJobSet', { targetReplicatedJobs: ['b'] })],
    [
      'is for another exit code',
      rule('FailJobSet', { onJobFailureMessagePatterns: ['code 1\\b'] }),
    ],
  ])('that %s does not apply', (_what, other) => {
    expect(conditions(planOf([other], RUNNING, failure()))).toEqual([
      'RestartingInPlace=True WorkerFailed',
    ]);
  });

  test('with the gate RestartJob off restarts the whole group at the same charge', () => {
    const gates = { ...DEFAULT_FEATURE_GATES, RestartJob: false };
    const made = planOf([rule('RestartJob')], RUNNING, failure({ gates }));
    expect(made.status).toMatchObject({ deprecatedEpoch: 4, inPlaceRestartsCountTowardsMax: 1 });
    expect(events(made)).toContain('RestartJobNotPossible');
  });
});

describe('a Job that fails while the rest of its group can restart in place', () => {
  const failed: JobStatus = {
    conditions: [
      {
        type: 'Failed',
        status: 'True',
        reason: 'PodFailurePolicy',
        lastTransitionTime: '2026-01-01T00:30:00Z',
      },
    ],
  };
  const lost = storedJob('train-a-0', 'a', { pods: 2, status: failed });
  const only = rule('RestartJob', { onJobFailureReasons: ['PodFailurePolicy'] });
  const view = (epoch: number): Partial<Snapshot> => ({
    jobs: [lost, B],
    members: membersAt(4, A, B),
    answer: answering({ FailedJob: { epoch, witness: WITNESS } }),
  });

  test('is recreated alone by RestartJob, and ends the epoch in the same write', () => {
    const made = planOf([only], statusAt(3, 4), view(4));
    expect(made.status).toMatchObject({ restarts: 0, deprecatedEpoch: 4 });
    expect(countersOfA(made)).toMatchObject({ jobRestartsCountTowardsMax: [1] });
    expect(made.status?.restartHistory?.[0]).toMatchObject({ cause: 'JobsRecreated' });
  });

  test('in an epoch that is over is recreated uncharged, and the next one does not move', () => {
    const made = planOf([only], statusAt(4, 4), view(4));
    expect(made.status).toMatchObject({ deprecatedEpoch: 4 });
    expect(countersOfA(made)).toMatchObject({ jobRestarts: [1] });
    expect(countersOfA(made)?.jobRestartsCountTowardsMax).toBeUndefined();
  });

  test('asks again if the answer is about another Job', () => {
    const failed = { kind: 'FailedJob', job: B } as const;
    const answer = withAnswer(NO_ANSWERS, failed, { epoch: 4 });
    const made = planOf([only], statusAt(3, 4), { ...view(4), answer });
    expect(made.question).toEqual({ kind: 'FailedJob', job: lost });
  });

  test('while suspended is charged once, with the end of the epoch that its successor would end', () => {
    const jobSet = storedJobSet({
      suspend: true,
      replicatedJobs: [replicatedJob('a', 2), replicatedJob('b', 2)],
      failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 5 },
    });
    const made = plan(snapshotOf({ ...jobSet, status: statusAt(3, 4) }, view(4)));
    expect(made.status).toMatchObject({ restartsCountTowardsMax: 1, deprecatedEpoch: 4 });
    // Resumed before the new Jobs exist: their Pods announce 5, in which no worker has run.
    const [a, b] = [A, B].map((job) =>
      storedJob(job.metadata.name, job.metadata.name.slice(6, 7), { pods: 2, attempt: 1 }),
    );
    const jobs = [a, b].filter((job) => job !== undefined);
    const resumed = planOf([], made.status ?? {}, { jobs, members: membersAt(5, ...jobs) });
    expect(resumed.status).toMatchObject({ syncedEpoch: 5, deprecatedEpoch: 4 });
    expect(resumed.status?.inPlaceRestartsCountTowardsMax).toBe(0);
  });
});

describe('containers that crash before the barrier', () => {
  const starts = (epoch: number, count: number): Partial<Snapshot> => {
    const members = membersAt(5, A, B);
    const pod = podOf(A, 0, 5, { starts: { epoch, starts: count } });
    members.observe(pod, NOW_MS);
    members.forget('pod-train-b-0-1');
    return { members, answer: answering({ Witness: WITNESS }) };
  };

  test.each<[string, number, number, number]>([
    ['three starts are none too many', 5, 3, 4],
    ['the fourth ends the epoch, charged', 5, 4, 5],
    ['starts for an epoch that is over', 4, 9, 4],
  ])('%s', (_what, epoch, count, deprecated) => {
    const made = planOf([], statusAt(4, 4), starts(epoch, count));
    expect(made.status?.deprecatedEpoch ?? 4).toBe(deprecated);
    if (deprecated === 4) return;
    expect(conditions(made)).toEqual(['RestartingInPlace=True StartFailed']);
    expect(made.status).toMatchObject({ inPlaceRestartsCountTowardsMax: 1 });
    const once = planOf([], made.status ?? {}, starts(epoch, count));
    expect(once.status, 'once').toBeUndefined();
  });

  test('ends an epoch if more than three Pods of a Job fail on the way to it', () => {
    const failing = storedJob('train-a-0', 'a', { pods: 2, status: { failed: 11 } });
    const status = statusAt(4, 4, {
      replicatedJobsStatus: ['a', 'b'].map((name) => ({
        name,
        ...ZERO,
        syncedEpoch: 4,
        ...(name === 'a' ? { failedPods: [7] } : {}),
      })),
    });
    const view = { jobs: [failing, B], members: membersAt(5, B) };
    const asked = planOf([], status, view);
    expect(asked.question).toEqual({ kind: 'FailedPods', job: failing });

    const crashed = answering({ FailedPods: { inEpoch: 4, witness: WITNESS } });
    const made = planOf([], status, { ...view, answer: crashed });
    expect(made.status).toMatchObject({ deprecatedEpoch: 5, inPlaceRestartsCountTowardsMax: 1 });
    expect(made.status?.replicatedJobsStatus?.[0], 'where the next one begins').toMatchObject({
      failedPods: [11],
    });

    const late = answering({ FailedPods: { inEpoch: 1 } });
    const counted = planOf([], status, { ...view, answer: late });
    expect(counted.status, 'the others failed with the last epoch').toMatchObject({
      deprecatedEpoch: 4,
    });
    const after = planOf([], counted.status ?? {}, view);
    expect(after.question, 'is not looked into again').toBeUndefined();
  });

  test('counts nothing against a ReplicatedJob that runs, nor the restarts of other containers', () => {
    const failing = storedJob('train-a-0', 'a', { pods: 2, status: { failed: 99 } });
    const made = planOf([], statusAt(3, 4), { jobs: [failing, B], members: membersAt(4, A, B) });
    expect(made).toMatchObject({ status: undefined });
    expect(made.question).toBeUndefined();
  });
});
