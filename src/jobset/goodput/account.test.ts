import { defined } from '@lockstep/kube/json/defined.ts';
import { validate } from '@lockstep/kube/schema/validate.ts';
import { microTimeText } from '@lockstep/kube/time.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ACCOUNTED, GOODPUT_PHASES, type Goodput } from '../jobset-status.ts';
import type { GroupProgress } from '../progress/group-progress.ts';
import { STATUS } from '../schema/status-schema.ts';
import { account, type Moment } from './account.ts';
import { sumsOf } from './classes.ts';

const START_MS = Date.parse('2026-01-01T00:00:00Z');
const QUIET: Omit<Moment, 'nowMs' | 'next'> = {
  isGroup: true,
  isEnd: false,
  isSuccess: false,
  told: {},
  isHeard: true,
};

/** `[seconds since the start, next phase, what else is known]`. */
type Write = readonly [number, Moment['next'], Partial<Moment>?];

function life(...writes: readonly Write[]): Omit<Goodput, 'time'> & { readonly atS: number } {
  const begun: Goodput = { time: microTimeText(START_MS), phase: 'Waiting' };
  const { time, ...sums } = writes.reduce(
    (before, [atS, next, more]) =>
      account(before, { ...QUIET, nowMs: START_MS + atS * 1000, next, ...more }),
    begun,
  );
  return { ...sums, atS: (Date.parse(time) - START_MS) / 1000 };
}

const END = { isEnd: true };

test('an epoch is starting up to its first step, productive up to its newest checkpoint, then lost', () => {
  const told = { firstStepMs: 80_000, checkpoint: 300, checkpointMs: 15_000 };
  const ended: Write[] = [
    [10, 'Running'],
    [100, 'Restarting', { ...END, told }],
  ];
  expect(life(...ended)).toEqual({
    phase: 'Restarting',
    atS: 100,
    waitingMs: 10_000,
    startingMs: 10_000,
    productiveMs: 65_000,
    pendingMs: 15_000,
    checkpoint: 300,
    stepped: true,
  });
  const later = { firstStepMs: 82_000, checkpoint: 310, checkpointMs: 9_000 };
  expect(life(...ended, [102, 'Running', { told: later }]), 'members told at the barrier').toEqual({
    phase: 'Running',
    atS: 102,
    waitingMs: 10_000,
    startingMs: 10_000,
    productiveMs: 73_000,
    lostMs: 7000,
    restartingMs: 2000,
    checkpoint: 310,
  });
});

test('a write in the middle accounts for what is decided', () => {
  const running: Write[] = [
    [10, 'Running'],
    [60, 'Running'],
  ];
  expect(life(...running)).toMatchObject({ atS: 10, phase: 'Running' });
  expect(life(...running, [70, 'Running', { told: { firstStepMs: 40_000 } }])).toMatchObject({
    atS: 30,
    startingMs: 20_000,
    stepped: true,
  });
  const told = { firstStepMs: 50_000, checkpoint: 5, checkpointMs: 1000 };
  expect(life(...running, [80, 'Running', { told }])).toMatchObject({
    atS: 79,
    productiveMs: 49_000,
  });
});

test('a worker that was restored tells nothing new with its old checkpoint', () => {
  const told = { firstStepMs: 80_000, checkpoint: 300, checkpointMs: 40_000 };
  const again = { firstStepMs: 45_000, checkpoint: 300, checkpointMs: 44_000 };
  expect(
    life(
      [10, 'Running'],
      [100, 'Restarting', { ...END, told }],
      [101, 'Running', { told }],
      [151, 'Restarting', { ...END, told: again }],
      [152, 'Running', { told: again }],
    ),
  ).toMatchObject({ productiveMs: 40_000, lostMs: 40_000 + 45_000, startingMs: 15_000 });
});

test.each<[string, Partial<Moment>, object]>([
  [
    'hung, as far as nothing was saved meanwhile',
    { hungMs: 30_000 },
    { hungMs: 30_000, lostMs: 10_000 },
  ],
  ['hung after it had saved', { hungMs: 70_000 }, { hungMs: 40_000 }],
])('the end of an epoch is %s', (_, more, expected) => {
  const told = { firstStepMs: 90_000, checkpoint: 3, checkpointMs: 40_000 };
  const made = life(
    [0, 'Running'],
    [100, 'Restarting', { ...END, told }],
    [100, 'Running', { told, ...more }],
  );
  expect(made).toEqual({
    phase: 'Running',
    atS: 100,
    startingMs: 10_000,
    productiveMs: 50_000,
    checkpoint: 3,
    ...expected,
  });
});

test.each<[string, Partial<Moment>, object]>([
  ['nothing', {}, { runningMs: 90_000 }],
  ['a phase, but no step', { told: { isReporting: true } }, { startingMs: 90_000 }],
  ['steps', { told: { firstStepMs: 60_000 } }, { startingMs: 30_000, runningMs: 60_000 }],
  ['a hang before the first step', { hungMs: Number.MAX_SAFE_INTEGER }, { hungMs: 90_000 }],
])('of workers that tell %s, and never a checkpoint, no work is known', (_, more, expected) => {
  const made = life([10, 'Running'], [100, 'Finished', more]);
  const { waitingMs: _w, phase: _p, atS: _a, ...sums } = made;
  expect(sums).toEqual(expected);
});

