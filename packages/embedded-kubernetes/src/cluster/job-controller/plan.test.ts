import type { JobSpec } from '@lockstep/kube/objects/job.ts';
import { expect, test } from 'vitest';
import { NO_FAILURES } from './backoff.ts';
import { jobOf, NOW_MS, type PodTraits, planOf, trueTypes, uids } from './job.fixture.ts';

const NO_STATUS = {};

test('a new Indexed Job starts, and creates the lowest indexes up to its parallelism', () => {
  const plan = planOf(jobOf({ parallelism: 3, completions: 5 }, NO_STATUS), []);
  expect(plan.created).toEqual([0, 1, 2]);
  expect(plan.status).toMatchObject({ startTime: '2026-01-01T00:10:00Z', active: 3, ready: 0 });
});

test('missing indexes are filled, lowest first; completed ones stay empty', () => {
  const job = jobOf({ parallelism: 4, completions: 6 }, { completedIndexes: '0-1', succeeded: 2 });
  const plan = planOf(job, [
    { uid: 'a', index: 3 },
    { uid: 'b', index: 5 },
  ]);
  expect(plan.created).toEqual([2, 4]);
});

test('a NonIndexed Job wants parallelism, and no more than completions that are left', () => {
  const spec = { completionMode: 'NonIndexed', parallelism: 5, completions: 7 } as const;
  const plan = planOf(jobOf(spec, { succeeded: 4 }), [{ uid: 'a' }]);
  expect(plan.created).toEqual([undefined, undefined]);
});

test('a work queue keeps its parallelism until the first success, then lets workers finish', () => {
  const { completions: _, ...spec } = jobOf({ completionMode: 'NonIndexed', parallelism: 3 }).spec;
  const queue = { ...jobOf(), spec };
  expect(planOf(queue, [{ uid: 'a' }]).created).toHaveLength(2);
  const afterSuccess = planOf(queue, [{ uid: 'a' }, { uid: 'b', phase: 'Succeeded' }]);
  expect([afterSuccess.created, trueTypes(afterSuccess)]).toEqual([[], []]);
  const drained = planOf(queue, [{ uid: 'b', phase: 'Succeeded' }]);
  expect(trueTypes(drained)).toEqual(['SuccessCriteriaMet']);
});

test('surplus Pods are discarded uncounted: unscheduled, Pending, not ready, young first', () => {
  const job = jobOf({ completionMode: 'NonIndexed', parallelism: 1, completions: 9 });
  const plan = planOf(job, [
    { uid: 'ready', isReady: true },
    { uid: 'running' },
    { uid: 'unscheduled', phase: 'Pending', node: undefined },
    { uid: 'pending', phase: 'Pending' },
  ]);
  expect(uids(plan.discarded)).toEqual(['unscheduled', 'pending', 'running']);
  expect([plan.stopped, plan.status.active]).toEqual([[], 1]);
});

test('deletes the more expendable of two Pods with one index, and one without an index', () => {
  const plan = planOf(jobOf(), [
    { uid: 'young', index: 0, createdAt: '2026-01-01T00:05:00Z' },
    { uid: 'old', index: 0, createdAt: '2026-01-01T00:01:00Z' },
    { uid: 'beyond', index: 2 },
    { uid: 'other', index: 1 },
  ]);
  expect(new Set(uids(plan.discarded))).toEqual(new Set(['young', 'beyond']));
  expect(plan.created).toEqual([]);
});

test.each([
  ['TerminatingOrFailed', [0], 1],
  ['Failed', [], undefined],
] as const)(
  'under %s a terminating Pod: replaced %j, failed %o',
  (podReplacementPolicy, created, failed) => {
    const job = jobOf({ podReplacementPolicy });
    const deletedAt = '2026-01-01T00:00:01Z';
    const pods = [
      { uid: 'a', index: 0, deletedAt },
      { uid: 'b', index: 1 },
    ];
    const plan = planOf(job, pods, { streak: NO_FAILURES, nowMs: NOW_MS });
    expect([plan.created, plan.status.uncountedTerminatedPods?.failed?.length]).toEqual([
      created,
      failed,
    ]);
    expect(plan.status.terminating).toBe(1);
  },
);

