import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job, JobStatus } from '@lockstep/kube/objects/job.ts';
import { describe, expect, test } from 'vitest';
import { replicatedJob, storedJob } from '../../../../test/fixtures/jobset-objects.ts';
import {
  conditionsOf,
  COMPLETE as DONE,
  FAILED,
  kindsOf,
  ZERO,
} from '../../../../test/fixtures/planned.ts';
import { answering, NOW_MS } from '../../../../test/fixtures/snapshots.ts';
import {
  BEGUN,
  jobSetOfTwo,
  planForTwo,
  TWO_WORKERS,
} from '../../../../test/fixtures/two-workers.ts';
import type { JobSetStatus } from '../../jobset-status.ts';
import type { MemberEvidence } from '../../roster/group-evidence.ts';
import { MemberCounts } from '../../roster/members.ts';
import type { PodFacts } from '../../roster/pod-facts.ts';
import { type Answer, NO_ANSWERS, withAnswer } from '../questions.ts';
import type { Snapshot } from '../snapshot.ts';

const COMPLETE: JobStatus = { ...DONE, succeeded: 2 };

describe('a group that restarts in place', () => {
  const spec = {
    failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 2 },
  } as const;
  const epochs = (deprecated: number, released: number): JobSetStatus => ({
    ...BEGUN,
    deprecatedEpoch: deprecated,
    syncedEpoch: released,
    syncedTime: '2026-01-01T00:59:00.000000Z',
    replicatedJobsStatus: [{ name: 'w', ...ZERO, syncedEpoch: released }],
  });
  const witness = {
    record: { pod: 'p0', exitCode: 1, reason: 'Error' },
    finishedMs: NOW_MS - 40,
    showsFailure: true,
  };

  function members(...announced: readonly (number | undefined)[]): MemberCounts {
    const counts = new MemberCounts();
    for (const [i, epoch] of announced.entries()) counts.observe(podIn(String(i), epoch), NOW_MS);
    return counts;
  }

  function podIn(slot: string, epoch: number | undefined, more: Partial<PodFacts> = {}): PodFacts {
    return {
      namespace: 'default',
      name: `p${slot}`,
      uid: `uid-${slot}`,
      jobUid: TWO_WORKERS.metadata.uid,
      jobName: TWO_WORKERS.metadata.name,
      slot,
      epoch,
      malformedEpoch: undefined,
      notice: undefined,
      isTerminating: false,
      ...more,
    };
  }

  test('never takes how one Pod failed for how another did', () => {
    const jobSet = jobSetOfTwo(spec, epochs(2, 3));
    const seen = { members: members(3, 4) };
    const askedAt = (slot: string): Answer =>
      withAnswer(NO_ANSWERS, { kind: 'Witness', pod: podIn(slot, 4) }, witness);
    const other = planForTwo(jobSet, { ...seen, answer: askedAt('0') });
    expect(other).toMatchObject({ status: undefined });
    expect(other.question).toEqual({ kind: 'Witness', pod: podIn('1', 4) });
    const same = planForTwo(jobSet, { ...seen, answer: askedAt('1') });
    expect(same.status).toMatchObject({ deprecatedEpoch: 3 });
  });

  test('is released when every slot has announced the epoch, and not before', () => {
    for (const view of [members(), members(1), members(1, undefined), members(1, 1, 1)]) {
      expect(planForTwo(jobSetOfTwo(spec, epochs(0, 0)), { members: view }).status).toBeUndefined();
    }
    const made = planForTwo(jobSetOfTwo(spec, epochs(0, 0)), { members: members(1, 1) });
    expect(made.status).toMatchObject({
      deprecatedEpoch: 0,
      syncedEpoch: 1,
      replicatedJobsStatus: [{ name: 'w', syncedEpoch: 1 }],
    });
    expect(made.outcomes).toEqual([{ kind: 'EpochReleased' }]);
    expect(conditionsOf(made)).toEqual([]);
  });

  test('asks for the witness of a failure and ends the epoch with it in one write', () => {
    const jobSet = jobSetOfTwo(spec, epochs(2, 3));
    const first = planForTwo(jobSet, { members: members(4, 3) });
    expect(first).toMatchObject({ status: undefined, question: { kind: 'Witness' } });
    const made = planForTwo(jobSet, {
      members: members(4, 3),
      answer: answering({ Witness: witness }),
    });
    expect(made.status).toMatchObject({
      deprecatedEpoch: 3,
      syncedEpoch: 3,
      inPlaceRestarts: 1,
      inPlaceRestartsCountTowardsMax: 1,
      restartHistory: [
        {
          epoch: 3,
          counted: true,
          ranMs: 60_000,
          witness: { exitCode: 1 },
          phases: { detectMs: 40 },
        },
      ],
    });
    expect(conditionsOf(made)).toEqual(['RestartingInPlace=True WorkerFailed']);
    expect(made.events).toHaveLength(1);
  });

  test('ends an epoch once for all failures in it', () => {
    const jobSet = jobSetOfTwo(spec, epochs(3, 3));
    expect(planForTwo(jobSet, { members: members(4, 3) })).toMatchObject({ status: undefined });
    const made = planForTwo(jobSet, { members: members(4, 4) });
    expect(made.status).toMatchObject({ deprecatedEpoch: 3, syncedEpoch: 4 });
  });

  test('fails instead when the budget is spent', () => {
    const status = {
      ...epochs(2, 3),
      restartsCountTowardsMax: 1,
      inPlaceRestartsCountTowardsMax: 1,
    };
    const view = members(4, 3);
    const asked = planForTwo(jobSetOfTwo(spec, status), {
      members: view,
      answer: answering({ Witness: witness }),
    });
    expect(asked.question, 'to fail is final').toEqual({ kind: 'SucceededPods' });
    const answer = answering({ Witness: witness, SucceededPods: true });
    const made = planForTwo(jobSetOfTwo(spec, status), { members: view, answer });
    expect(conditionsOf(made)).toEqual(['Failed=True ReachedMaxRestarts']);
    expect(made.status?.conditions?.[0]?.message).toBe(
      'jobset failed due to reaching max number of restarts (the cause is not known; first seen: Pod p0 exited with code 1 (Error))',
    );
  });

  test.each([
    [
      'an older Pod of the slot still terminates',
      podIn('0', 3, { uid: 'old', isTerminating: true }),
    ],
    ['a slot has two Pods', podIn('0', 4, { uid: 'twin' })],
    ['a Pod of a Job that is gone lives', podIn('0', 4, { uid: 'ghost', jobUid: 'gone' })],
    ['a surplus Pod has announced nothing', podIn('9', undefined, { uid: 'surplus' })],
  ])('is not released while %s', (_why, obstacle) => {
    const view = members(4, 4);
    const jobSet = jobSetOfTwo(spec, epochs(3, 3));
    view.observe(obstacle, NOW_MS);
    expect(planForTwo(jobSet, { members: view }).status?.syncedEpoch ?? 3).toBe(3);
    view.forget(obstacle.uid);
    expect(planForTwo(jobSet, { members: view }).status).toMatchObject({ syncedEpoch: 4 });
  });

  test('names Pods of unknown Jobs when they alone are in the way', () => {
    const view = members(4);
    const jobUid = 'gone'.repeat(20_000);
    view.observe(podIn('0', undefined, { uid: 'ghost', name: 'ghost', jobUid }), NOW_MS);
    const jobSet = jobSetOfTwo(spec, epochs(3, 3));
    expect(planForTwo(jobSet, { members: view }).status, 'not all have come').toBeUndefined();
    view.observe(podIn('1', 4), NOW_MS);
    const made = planForTwo(jobSet, { members: view });
    expect(conditionsOf(made)).toContain('WaitingForUnknownPod=True UnknownJob');
    expect(made.events.map(({ note }) => note)[0]).toMatch(
      /^epoch 4 waits for Pod ghost of Job \S+ \((gone){9}\): the labels /,
    );
    expect(made.requeueAfterMs, 'others may take its place, and that is no news').toBe(15_000);
    view.forget('ghost');
    const next = { ...jobSet, ...(made.status === undefined ? {} : { status: made.status }) };
    expect(conditionsOf(planForTwo(next, { members: view }))).toContain(
      'WaitingForUnknownPod=False PodsGone',
    );
  });

  test('is not released if its members change while that is decided', () => {
    const record = { epoch: 3, cause: 'WorkerFailed', counted: true, generation: 1 } as const;
    const restartHistory = [{ ...record, time: '2026-01-01T00:59:00.000000Z' }];
    const jobSet = jobSetOfTwo(spec, { ...epochs(3, 3), restartHistory });
    const view = members(4, 4);
    const released = planForTwo(jobSet, { members: view, endsIn: () => [] });
    expect(released.status).toMatchObject({ syncedEpoch: 4 });
    const endsIn = (): readonly MemberEvidence[] => {
      view.forget('uid-1');
      return [];
    };
    expect(() => planForTwo(jobSet, { members: view, endsIn })).toThrow(
      'the plan for default/train would release epoch 4 to w, whose members have not all announced it',
    );
  });

  test('is not released by a surplus Pod in the place of a missing one', () => {
    const view = members(4);
    const jobSet = jobSetOfTwo(spec, epochs(3, 3));
    view.observe(podIn('2', 4, { uid: 'surplus' }), NOW_MS);
    const answer = answering({ FreshPods: view });
    expect(planForTwo(jobSet, { members: view, answer }).status).toBeUndefined();
    view.forget('surplus');
    view.observe(podIn('1', 4), NOW_MS);
    expect(planForTwo(jobSet, { members: view }).status).toMatchObject({ syncedEpoch: 4 });
  });

  test('after a change of the spec, is released only by Pods that still exist', () => {
    const time = '2026-01-01T00:58:00.000000Z';
    const restartHistory = [
      { epoch: 3, time, cause: 'WorkerFailed' as const, counted: true, generation: 1 },
    ];
    const status = { ...epochs(3, 3), restartHistory };
    const changed = jobSetOfTwo(spec, status, { generation: 2 });
    const seen = { members: members(4, 4) };
    const unchanged = jobSetOfTwo(spec, status, { generation: 1 });
    expect(planForTwo(unchanged, seen).status).toMatchObject({ syncedEpoch: 4 });
    const fresh = { FreshJobs: true } as const;
    expect(planForTwo(changed, seen).question).toEqual({ kind: 'FreshJobs' });
    expect(planForTwo(changed, { ...seen, answer: answering(fresh) }).question).toEqual({
      kind: 'FreshPods',
    });
    for (const [freshPods, syncedEpoch] of [
      [members(4, 4), 4],
      [members(4, undefined), undefined],
      [members(4), undefined],
    ] as const) {
      const made = planForTwo(changed, {
        ...seen,
        answer: answering({ ...fresh, FreshPods: freshPods }),
      });
      expect(made.status?.syncedEpoch).toBe(syncedEpoch);
    }
  });

  test('reads the JobSet again before it calls an announcement wrong, and then only says so', () => {
    const jobSet = jobSetOfTwo(spec, epochs(3, 4));
    const view = members(9, 4);
    const { question } = planForTwo(jobSet, { members: view });
    expect(question).toEqual({ kind: 'FreshJobSet', pods: [podIn('0', 9)] });
    const answer = answering({ FreshJobSet: [podIn('0', 9)] });
    // The second Pod announced it only after that read.
    const made = planForTwo(jobSet, { members: members(9, 8), answer });
    expect(made).toMatchObject({ status: undefined });
    expect(made.events).toMatchObject([
      { reason: 'InvalidEpoch', note: expect.stringMatching(/^Pod p0 announces epoch 9/) },
    ]);
  });

  test('times a restart once, although a ReplicatedJob may join the epoch later', () => {
    const time = '2026-01-01T00:58:00.000000Z';
    const phases = { announceMs: 5, releaseMs: 1 };
    const status: JobSetStatus = {
      ...epochs(3, 4),
      replicatedJobsStatus: [
        { name: 'w', ...ZERO, syncedEpoch: 4 },
        { name: 'v', ...ZERO, syncedEpoch: 3 },
      ],
      restartHistory: [
        { epoch: 3, time, cause: 'WorkerFailed', counted: true, generation: 1, phases },
      ],
    };
    const late = storedJob('train-v-0', 'v');
    const view = members(4, 4);
    view.observe(podIn('0', 4, { uid: 'late', jobUid: late.metadata.uid }), NOW_MS);
    const replicatedJobs = [replicatedJob('w', 2), replicatedJob('v')];
    const made = planForTwo(jobSetOfTwo({ ...spec, replicatedJobs }, status), {
      jobs: [TWO_WORKERS, late],
      members: view,
    });
    expect(made.status).toMatchObject({ syncedEpoch: 4, restartHistory: [{ phases }] });
    expect(made.outcomes).toEqual([{ kind: 'EpochReleased' }]);
  });

  test('is held at the barrier after short epochs in a row, unless that is switched off', () => {
    const short = Array.from({ length: 6 }, (_, i) => ({
      epoch: 6 - i,
      time: new Date(NOW_MS - 1000).toISOString(),
      cause: 'WorkerFailed' as const,
      counted: true,
      generation: 1,
      ranMs: 100,
    }));
    const status = { ...epochs(6, 6), restartHistory: short };
    const held = planForTwo(jobSetOfTwo(spec, status), { members: members(7, 7) });
    expect(held).toMatchObject({ status: undefined, requeueAfterMs: 3000 });
    const annotations = { 'lockstep/restart-backoff': 'Disabled' };
    const free = planForTwo(jobSetOfTwo(spec, status, { annotations }), { members: members(7, 7) });
    expect(free.status).toMatchObject({ syncedEpoch: 7 });
  });

  test('does not end while suspended; a resume that finds it released ends it uncharged first', () => {
    const suspended = storedJob('train-w-0', 'w', {
      pods: 2,
      suspend: true,
      status: { conditions: [{ type: 'Suspended', status: 'True' }] },
    });
    const view = {
      members: members(5),
      jobs: [suspended],
      answer: answering({ Witness: witness }),
    };
    const asleep = planForTwo(jobSetOfTwo({ ...spec, suspend: true }, epochs(3, 4)), view);
    expect(asleep.status?.deprecatedEpoch).toBe(3);
    expect(conditionsOf(asleep)).toEqual(['Suspended=True SuspendedJobs']);

    const asked = planForTwo(jobSetOfTwo(spec, epochs(3, 4)), view);
    expect(asked.question, 'the cache may be old').toEqual({ kind: 'FreshJobs' });
    const answer = answering({ FreshJobs: true });
    const resumed = planForTwo(jobSetOfTwo(spec, epochs(3, 4)), { ...view, answer });
    expect(resumed.status).toMatchObject({
      deprecatedEpoch: 4,
      inPlaceRestartsCountTowardsMax: 0,
      restartHistory: [{ cause: 'Resumed', counted: false }],
    });
    expect(resumed.actions).toEqual([]);
    const next = planForTwo(jobSetOfTwo(spec, epochs(4, 4)), view);
    expect(kindsOf(next)).toEqual(['ResumeJob']);
    expect(next.status?.deprecatedEpoch, 'no epoch ends twice').toBe(4);
  });

  test('recreates Jobs that were partly done, after a look at what else has succeeded', () => {
    const partly = storedJob('train-w-0', 'w', {
      pods: 2,
      status: { succeeded: 1, completedIndexes: '0' },
    });
    const jobSet = jobSetOfTwo(spec, epochs(4, 4));
    const asked = planForTwo(jobSet, { jobs: [partly] });
    expect(asked).toMatchObject({ actions: [], question: { kind: 'SucceededPods' } });
    const answer = answering({ SucceededPods: true });
    expect(planForTwo(jobSet, { jobs: [partly], answer }).actions).toEqual([
      { kind: 'DeleteJob', job: partly },
    ]);
  });

  test('is not complete when a Job that is being recreated ends with success', () => {
    const deleting = { deletionTimestamp: '2026-01-01T00:59:30Z' };
    const stopped = storedJob('train-w-0', 'w', { pods: 2, status: COMPLETE, metadata: deleting });
    const behind = planForTwo(jobSetOfTwo(spec, epochs(4, 4)), { jobs: [stopped] });
    expect(behind).toMatchObject({ status: undefined, actions: [] });
    const running = planForTwo(jobSetOfTwo(spec, epochs(3, 4)), { jobs: [stopped] });
    expect(conditionsOf(running), 'deleted after it was done').toEqual([
      'Completed=True AllJobsCompleted',
    ]);
  });

  test('is not ended when all that is left is to count its success', () => {
    const view = members(5);
    view.observeSucceeded(podIn('0', 4, { uid: 'done-0' }));
    view.observeSucceeded(podIn('1', 4, { uid: 'done-1' }));
    const made = planForTwo(jobSetOfTwo(spec, epochs(3, 4)), {
      members: view,
      answer: answering({ Witness: witness }),
    });
    expect(made.status).toBeUndefined();
  });

  describe('and has a failed Job', () => {
    const failed: Stored<Job> = storedJob('train-w-0', 'w', { pods: 2, status: FAILED });
    const cause = (epoch: number | undefined): Partial<Snapshot> => ({
      jobs: [failed],
      answer: answering({
        FailedJob: epoch === undefined ? {} : { epoch, witness },
      }),
    });

    test('asks which Pod caused it', () => {
      const made = planForTwo(jobSetOfTwo(spec, epochs(3, 4)), { jobs: [failed] });
      expect(made.question).toEqual({ kind: 'FailedJob', job: failed });
    });

    test('counts a Job as failed as soon as one of its indexes will not be tried again', () => {
      const lost = storedJob('train-w-0', 'w', { pods: 2, status: { failedIndexes: '1' } });
      const made = planForTwo(jobSetOfTwo(spec, epochs(3, 4)), { jobs: [lost] });
      expect(made.question).toEqual({ kind: 'FailedJob', job: lost });
      const answer = answering({ FailedJob: { epoch: 4, witness } });
      const recreated = planForTwo(jobSetOfTwo(spec, epochs(3, 4)), { jobs: [lost], answer });
      expect(recreated.status).toMatchObject({ restartsCountTowardsMax: 1, deprecatedEpoch: 4 });
      const strict = { failurePolicy: { ...spec.failurePolicy, maxRestarts: 0 } };
      const over = planForTwo(jobSetOfTwo(strict, epochs(3, 4)), { jobs: [lost], answer });
      expect(conditionsOf(over)).toEqual(['Failed=True ReachedMaxRestarts']);
      const after = planForTwo(jobSetOfTwo(strict, over.status), { jobs: [lost] });
      expect(after.actions, 'its other indexes still run').toEqual([
        { kind: 'DeleteJob', job: lost },
      ]);
    });

    test.each([
      ['in the running epoch: charged, the epoch ends', epochs(3, 4), 4, [1, 1, 4]],
      ['by no Pod: charged, the epoch ends', epochs(3, 4), undefined, [1, 1, 4]],
      ['in an ended epoch that is not released yet: nothing more', epochs(4, 4), 4, [1, 0, 4]],
      [
        'in an ended epoch, released since: not charged, the epoch ends',
        epochs(3, 4),
        3,
        [1, 0, 4],
      ],
    ])('caused %s', (_what, status, epoch, [restarts, counted, deprecated]) => {
      expect(planForTwo(jobSetOfTwo(spec, status), cause(epoch)).status).toMatchObject({
        restarts,
        restartsCountTowardsMax: counted,
        deprecatedEpoch: deprecated,
      });
    });
  });
});
