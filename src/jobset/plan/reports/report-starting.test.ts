import type { Condition, Stored } from '@lockstep/kube/meta.ts';
import type { Job, JobStatus } from '@lockstep/kube/objects/job.ts';
import { describe, expect, it } from 'vitest';
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
import { type Plan, plan } from '../../plan.ts';
import { MemberCounts } from '../../roster/members.ts';
import type { AnswerOf } from '../questions.ts';
import type { StartLook } from '../snapshot.ts';
import { CALM_LOOKS, MAX_START_LOOK_MS, START_PATIENCE_MS } from './report-starting.ts';

const SIZE = 3;
const START_LOOK_MS = 10_000;
const LATER: StartLook = {
  missingForMs: START_PATIENCE_MS,
  noPodForMs: START_PATIENCE_MS,
  sinceLookMs: Number.POSITIVE_INFINITY,
  looks: 0,
  idleLooks: 0,
  calmLooks: 0,
};
/** A Pod was read just now. */
const LOOKED: StartLook = { ...LATER, sinceLookMs: 0 };
const HOLD = { reason: 'Unschedulable', message: '0/3 nodes\nare available' };

function jobWith(status: JobStatus = {}): Stored<Job> {
  const job = storedJob('train-w-0', 'w', { pods: SIZE });
  return { ...job, status: { startTime: '2026-01-01T00:00:00Z', active: SIZE, ...status } };
}

/** Pods of these slots announce epoch 1, the others nothing. */
function membersWith(job: Stored<Job>, announced: readonly number[], silent: readonly number[]) {
  const members = new MemberCounts();
  for (const slot of announced) members.observe(podOf(job, slot, 1), NOW_MS);
  for (const slot of silent) members.observe(podOf(job, slot, undefined), NOW_MS);
  return members;
}

interface Scene {
  readonly job?: Stored<Job>;
  readonly members?: MemberCounts;
  readonly startLook?: StartLook;
  readonly answers?: Partial<AnswerOf>;
  readonly told?: Pick<Condition, 'reason' | 'message'>;
  readonly isReleased?: boolean;
  readonly suspend?: boolean;
}

function planOf(scene: Scene): Plan {
  const { job = jobWith(), startLook = LATER, answers = {}, told } = scene;
  const { isReleased = false, suspend = false } = scene;
  const syncedEpoch = isReleased ? 1 : 0;
  const condition = {
    type: 'MemberNotStarting',
    status: 'True',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  } as const;
  const jobSet = {
    ...storedJobSet({
      replicatedJobs: [replicatedJob('w', SIZE, 1)],
      failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 3 },
      suspend,
    }),
    status: {
      restarts: 0,
      restartsCountTowardsMax: 0,
      executionAttempts: 0,
      deprecatedEpoch: 0,
      syncedEpoch,
      conditions: told === undefined ? [] : [{ ...condition, ...told }],
      replicatedJobsStatus: [
        { name: 'w', ready: 0, succeeded: 0, failed: 0, active: 1, suspended: 0, syncedEpoch },
      ],
    },
  };
  const members = scene.members ?? membersWith(job, [0], [1, 2]);
  const jobs = [job];
  return plan(
    snapshotOf(jobSet, {
      ...WITHOUT_READY,
      jobs,
      members,
      startLook,
      answer: answering({ ContainerMinimums: {}, ...answers }),
    }),
  );
}

function toldBy(
  made: Plan,
): readonly [status: string, reason: string, message: string] | undefined {
  const told = made.status?.conditions?.find(({ type }) => type === 'MemberNotStarting');
  return told && [told.status, told.reason, told.message];
}