test('an unscheduled Pod that is deleted fails at once: no node will ever report its end', () => {
  const job = jobOf({ podReplacementPolicy: 'Failed' });
  const deletedAt = '2026-01-01T00:00:01Z';
  const plan = planOf(job, [{ uid: 'a', index: 0, phase: 'Pending', node: undefined, deletedAt }]);
  expect(plan.status.uncountedTerminatedPods).toEqual({ failed: ['a'] });
  expect(uids(plan.settled)).toEqual(['a']);
});

test('replaces a failed Pod after 10 s, the next after 20 s, and at once after a success', () => {
  const job = jobOf({ parallelism: 1 });
  const finishedAt = '2026-01-01T00:09:58Z';
  const failed = { uid: 'a', index: 0, phase: 'Failed', finishedAt } as const;
  const first = planOf(job, [failed], { streak: NO_FAILURES });
  expect([first.created, first.requeueAfterMs]).toEqual([[], 8000]);
  const counted = [{ ...failed, isUntracked: true }];
  const later = planOf(job, counted, { streak: first.streak, nowMs: NOW_MS + 8000 });
  expect(later.created).toEqual([0]);
  const second = planOf(job, [{ ...failed, uid: 'b' }], { streak: first.streak });
  expect(second.requeueAfterMs).toBe(18_000);
  const success = {
    uid: 'c',
    index: 1,
    phase: 'Succeeded',
    finishedAt: '2026-01-01T00:09:59Z',
  } as const;
  expect(planOf(job, [failed, success], { streak: NO_FAILURES }).created).toEqual([0]);
});

test('rebuilds the back-off of a Job from its Pods in a new process', () => {
  const finishedAt = '2026-01-01T00:09:58Z';
  const pod = { uid: 'a', index: 0, phase: 'Failed', finishedAt, isUntracked: true } as const;
  expect(planOf(jobOf({ parallelism: 1 }), [pod]).requeueAfterMs).toBe(8000);
});

test('more failures than backoffLimit: first FailureTarget, Pods stopped, Failed when all is counted', () => {
  const job = jobOf({ backoffLimit: 0 });
  const pods = [
    { uid: 'a', index: 0, phase: 'Failed' },
    { uid: 'b', index: 1, isReady: true },
  ] as const;
  const decided = planOf(job, pods);
  expect(trueTypes(decided)).toEqual(['FailureTarget']);
  expect(decided.status.conditions?.[0]).toMatchObject({
    reason: 'BackoffLimitExceeded',
    message: 'Job has reached the specified backoff limit',
  });
  // Pods that have not ended count as failed from now on.
  expect([uids(decided.stopped), uids(decided.settled), decided.events]).toEqual([
    ['b'],
    ['a', 'b'],
    [],
  ]);
  expect(decided.status).toMatchObject({
    ready: 0,
    terminating: 1,
    uncountedTerminatedPods: { failed: ['a', 'b'] },
  });

  const untracked = { isUntracked: true };
  const counted = planOf(jobOf({ backoffLimit: 0 }, decided.status), [
    { uid: 'a', index: 0, phase: 'Failed', ...untracked },
    { uid: 'b', index: 1, deletedAt: '2026-01-01T00:10:00Z', ...untracked },
  ]);
  expect(counted.status).toMatchObject({ failed: 2, terminating: 1, uncountedTerminatedPods: {} });

  // The status first says that no Pod is left, then the Job ends.
  const ended = [{ uid: 'a', index: 0, phase: 'Failed', ...untracked }] as const;
  const empty = planOf(jobOf({ backoffLimit: 0 }, counted.status), ended);
  expect([trueTypes(empty), empty.status.terminating]).toEqual([['FailureTarget'], 0]);
  const failed = planOf(jobOf({ backoffLimit: 0 }, empty.status), ended);
  expect(trueTypes(failed)).toEqual(['FailureTarget', 'Failed']);
  expect(failed.status).toMatchObject({ failed: 2, uncountedTerminatedPods: {}, terminating: 0 });
  expect(failed.events).toMatchObject([{ type: 'Warning', reason: 'BackoffLimitExceeded' }]);
});

