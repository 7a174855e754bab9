import { describe, expect, test } from 'vitest';
import { CREATED, replicatedJob, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import type { JobSet, JobSetSpec } from '../jobset.ts';
import type { JobSetStatus, RestartRecord, Suspect } from '../jobset-status.ts';
import {
  DISABLE_IN_PLACE_RESTART,
  EXTRA_RESTARTS,
  MAX_RESTARTS_WITHOUT_PROGRESS,
} from '../names.ts';
import { type RunMeasures, type RunSurroundings, runMeasures } from './run-measures.ts';

const CREATED_MS = Date.parse(CREATED);
const MINUTE_MS = 60_000;
const NOW_MS = CREATED_MS + 60 * MINUTE_MS;
const SPEC: JobSetSpec = {
  replicatedJobs: [replicatedJob('driver'), replicatedJob('workers', 4)],
  failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 10 },
};

function at(minutes: number): string {
  return new Date(CREATED_MS + minutes * MINUTE_MS).toISOString();
}

/** The status of a group in which these ReplicatedJobs were released in these epochs. */
function released(deprecatedEpoch: number, epochs: Record<string, number>): JobSetStatus {
  const counts = { ready: 0, succeeded: 0, failed: 0, active: 0, suspended: 0 };
  return {
    deprecatedEpoch,
    syncedEpoch: Math.min(...Object.values(epochs)),
    replicatedJobsStatus: Object.entries(epochs).map(([name, syncedEpoch]) => ({
      ...counts,
      name,
      syncedEpoch,
    })),
  };
}

interface Case {
  readonly spec?: Partial<JobSetSpec>;
  readonly annotations?: Record<string, string>;
  readonly status?: JobSetStatus;
  readonly around?: Partial<RunSurroundings>;
}

function measured({ spec, annotations = {}, status, around }: Case): RunMeasures {
  const jobSet: JobSet = { ...storedJobSet({ ...SPEC, ...spec }, { annotations }) };
  return runMeasures(status === undefined ? jobSet : { ...jobSet, status }, {
    nowMs: NOW_MS,
    announced: () => 0,
    newestJobMs: () => CREATED_MS,
    heard: undefined,
    ...around,
  });
}

function barrierMinutes(of: Case): number | undefined {
  const sinceMs = measured(of).open?.group?.barrierSinceMs;
  return sinceMs === undefined ? undefined : (sinceMs - CREATED_MS) / MINUTE_MS;
}

function progressMinutes(of: Case): number | undefined {
  const ms = measured(of).open?.group?.progressMs;
  return ms === undefined ? undefined : (ms - CREATED_MS) / MINUTE_MS;
}

const ENDED = { epoch: 1, time: at(20), cause: 'WorkerFailed', counted: true } as const;

test('a group is counted in its current epoch', () => {
  const status = released(1, { driver: 2, workers: 2 });
  const announced = (epoch: number): number => (epoch === 2 ? 5 : 0);
  expect(measured({ status, around: { announced } })).toEqual({
    state: 'Released',
    createdMs: CREATED_MS,
    open: { members: 5, budget: 10, budgetUsed: 0, group: { epoch: 2, announced: 5 } },
  });
});

/** An epoch that ended this many hours ago, and the rank that was likely or certainly first. */
function failed(rank: number | undefined, hoursAgo: number, confidence = 'Certain'): RestartRecord {
  const time = new Date(NOW_MS - hoursAgo * 60 * MINUTE_MS).toISOString();
  const suspect = { worker: 'x', replicatedJob: 'workers', jobIndex: 0, pod: 'p', why: 'x' };
  const named = { ...suspect, confidence: confidence as Suspect['confidence'] };
  const suspects = [rank === undefined ? named : { ...named, rank }];
  return { epoch: 1, time, cause: 'WorkerFailed', counted: true, suspects };
}

test.each<readonly [string, readonly RestartRecord[], unknown]>([
  ['none', [], undefined],
  ['a failure without a rank', [failed(undefined, 1)], undefined],
  ['a failure of two days ago', [failed(5, 48)], undefined],
  ['a restart that a user wanted', [{ ...failed(5, 1), cause: 'Resumed' }], undefined],
  [
    'only those since the group has its size',
    [failed(5, 1), { ...failed(undefined, 2), cause: 'Scaled' }, failed(5, 3)],
    [[5, 1]],
  ],
  [
    'one rank again and again',
    [failed(5, 1), failed(0, 2, 'Likely'), failed(5, 23)],
    [
      [5, 2],
      [0, 1],
    ],
  ],
  [
    'more ranks than have series: those with the most failures, then the newest',
    [failed(1, 1), failed(2, 2), failed(3, 3), failed(4, 4), failed(4, 5)],
    [
      [4, 2],
      [1, 1],
      [2, 1],
    ],
  ],
])('failures of ranks are counted: %s', (_what, restartHistory, expected) => {
  const status = { ...released(1, { driver: 2, workers: 2 }), restartHistory };
  expect(measured({ status }).open?.group?.rankFailures).toEqual(expected);
});

test('a group with ranks has their number, and how many lag', () => {
  const ranks = { epoch: 2, world: 512, groups: 64, master: 'm', replicatedJobs: [] };
  const status = { ...released(1, { driver: 2, workers: 2 }), ranks };
  const heard = { progress: {}, ranksBehind: 0 };
  expect(measured({ status, around: { heard } }).open?.group).toMatchObject({
    ranks: 512,
    ranksBehind: 0,
  });
});