test('silence of members without streams is no start', () => {
  const told = { firstStepMs: 5000, checkpoint: 1, checkpointMs: 1000 };
  const first: Write[] = [
    [0, 'Running'],
    [10, 'Restarting', { ...END, told }],
    [10, 'Running', { told }],
  ];
  expect(life(...first, [30, 'Restarting', END], [30, 'Running'])).toMatchObject({
    startingMs: 25_000,
  });
  const unheard = { isHeard: false };
  expect(
    life(...first, [30, 'Restarting', { ...END, ...unheard }], [30, 'Running', unheard]),
  ).toMatchObject({ startingMs: 5000, runningMs: 20_000 });
});

test('success makes all work productive, and nothing is added after it', () => {
  const told = { firstStepMs: 80_000 };
  const done = life(
    [10, 'Running'],
    [100, 'Finished', { isSuccess: true, told }],
    [200, 'Finished'],
  );
  expect(done).toEqual({
    phase: 'Finished',
    atS: 100,
    waitingMs: 10_000,
    startingMs: 10_000,
    productiveMs: 80_000,
  });
  expect(life([10, 'Running'], [100, 'Finished', { isSuccess: true }])).toMatchObject({
    runningMs: 90_000,
  });
});

describe('the work since the newest checkpoint, when the JobSet is suspended', () => {
  const told = { firstStepMs: 80_000, checkpoint: 1, checkpointMs: 30_000 };
  const saved = { firstStepMs: 120_000, checkpoint: 2, checkpointMs: 48_000 };
  const suspended: Write[] = [
    [0, 'Running'],
    [100, 'Suspended', { told }],
  ];
  const sums = { startingMs: 20_000, productiveMs: 50_000, checkpoint: 1 };

  test('is pending until it is resumed', () => {
    const pending = { ...sums, phase: 'Suspended', pendingMs: 30_000, stepped: true };
    expect(life(...suspended)).toMatchObject(pending);
    expect(life(...suspended, [120, 'Suspended', { told: saved }])).toMatchObject(pending);
  });

  test.each<[string, GroupProgress, object]>([
    ['lost if nothing new was told', told, { lostMs: 30_000 }],
    ['saved if agents told of it', saved, { productiveMs: 80_000, checkpoint: 2 }],
  ])('is %s', (_, last, expected) => {
    const resumed: Write = [150, 'Waiting', { told: last }];
    const waited = { phase: 'Running', atS: 160, suspendedMs: 50_000, waitingMs: 10_000 };
    const whole = { ...sums, ...waited, ...expected };
    expect(life(...suspended, resumed, [160, 'Running'])).toEqual(whole);
    const failed = life(...suspended, [150, 'Finished', { told: last }]);
    expect(failed).toMatchObject({ ...expected, suspendedMs: 50_000 });
  });

  test('is none before the first step', () => {
    const starting = life([0, 'Running'], [100, 'Suspended', { told: { isReporting: true } }]);
    expect(starting).toMatchObject({ startingMs: 100_000, phase: 'Suspended' });
    expect(starting).not.toHaveProperty('pendingMs');
  });
});

test('an epoch that ends before its release decides about the one before', () => {
  const told = { firstStepMs: 80_000, checkpoint: 1, checkpointMs: 30_000 };
  const ended: Write[] = [
    [0, 'Running'],
    [100, 'Restarting', { ...END, told }],
    [120, 'Restarting'],
  ];
  expect(life(...ended), 'any other write waits').toMatchObject({ atS: 100, pendingMs: 30_000 });
  const after = life(...ended, [130, 'Restarting', END], [140, 'Running']);
  expect(after).toMatchObject({ lostMs: 30_000, restartingMs: 40_000 });
  expect(after).not.toHaveProperty('pendingMs');
});

test('a clock that was set back stops the accounting until it is there again', () => {
  expect(life([10, 'Running'], [5, 'Restarting', END], [8, 'Running'])).toEqual({
    phase: 'Running',
    atS: 10,
    waitingMs: 10_000,
  });
});

test('without agents all time of running workers is running', () => {
  const jobs = { isGroup: false };
  expect(
    life(
      [10, 'Running', jobs],
      [60, 'Running', jobs],
      [90, 'Restarting', jobs],
      [95, 'Running', jobs],
    ),
  ).toEqual({
    phase: 'Running',
    atS: 95,
    waitingMs: 10_000,
    runningMs: 80_000,
    restartingMs: 5000,
  });
});

test('whatever members claim, a write adds the time that has passed and no more', () => {
  const claim = fc.option(fc.oneof(fc.maxSafeNat(), fc.nat(200_000)), { nil: undefined });
  const write = fc.record({
    afterMs: fc.integer({ min: -100_000, max: 100_000 }),
    next: fc.constantFrom(...GOODPUT_PHASES),
    isEnd: fc.boolean(),
    isSuccess: fc.boolean(),
    isHeard: fc.boolean(),
    hungMs: claim,
    told: fc.record({ firstStepMs: claim, checkpoint: claim, checkpointMs: claim }),
  });
  fc.assert(
    fc.property(fc.array(write), (writes) => {
      let [goodput, nowMs]: [Goodput, number] = [
        { time: microTimeText(START_MS), phase: 'Waiting' },
        START_MS,
      ];
      for (const { afterMs, told, ...more } of writes) {
        nowMs += afterMs;
        const before = goodput;
        goodput = account(before, { ...more, isGroup: true, told: defined(told), nowMs });
        const [old, sums] = [sumsOf(before), sumsOf(goodput)];
        for (const name of ACCOUNTED) expect(sums[name]).toBeGreaterThanOrEqual(old[name]);
        const total = ACCOUNTED.reduce((sum, name) => sum + sums[name], goodput.pendingMs ?? 0);
        expect(total).toBe(Date.parse(goodput.time) - START_MS);
        expect(validate(STATUS, { goodput })).toEqual([]);
      }
    }),
  );
});