test('one pass creates or deletes 500 Pods at most', () => {
  const spec = { completionMode: 'NonIndexed', completions: 1200, parallelism: 1200 } as const;
  const first = planOf(jobOf(spec, NO_STATUS), []);
  expect([first.created.length, first.status.active]).toEqual([500, 500]);
  const pods = Array.from({ length: 700 }, (_, i) => ({ uid: `u${i}` }));
  const shrunk = planOf(jobOf({ ...spec, parallelism: 0 }), pods);
  expect([shrunk.discarded.length, shrunk.status]).toMatchObject([
    500,
    { active: 200, terminating: 500 },
  ]);
});

test.each<[name: string, spec: Partial<JobSpec>, pods: readonly PodTraits[], reason: string]>([
  [
    'the Pod failure policy before the back-off limit',
    {
      backoffLimit: 0,
      podFailurePolicy: {
        rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [1] } }],
      },
    },
    [{ uid: 'a', index: 0, phase: 'Failed', exitCode: 1 }],
    'PodFailurePolicy',
  ],
  [
    'the back-off limit before the deadline',
    { backoffLimit: 0, activeDeadlineSeconds: 1 },
    [{ uid: 'a', index: 0, phase: 'Failed', exitCode: 1 }],
    'BackoffLimitExceeded',
  ],
  [
    'the deadline before failed indexes',
    { backoffLimitPerIndex: 0, maxFailedIndexes: 0, activeDeadlineSeconds: 1 },
    [{ uid: 'a', index: 0, phase: 'Failed', exitCode: 1 }],
    'DeadlineExceeded',
  ],
  [
    'too many failed indexes before all being over',
    { backoffLimitPerIndex: 0, maxFailedIndexes: 0 },
    [
      { uid: 'a', index: 0, phase: 'Failed', exitCode: 1 },
      { uid: 'b', index: 1, phase: 'Succeeded' },
    ],
    'MaxFailedIndexesExceeded',
  ],
  [
    'failed indexes before the success policy',
    { backoffLimitPerIndex: 0, successPolicy: { rules: [{ succeededCount: 1 }] } },
    [
      { uid: 'a', index: 0, phase: 'Failed', exitCode: 1 },
      { uid: 'b', index: 1, phase: 'Succeeded' },
    ],
    'FailedIndexes',
  ],
  [
    'the success policy before all completions',
    { successPolicy: { rules: [{ succeededCount: 2 }] } },
    [
      { uid: 'a', index: 0, phase: 'Succeeded' },
      { uid: 'b', index: 1, phase: 'Succeeded' },
    ],
    'SuccessPolicy',
  ],
])('of two reasons to end: %s', (_name, spec, pods, reason) => {
  const { conditions } = planOf(jobOf({ backoffLimit: 99, ...spec }), pods).status;
  expect(conditions?.map((condition) => condition.reason)).toEqual([reason]);
});

test('success lets go of Pods that have not ended, without counting them', () => {
  const spec = { podReplacementPolicy: 'Failed', completions: 3 } as const;
  const successPolicy = { rules: [{ succeededCount: 1 }] };
  const plan = planOf(jobOf({ ...spec, parallelism: 3, successPolicy }), [
    { uid: 'a', index: 0, phase: 'Succeeded' },
    { uid: 'b', index: 1 },
    { uid: 'c', index: 2, deletedAt: '2026-01-01T00:10:00Z' },
  ]);
  expect([uids(plan.stopped), uids(plan.settled)]).toEqual([['b'], ['a', 'b', 'c']]);
  expect([plan.status.succeeded, plan.status.uncountedTerminatedPods]).toEqual([1, {}]);
});

test.each([
  [0, 0, false],
  [0, 1, true],
  [3, 2, false],
  [3, 3, true],
])('OnFailure with backoffLimit %i and %i restarts fails: %o', (backoffLimit, restarts, fails) => {
  const template = {
    spec: { restartPolicy: 'OnFailure' as const, containers: [{ name: 'main' }] },
  };
  const plan = planOf(jobOf({ backoffLimit, template }), [
    { uid: 'a', index: 0, restarts },
    { uid: 'b', index: 1 },
  ]);
  expect(trueTypes(plan)).toEqual(fails ? ['FailureTarget'] : []);
});

