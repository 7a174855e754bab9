import { microTimeText } from '@lockstep/kube/time.ts';
import { describe, expect, test } from 'vitest';
import { storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import type { Goodput } from '../jobset-status.ts';
import type { GroupProgress } from '../progress/group-progress.ts';
import { goodputAt, goodputShare } from './goodput-at.ts';

/** When the JobSets of tests are created. */
const CREATED_MS = Date.parse('2026-01-01T00:00:00Z');
const NOW_MS = CREATED_MS + 100_000;

function classesOf(
  goodput: Partial<Goodput> & { readonly atS: number },
  reported?: GroupProgress,
  restartStrategy: 'InPlaceRestart' | 'Recreate' = 'InPlaceRestart',
): object {
  const { atS, ...sums } = goodput;
  const time = microTimeText(CREATED_MS + atS * 1000);
  const status = { goodput: { time, phase: 'Running', ...sums } } as const;
  const jobSet = storedJobSet({ failurePolicy: { restartStrategy } });
  const { elapsedMs, classes } = goodputAt({ ...jobSet, status }, NOW_MS, reported) ?? {};
  const some = Object.entries(classes ?? {}).filter(([, ms]) => ms > 0);
  expect(some.reduce((sum, [, ms]) => sum + ms, 0)).toBe(elapsedMs);
  return Object.fromEntries(some);
}

const WORKED = { atS: 60, waitingMs: 10_000, startingMs: 5000, productiveMs: 45_000 } as const;

const WORKED_SUMS = { startingMs: 5000, productiveMs: 45_000, checkpoint: 300 } as const;

test('a reader sees time up to now, with work since the newest checkpoint as pending', () => {
  const running = { ...WORKED, checkpoint: 300, stepped: true } as const;
  const before = { Waiting: 10_000, Starting: 5000 };
  expect(classesOf(running)).toEqual({ ...before, Productive: 45_000, Pending: 40_000 });
  expect(classesOf(running, { checkpoint: 330, checkpointMs: 15_000 })).toEqual({
    ...before,
    Productive: 70_000,
    Pending: 15_000,
  });
});

test('the highest checkpoint stays when nobody tells of it any more', () => {
  const time = microTimeText(CREATED_MS + 60_000);
  const at = (goodput: Partial<Goodput>, reported?: GroupProgress): unknown => {
    const status = { goodput: { time, phase: 'Running', ...goodput } } as const;
    const jobSet = storedJobSet({ failurePolicy: { restartStrategy: 'InPlaceRestart' } });
    return goodputAt({ ...jobSet, status }, NOW_MS, reported)?.checkpoint;
  };
  expect(at({ phase: 'Finished', checkpoint: 300 })).toBe(300);
  const told = { checkpoint: 330, checkpointMs: 15_000 };
  expect(at({ checkpoint: 300, stepped: true, productiveMs: 45_000 }, told)).toBe(330);
  expect(at({ phase: 'Finished' })).toBeUndefined();
});

test('an epoch that has just begun is starting if its members report', () => {
  const begun = { atS: 10, waitingMs: 10_000 };
  expect(classesOf(begun)).toEqual({ Waiting: 10_000, Running: 90_000 });
  expect(classesOf(begun, {})).toEqual({ Waiting: 10_000, Running: 90_000 });
  expect(classesOf(begun, { lowestStep: 0 })).toEqual({ Waiting: 10_000, Starting: 90_000 });
  expect(classesOf(begun, { firstStepMs: 30_000 })).toEqual({
    Waiting: 10_000,
    Starting: 60_000,
    Running: 30_000,
  });
  expect(classesOf({ ...WORKED, checkpoint: 300 }, {})).toMatchObject({ Starting: 45_000 });
});

test('the end of an epoch is pending until the next is released', () => {
  const ended = { ...WORKED, atS: 80, phase: 'Restarting', pendingMs: 20_000 } as const;
  expect(classesOf(ended)).toMatchObject({ Pending: 20_000, Restarting: 20_000 });
});

test('other phases continue, and a JobSet that is over does not', () => {
  expect(classesOf({ atS: 0, phase: 'Suspended' })).toEqual({ Suspended: 100_000 });
  expect(classesOf({ ...WORKED, phase: 'Finished' })).not.toHaveProperty('Running');
  expect(classesOf({ atS: 0 }, undefined, 'Recreate')).toEqual({ Running: 100_000 });
});

test('nothing is known of a JobSet whose time is not accounted for', () => {
  expect(goodputAt({ ...storedJobSet({}), status: {} }, NOW_MS)).toBeUndefined();
});

describe('the goodput in one number', () => {
  const share = (
    goodput: Partial<Goodput>,
    restartStrategy: 'InPlaceRestart' | 'Recreate' = 'InPlaceRestart',
    reported?: GroupProgress,
  ): object => {
    const jobSet = storedJobSet({ failurePolicy: { restartStrategy } });
    const time = microTimeText(CREATED_MS + 60_000);
    const stored = {
      ...jobSet,
      status: { goodput: { time, phase: 'Running', ...goodput } as const },
    };
    const found = goodputShare(stored, NOW_MS);
    expect(goodputAt(stored, NOW_MS, reported)).toMatchObject(found ?? {});
    const { share, unknown, judgedUntilMs } = found ?? {};
    return { share: share ?? unknown, judgedUntilMs };
  };
  const UNTIL = CREATED_MS + 60_000;

  test.each<[string, Partial<Goodput>, object]>([
    ['a running epoch', WORKED_SUMS, { share: 0.9, judgedUntilMs: UNTIL }],
    [
      'work that is pending',
      { ...WORKED_SUMS, phase: 'Suspended', pendingMs: 20_000 },
      { share: 0.9, judgedUntilMs: UNTIL - 20_000 },
    ],
    [
      'a restart that goes on',
      { ...WORKED_SUMS, phase: 'Restarting' },
      { share: 0.5, judgedUntilMs: null },
    ],
    ['the end', { ...WORKED_SUMS, phase: 'Finished' }, { share: 0.9, judgedUntilMs: null }],
    [
      'a success without checkpoints',
      { productiveMs: 9, startingMs: 1, phase: 'Finished' },
      { share: 0.9, judgedUntilMs: null },
    ],
    [
      'a first epoch',
      { waitingMs: 60_000 },
      { share: 'it is judged when its first epoch ends', judgedUntilMs: UNTIL },
    ],
    [
      'a crash loop, whose ends are pending',
      { runningMs: 100, restartingMs: 30_000, pendingMs: 500, phase: 'Restarting' },
      { share: 'no checkpoint was reported', judgedUntilMs: null },
    ],
  ])('of %s is from the status alone', (_, goodput, expected) => {
    expect(share(goodput)).toEqual(expected);
    const reported = { checkpoint: 999, checkpointMs: 1, firstStepMs: 30_000, startMs: 5 };
    expect(share(goodput, 'InPlaceRestart', reported)).toEqual(expected);
  });

  test('of Jobs that are recreated is unknown', () => {
    expect(share({ runningMs: 5 }, 'Recreate')).toMatchObject({
      share: 'without restart in place, nobody reports checkpoints',
    });
  });
});