test('a JobSet that is over has its times alone', () => {
  const conditions = [
    { type: 'Failed', status: 'True', reason: 'X', message: '', lastTransitionTime: at(30) },
  ] as const;
  const status = { ...released(1, { driver: 2 }), terminalState: 'Failed', conditions } as const;
  expect(measured({ status })).toEqual({
    state: 'Failed',
    createdMs: CREATED_MS,
    finishedMs: CREATED_MS + 30 * MINUTE_MS,
  });
});

test('without restarts in place there is no group', () => {
  const none = { failurePolicy: { maxRestarts: 3 } };
  expect(measured({ spec: none }).open).toEqual({ members: 5, budget: 3, budgetUsed: 0 });
  const annotations = { [DISABLE_IN_PLACE_RESTART]: 'true' };
  expect(measured({ annotations }).open?.group).toBeUndefined();
});

test('the budget has what annotations add, and their limit', () => {
  const status = { restartsCountTowardsMax: 2, inPlaceRestartsCountTowardsMax: 3 };
  const progress = { restartsWithoutProgress: 2 };
  const annotations = { [EXTRA_RESTARTS]: '5', [MAX_RESTARTS_WITHOUT_PROGRESS]: '4' };
  expect(measured({ status: { ...status, progress }, annotations }).open).toMatchObject({
    budget: 15,
    budgetUsed: 5,
    withoutProgress: { count: 2, limit: 4 },
  });
});

describe('since when members wait at the barrier', () => {
  test.each<readonly [string, Case, number | undefined]>([
    ['before the first release: since the creation', {}, 0],
    ['since a resume', { status: { startTime: at(7) } }, 7],
    [
      'since the end of the last epoch',
      { status: { ...released(1, { driver: 1, workers: 1 }), restartHistory: [ENDED] } },
      20,
    ],
    [
      'a record of an older epoch says nothing',
      { status: { ...released(2, { driver: 1, workers: 1 }), restartHistory: [ENDED] } },
      0,
    ],
    [
      'none waits when all are released',
      { status: released(0, { driver: 1, workers: 1 }) },
      undefined,
    ],
    ['none waits while suspended', { spec: { suspend: true } }, undefined],
    [
      'a stage that was made waits, and since then',
      {
        status: released(0, { driver: 1, workers: 0 }),
        around: { newestJobMs: () => CREATED_MS + 9 * MINUTE_MS },
      },
      9,
    ],
    [
      'a stage without Jobs waits for another, and not at the barrier',
      {
        status: released(0, { driver: 1, workers: 0 }),
        around: { newestJobMs: () => undefined },
      },
      undefined,
    ],
    [
      'a part without members does not count',
      {
        spec: {
          replicatedJobs: [replicatedJob('driver'), { ...replicatedJob('none'), replicas: 0 }],
        },
        status: released(0, { driver: 1, none: 0 }),
      },
      undefined,
    ],
  ])('%s', (_, of, minutes) => {
    expect(barrierMinutes(of)).toBe(minutes);
  });
});

describe('when a group last made progress', () => {
  const running = { ...released(0, { driver: 1, workers: 1 }), syncedTime: at(10) };
  const goodput = { time: at(10), phase: 'Running', startingMs: 1000 } as const;
  const silent = (minutes?: number) => ({
    heard: { progress: {}, silentMs: minutes === undefined ? undefined : minutes * MINUTE_MS },
  });
  test.each<readonly [string, Case, number | undefined]>([
    ['the last report', { status: running, around: silent(15) }, 45],
    ['a release since then counts', { status: running, around: silent(55) }, 10],
    ['it has never reported', { status: running, around: silent() }, undefined],
    [
      'it has reported before this epoch',
      { status: { ...running, goodput }, around: silent() },
      10,
    ],
    ['no agent is connected', { status: { ...running, goodput } }, undefined],
    [
      'it waits at the barrier',
      {
        status: { ...running, goodput, ...released(1, { driver: 1, workers: 1 }) },
        around: silent(5),
      },
      undefined,
    ],
    ['it is suspended', { spec: { suspend: true }, status: running, around: silent(5) }, undefined],
  ])('%s', (_, of, minutes) => {
    expect(progressMinutes(of)).toBe(minutes);
  });
});

describe('the share of time that was not lost', () => {
  const running = released(0, { driver: 1, workers: 1 });
  const goodput = {
    time: at(60),
    phase: 'Running',
    waitingMs: 20 * MINUTE_MS,
    startingMs: 4 * MINUTE_MS,
    lostMs: 6 * MINUTE_MS,
    productiveMs: 30 * MINUTE_MS,
    checkpoint: 300,
    stepped: true,
  } as const;

  test('is for the time under way, and each class has its own', () => {
    const { open } = measured({ status: { ...running, goodput } });
    expect(open?.goodputShare).toBe(30 / 40);
    expect(Object.fromEntries(open?.goodput ?? [])).toEqual({
      Waiting: 20 * MINUTE_MS,
      Starting: 4 * MINUTE_MS,
      Lost: 6 * MINUTE_MS,
      Productive: 30 * MINUTE_MS,
    });
  });

  test('does not change before a status write has judged more', () => {
    const around = { nowMs: NOW_MS + 10 * MINUTE_MS };
    expect(measured({ status: { ...running, goodput }, around }).open?.goodputShare).toBe(30 / 40);
  });

  test('is unknown without checkpoints', () => {
    const { checkpoint: _, productiveMs: __, ...rest } = goodput;
    expect(measured({ status: { ...running, goodput: rest } }).open?.goodputShare).toBeUndefined();
    expect(measured({ status: running }).open).not.toHaveProperty('goodput');
  });
});