test('under Never no restart of a container counts', () => {
  const pods = [
    { uid: 'a', index: 0, restarts: 9 },
    { uid: 'b', index: 1 },
  ];
  expect(trueTypes(planOf(jobOf({ backoffLimit: 0 }), pods))).toEqual([]);
});

test('the deadline fails the Job, is waited for until then, and rests while it is suspended', () => {
  const pods = [
    { uid: 'a', index: 0 },
    { uid: 'b', index: 1 },
  ];
  const waiting = planOf(jobOf({ activeDeadlineSeconds: 601 }), pods);
  expect([trueTypes(waiting), waiting.requeueAfterMs]).toEqual([[], 1000]);
  const late = planOf(jobOf({ activeDeadlineSeconds: 600 }), pods);
  expect(late.status.conditions?.[0]).toMatchObject({
    type: 'FailureTarget',
    reason: 'DeadlineExceeded',
    message: 'Job was active longer than specified deadline',
  });
  expect(late.requeueAfterMs).toBeUndefined();
  expect(trueTypes(planOf(jobOf({ activeDeadlineSeconds: 1, suspend: true }), []))).toEqual([
    'Suspended',
  ]);
});

test('success is written, Pods are let go, then the Job is Complete', () => {
  const job = jobOf();
  const reached = planOf(job, [
    { uid: 'a', index: 0, phase: 'Succeeded' },
    { uid: 'b', index: 1, phase: 'Succeeded' },
  ]);
  expect(reached.status).toMatchObject({ succeeded: 2, completedIndexes: '0,1' });
  expect(reached.status.completionTime).toBeUndefined();
  expect(trueTypes(reached)).toEqual(['SuccessCriteriaMet']);
  expect(uids(reached.settled)).toEqual(['a', 'b']);
  const complete = planOf(jobOf({}, reached.status), [
    { uid: 'a', index: 0, phase: 'Succeeded', isUntracked: true },
    { uid: 'b', index: 1, phase: 'Succeeded', isUntracked: true },
  ]);
  expect(trueTypes(complete)).toEqual(['SuccessCriteriaMet', 'Complete']);
  expect(complete.status).toMatchObject({ completionTime: '2026-01-01T00:10:00Z', ready: 0 });
  expect(complete.events).toMatchObject([{ reason: 'Completed', note: 'Job completed' }]);
});

test('more successes than were asked for are reported at the end', () => {
  const spec = { completionMode: 'NonIndexed', completions: 1 } as const;
  const ended = { phase: 'Succeeded', isUntracked: true } as const;
  const reached = planOf(jobOf(spec), [
    { uid: 'a', phase: 'Succeeded' },
    { uid: 'b', phase: 'Succeeded' },
  ]);
  const complete = planOf(jobOf(spec, reached.status), [
    { uid: 'a', ...ended },
    { uid: 'b', ...ended },
  ]);
  const last = complete.events.length > 0 ? complete : planOf(jobOf(spec, complete.status), []);
  expect(last.status.succeeded).toBe(2);
  expect(last.events).toEqual([
    {
      type: 'Warning',
      reason: 'TooManySucceededPods',
      note: 'Too many succeeded pods running after completion count reached',
    },
    { type: 'Normal', reason: 'Completed', note: 'Job completed' },
  ]);
});

test('a Job without completions to reach is Complete without any Pod', () => {
  const spec = { completions: 0, parallelism: 0 };
  const met = planOf(jobOf(spec, NO_STATUS), []);
  expect(trueTypes(met)).toEqual(['SuccessCriteriaMet']);
  const complete = planOf(jobOf(spec, met.status), []);
  expect(trueTypes(complete)).toEqual(['SuccessCriteriaMet', 'Complete']);
});

test('a finished Job changes no more, and its Pods are let go', () => {
  const status = { succeeded: 2, conditions: [{ type: 'Complete', status: 'True' }] } as const;
  const plan = planOf(jobOf({}, status), [{ uid: 'late', index: 0, phase: 'Failed' }]);
  expect(plan.status).toBe(status);
  expect([uids(plan.settled), plan.created, plan.events]).toEqual([['late'], [], []]);
});