describe('while a member is missing', () => {
  it.each([
    ['before a restart would be over', { ...LATER, missingForMs: 0 }, START_PATIENCE_MS],
    ['soon after another read', { ...LATER, sinceLookMs: 6000 }, 4000],
  ])('no Pod is read %s', (_, startLook, requeueAfterMs) => {
    const made = planOf({ startLook });
    expect(made.question).toBeUndefined();
    expect(made).toMatchObject({ missing: { key: 'Unannounced' }, requeueAfterMs });
  });

  it('Pods that have not announced the epoch are read in turn', () => {
    const names = [0, 1, 2].map((looks) => {
      const { question } = planOf({ startLook: { ...LATER, looks } });
      return question?.kind === 'HeldPod' ? question.pod?.name : undefined;
    });
    expect(names).toEqual(['train-w-0-1', 'train-w-0-2', 'train-w-0-1']);
  });

  it('the Pod that the condition names is read again', () => {
    const told = { reason: 'Unschedulable', message: 'Pod train-w-0-2 does not start' };
    const { question } = planOf({ told });
    expect(question).toMatchObject({ kind: 'HeldPod', pod: { name: 'train-w-0-2' } });
  });

  it('the condition says why, in one line', () => {
    const made = planOf({
      startLook: LOOKED,
      answers: { HeldPod: { name: 'p', hold: HOLD } },
    });
    const message = 'Pod p does not start: Unschedulable: 0/3 nodes\\nare available';
    expect(toldBy(made)).toEqual(['True', 'Unschedulable', message]);
    expect(made.events.map(({ type, reason }) => [type, reason])).toEqual([
      ['Warning', 'Unschedulable'],
    ]);
    expect(made.requeueAfterMs).toBe(START_LOOK_MS);
  });

  it('a Pod that starts is not reported', () => {
    expect(planOf({ answers: { HeldPod: { name: 'p' } } }).status).toBeUndefined();
  });

  const told = { reason: 'ErrImagePull', message: 'Pod p does not start: ErrImagePull' };
  const crashing = { ...told, reason: 'CrashLoopBackOff' };
  it.each([
    ['is not written for other words', told, 'ErrImagePull', undefined],
    ['is not written for the other words of an image', told, 'ImagePullBackOff', undefined],
    ['is written for another reason', told, 'Unschedulable', 'Unschedulable'],
    ['is written for another Pod', { ...told, message: 'Pod q ' }, 'ErrImagePull', 'ErrImagePull'],
    ['is not written between two crashes', crashing, 'RunContainerError', undefined],
    ['has a word of ours for an impossible one', told, '\u001b[2J', 'Waiting'],
  ])('the condition %s', (_, before, reason, after) => {
    const hold = { reason, message: 'anything' };
    expect(toldBy(planOf({ told: before, answers: { HeldPod: { name: 'p', hold } } }))?.[1]).toBe(
      after,
    );
  });

  it('the condition goes when its Pod starts, but not between two crashes', () => {
    const answers = { HeldPod: { name: 'p' } };
    expect(toldBy(planOf({ told, answers }))).toEqual(['False', 'Starting', 'Pod p starts']);
    expect(planOf({ told: crashing, answers }).status).toBeUndefined();
  });

  it.each([
    ['its Pod crashed once and runs since', crashing, 'p'],
    ['its Pod is gone', told, 'another'],
  ])('the condition goes if no Pod was found waiting for a minute, and %s', (_, before, name) => {
    const planAfter = (calmLooks: number) =>
      planOf({
        told: before,
        startLook: { ...LATER, calmLooks },
        answers: { HeldPod: { name } },
      });
    expect(planAfter(CALM_LOOKS - 1).status).toBeUndefined();
    expect(toldBy(planAfter(CALM_LOOKS))?.slice(0, 2)).toEqual(['False', 'Starting']);
  });
});

