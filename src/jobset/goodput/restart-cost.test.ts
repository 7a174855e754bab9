import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { GroupProgress } from '../progress/group-progress.ts';
import {
  at,
  CREATED_MS,
  GROUP,
  job,
  lived,
  type Moment,
  oneAt,
  READY,
  RELEASED,
  RUNS,
  told,
} from './lives.fixture.ts';
import { type RestartCost, restartCosts } from './restart-cost.ts';

function costs(moments: readonly Moment[], atS = 300, reported = {}): Record<string, RestartCost> {
  const jobSet = lived(GROUP, moments);
  return Object.fromEntries(restartCosts(jobSet, CREATED_MS + atS * 1000, reported));
}

const FAILED_AT_100: readonly Moment[] = [...RELEASED, [100, { members: oneAt(2), ...told(100) }]];
const RELEASED_AT_103: readonly Moment[] = [
  ...FAILED_AT_100,
  [103, { ...at(2, RUNS), ...told(103) }],
  [103, { reported: () => ({}) }],
];
const LOST = { lostMs: 20_000, hungMs: 0 };

test('the cost of a restart grows with what is known', () => {
  expect(costs(FAILED_AT_100), 'members may tell of a newer checkpoint').toEqual({});
  expect(costs(RELEASED_AT_103)).toEqual({
    1: { ...LOST, restartingMs: 3000, totalMs: 23_000 },
  });
  const stepped = { firstStepMs: 190_000 };
  const whole = { ...LOST, restartingMs: 3000, startingMs: 7000, totalMs: 30_000 };
  expect(costs(RELEASED_AT_103, 300, stepped), 'by what members tell a reader').toEqual({
    1: whole,
  });
  const again: readonly Moment[] = [
    ...RELEASED_AT_103,
    [150, { members: oneAt(3), reported: () => ({ firstStepMs: 40_000 }) }],
  ];
  expect(costs(again), 'the end of the next is pending').toEqual({ 1: whole });
  expect(
    costs([...again, [160, { ...at(3, RUNS), reported: () => ({ firstStepMs: 50_000 }) }]]),
  ).toEqual({
    1: whole,
    2: { lostMs: 40_000, hungMs: 0, restartingMs: 10_000, totalMs: 50_000 },
  });
});

test('an epoch that is never released has no start', () => {
  const moments: readonly Moment[] = [
    ...FAILED_AT_100,
    [120, { members: oneAt(3), ...told(120) }],
    [130, { ...at(3, RUNS), reported: () => ({}) }],
  ];
  expect(costs(moments)).toEqual({
    1: { ...LOST, restartingMs: 20_000, totalMs: 40_000 },
    2: { lostMs: 0, hungMs: 0, restartingMs: 10_000, totalMs: 10_000 },
  });
});

test('of work that nothing judges, only the time down is known', () => {
  const silent: readonly Moment[] = [
    ...RELEASED,
    [100, { members: oneAt(2) }],
    [103, at(2, RUNS)],
    [150, { members: oneAt(3) }],
    [151, at(3, RUNS)],
  ];
  expect(costs(silent)).toEqual({
    1: { hungMs: 0, restartingMs: 3000, totalMs: 3000 },
    2: { hungMs: 0, restartingMs: 1000, totalMs: 1000 },
  });
});

test('the failure that ends the JobSet costs its work alone', () => {
  const moments: readonly Moment[] = [
    [0, { spec: { failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 0 } } }],
    [30, at(1, job(READY))],
    [100, { ...at(2, RUNS), ...told(100) }],
  ];
  expect(costs(moments)).toEqual({ 1: { ...LOST, totalMs: 20_000 } });
});

test('without courses, the phases tell how long the group was down', () => {
  const moments: readonly Moment[] = [
    [0, { lacks: new Set(['goodput.course']) }],
    ...RELEASED_AT_103.slice(1),
  ];
  expect(costs(moments)).toEqual({ 1: { restartingMs: 3000, totalMs: 3000 } });
});

test('what a restart cost never changes once it is over, however the ages of agents drift', () => {
  const later = fc.record({
    atS: fc.integer({ min: 200, max: 100_000 }),
    drift: fc.double({ min: 0.99, max: 1.01, noNaN: true }),
  });
  const steps = (atS: number, drift: number): GroupProgress => ({
    firstStepMs: Math.round((atS - 110) * 1000 * drift),
    startMs: 7000,
    checkpoint: 5,
    checkpointMs: 1000,
  });
  const whole = { 1: { ...LOST, restartingMs: 3000, startingMs: 7000, totalMs: 30_000 } };
  fc.assert(
    fc.property(later, fc.option(later), ({ atS, drift }, end) => {
      expect(costs(RELEASED_AT_103, atS, steps(atS, drift))).toEqual(whole);
      if (end === null) return;
      const endS = atS + end.atS;
      const told = { reported: () => steps(endS, end.drift) };
      const ended: Moment = [endS, { members: oneAt(3), ...told }];
      const next: Moment = [endS + 5, { ...at(3, RUNS), ...told }];
      expect(costs([...RELEASED_AT_103, ended], endS + 1)).toMatchObject(whole);
      expect(costs([...RELEASED_AT_103, ended, next], endS + 10)).toMatchObject(whole);
    }),
    { numRuns: 50 },
  );
});