test('suspend discards active Pods uncounted, resume starts the clock again', () => {
  const running = [
    { uid: 'a', index: 0 },
    { uid: 'b', index: 1 },
  ];
  const suspended = planOf(jobOf({ suspend: true }), running);
  expect(new Set(uids(suspended.discarded))).toEqual(new Set(['a', 'b']));
  expect(suspended.status.startTime).toBeUndefined();
  expect(suspended.status.active).toBeUndefined();
  expect(suspended.events).toMatchObject([{ reason: 'Suspended', note: 'Job suspended' }]);
  const still = planOf(jobOf({ suspend: true }, suspended.status), []);
  expect([still.created, still.events]).toEqual([[], []]);
  const resumed = planOf(jobOf({}, still.status), []);
  expect(resumed.status.startTime).toBe('2026-01-01T00:10:00Z');
  expect(resumed.status.conditions).toMatchObject([
    { type: 'Suspended', status: 'False', reason: 'JobResumed' },
  ]);
  expect([resumed.created, resumed.events]).toMatchObject([[0, 1], [{ reason: 'Resumed' }]]);
});

test('own writes that the cache lacks are taken into account', () => {
  const pods = [{ uid: 'a', index: 0 }];
  const deleted = planOf(jobOf({ suspend: true }), pods, {
    deleted: new Set(['a']),
    untracked: new Set(['a']),
  });
  expect([deleted.discarded, deleted.status.terminating]).toEqual([[], 1]);
});

test('deletes the recently ready, the often restarted and the young Pods first', () => {
  const job = jobOf({ completionMode: 'NonIndexed', parallelism: 0, completions: 9 });
  const at = (minute: number): string => `2026-01-01T00:0${minute}:00Z`;
  const plan = planOf(job, [
    { uid: 'old', createdAt: at(1) },
    { uid: 'young', createdAt: at(2) },
    { uid: 'restarted', createdAt: at(1), restarts: 1 },
    { uid: 'long ready', isReady: true, readySince: at(3) },
    { uid: 'lately ready', isReady: true, readySince: at(4) },
  ]);
  const order = ['restarted', 'young', 'old', 'lately ready', 'long ready'];
  expect(uids(plan.discarded)).toEqual(order);
});

test('a failure in the same second as a success does not delay the replacement', () => {
  const at = { finishedAt: '2026-01-01T00:09:58Z' };
  const success = { uid: 'a', index: 0, phase: 'Succeeded', ...at } as const;
  const failure = { uid: 'b', index: 1, phase: 'Failed', ...at } as const;
  for (const pods of [
    [success, failure],
    [failure, success],
  ]) {
    expect(planOf(jobOf(), pods, { streak: NO_FAILURES }).created).toEqual([1]);
  }
});

test('restarts in Pods that are being deleted count, too', () => {
  const template = {
    spec: { restartPolicy: 'OnFailure' as const, containers: [{ name: 'main' }] },
  };
  const plan = planOf(jobOf({ backoffLimit: 2, template }), [
    { uid: 'a', index: 0, restarts: 1, deletedAt: '2026-01-01T00:09:59Z', isUntracked: true },
    { uid: 'b', index: 1, restarts: 1 },
  ]);
  expect(trueTypes(plan)).toEqual(['FailureTarget']);
});

test('while the Job is being deleted nothing is created or discarded', () => {
  const job = jobOf();
  const deleting = {
    ...job,
    metadata: { ...job.metadata, deletionTimestamp: '2026-01-01T00:09:00Z' },
  };
  const plan = planOf(deleting, [
    { uid: 'a', index: 0, deletedAt: '2026-01-01T00:09:00Z' },
    { uid: 'b', index: 1 },
  ]);
  expect([plan.created, plan.discarded, plan.stopped]).toEqual([[], [], []]);
  // A finished Job needs no counts.
  expect([uids(plan.settled), plan.status.uncountedTerminatedPods]).toEqual([['a', 'b'], {}]);
  expect(plan.status).toMatchObject({ active: 1, terminating: 1 });
});