describe('a Pod that nobody made', () => {
  const members = membersWith(jobWith(), [0, 1], []);
  it('is reported without a read', () => {
    const [status, reason, message] = toldBy(planOf({ members })) ?? [];
    expect([status, reason]).toEqual(['True', 'PodNotCreated']);
    expect(message).toContain('Job train-w-0 lacks a Pod that Kubernetes did not make');
    expect(message).toContain('kubectl describe job train-w-0 -n default');
  });

  it('is reported later if the Job waits after a failure', () => {
    const made = planOf({ members, job: jobWith({ failed: 1 }) });
    expect(made).toMatchObject({ status: undefined, requeueAfterMs: 20_000 - START_PATIENCE_MS });
  });

  const job = jobWith({ failed: 1 });
  const heldNow = {
    job,
    members: membersWith(job, [0], [1]),
    answers: { HeldPod: { name: 'p', hold: HOLD } },
  };
  const of = (noPodForMs: number): StartLook => ({ ...LATER, noPodForMs });
  const aboutPod = { reason: 'Unschedulable', message: 'Pod p does not start' };
  const aboutJob = { reason: 'PodNotCreated', message: 'Job train-w-0 lacks a Pod' };
  const silent = {
    job,
    members: membersWith(job, [0], [1]),
    answers: { HeldPod: { name: 'p' } },
  };
  it.each<[string, Scene, string | undefined]>([
    ['a Pod that waits comes first', { ...heldNow, startLook: of(60_000) }, 'Unschedulable'],
    [
      'a Pod stays told at first',
      { job, members, told: aboutPod, startLook: of(59_999) },
      undefined,
    ],
    [
      'and later does not',
      { job, members, told: aboutPod, startLook: of(60_000) },
      'PodNotCreated',
    ],
    ['a Job stays told while it lacks one', { ...heldNow, told: aboutJob }, undefined],
    ['a Pod on its way hides it', { ...silent, startLook: of(59_999) }, undefined],
    ['for a minute', { ...silent, startLook: of(60_000) }, 'PodNotCreated'],
  ])('%s', (_, scene, reason) => {
    expect(toldBy(planOf(scene))?.[1]).toBe(reason);
  });
});

describe('when all have announced the epoch', () => {
  const job = jobWith({ ready: SIZE - 1 });
  const unready = { job, members: membersAt(1, job), isReleased: true };

  it('and one is not ready, a pending one is looked for, and then one of all', () => {
    const asked = [0, 1, 2, 3].map((looks) => {
      const { question } = planOf({ ...unready, startLook: { ...LATER, looks } });
      return question?.kind === 'HeldPod' ? (question.pod?.name ?? 'Pending') : undefined;
    });
    expect(asked).toEqual(['Pending', 'train-w-0-0', 'Pending', 'train-w-0-1']);
  });

  it('it is looked for less and less, until readiness changes', () => {
    const first = planOf({ ...unready, startLook: { ...LOOKED, idleLooks: 1 } });
    const waits = [2 * SIZE, 2 * SIZE + 1, 2 * SIZE + 3, 1000].map(
      (idleLooks) => planOf({ ...unready, startLook: { ...LOOKED, idleLooks } }).requeueAfterMs,
    );
    expect([first.requeueAfterMs, ...waits]).toEqual([
      START_LOOK_MS,
      START_LOOK_MS,
      2 * START_LOOK_MS,
      8 * START_LOOK_MS,
      MAX_START_LOOK_MS,
    ]);
    const changed = planOf({ ...unready, job: jobWith({ ready: SIZE - 2 }), startLook: LOOKED });
    expect(changed.missing?.key).not.toBe(first.missing?.key);
  });

  it.each([
    [
      'all are ready',
      { job: jobWith({ ready: SIZE }), members: membersAt(1, job), isReleased: true },
    ],
    ['it is suspended', { suspend: true }],
  ])('nothing is asked if %s, and the condition goes', (_, scene: Scene) => {
    const made = planOf({ ...scene, told: { reason: 'X', message: '' } });
    expect(toldBy(made)?.slice(0, 2)).toEqual(['False', 'NoneMissing']);
    expect(made.missing).toBeUndefined();
  });
});

it('asks nothing while an epoch ends', () => {
  const job = jobWith();
  const members = membersWith(job, [0], [2]);
  members.observe(podOf(job, 1, 2), NOW_MS);
  const record = { pod: 'train-w-0-1', exitCode: 1, reason: 'Error' };
  const witness = { record, finishedMs: undefined, showsFailure: true };
  const made = planOf({
    job,
    members,
    answers: { Witness: witness, SucceededPods: true },
  });
  expect(made.question).toBeUndefined();
  expect(made.status?.deprecatedEpoch).toBe(1);
});
