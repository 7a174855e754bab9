import { expect, test } from 'vitest';
import { ZERO } from '../../../test/fixtures/planned.ts';
import type { JobSetStatus } from '../jobset-status.ts';
import type { Progress } from '../progress/progress.ts';
import { GroupWork } from './group-work.ts';

function released(syncedEpoch: number, isOver = false): JobSetStatus {
  const over = { type: 'Completed', status: 'True', reason: 'R', message: '' } as const;
  const conditions = isOver ? [{ ...over, lastTransitionTime: '2026-01-01T00:00:00Z' }] : [];
  const replicatedJobsStatus = [{ name: 'w', ...ZERO, syncedEpoch }];
  return { conditions, replicatedJobsStatus };
}

const STEPPED = { step: 5, silentMs: 0, firstStepMs: 400 };

function running(): GroupWork {
  const work = new GroupWork();
  work.see(released(0), 0);
  work.see(released(1), 1000);
  return work;
}

test('the earliest first step counts, and the earliest report of the highest checkpoint', () => {
  const work = running();
  expect(work.at(1500)).toEqual({});
  work.take({ ...STEPPED, checkpoint: 4, checkpointMs: 50 }, 2000);
  work.take({ ...STEPPED, checkpoint: 4, checkpointMs: 70 }, 2000);
  work.take({ ...STEPPED, firstStepMs: 300, checkpoint: 3, checkpointMs: 500 }, 2000);
  expect(work.at(3000)).toEqual({
    firstStepMs: 1400,
    startMs: 600,
    checkpoint: 4,
    checkpointMs: 1070,
    restored: 3,
    isReporting: true,
  });
});

const BEFORE_ITS_STEP = { checkpoint: 7, checkpointMs: 400 };

test.each<[string, readonly Partial<Progress>[], number, number | null | undefined]>([
  ['one that a worker reports with its first step', [BEFORE_ITS_STEP], 2000, 7],
  [
    'it still, when there is a newer one',
    [BEFORE_ITS_STEP, { checkpoint: 9, checkpointMs: 0 }],
    9000,
    7,
  ],
  [
    'one of a member that makes its step a moment later',
    [{}, { firstStepMs: 0, checkpoint: 7, checkpointMs: 0 }],
    2000,
    7,
  ],
  ['not known before all members can have told', [{}], 11_000, undefined],
  ['none after that', [{ checkpoint: 7, checkpointMs: 399 }], 13_000, null],
  ['none of an agent that tells no ages', [{ checkpoint: 7 }], 13_000, null],
])('what an epoch continues from is %s', (_, reports, atMs, expected) => {
  const work = running();
  for (const report of reports) work.take({ ...STEPPED, ...report }, 2000);
  expect(work.at(atMs).restored).toBe(expected);
});

test('what an epoch continues from is not known of a member that makes no steps long after the others', () => {
  const work = running();
  work.take(STEPPED, 2000);
  work.take({ silentMs: 0, checkpoint: 7, checkpointMs: 0 }, 2700);
  expect(work.at(3000)).not.toHaveProperty('restored');
});

test('a release makes old what was reported before, and what a late agent still reports', () => {
  const work = running();
  work.take(STEPPED, 2000);
  work.see(released(1), 2500);
  expect(work.at(3000)).toMatchObject({ firstStepMs: 1400 });
  work.see(released(2), 4000);
  expect(work.at(4000)).toEqual({});
  work.take({ ...STEPPED, silentMs: 200, checkpoint: 4, checkpointMs: 3000 }, 4100);
  expect(work.at(4200)).toEqual({});
  work.take(STEPPED, 4500);
  expect(work.at(4500)).toMatchObject({ firstStepMs: 400 });
});

test('a new leader takes what agents repeat, however old', () => {
  const work = new GroupWork();
  work.see(released(7), 50);
  work.take({ ...STEPPED, firstStepMs: 90_000 }, 100);
  expect(work.at(100)).toMatchObject({ firstStepMs: 90_000 });
});

test('an agent that tells no age of a checkpoint has reported it when it was heard first', () => {
  const work = running();
  const { firstStepMs: _, ...old } = STEPPED;
  work.take({ ...old, checkpoint: 4 }, 2000);
  work.take({ ...old, checkpoint: 4 }, 6000);
  expect(work.at(7000)).toMatchObject({ checkpoint: 4, checkpointMs: 5000 });
});

test('nothing is kept of a JobSet that is over', () => {
  const work = running();
  work.take(STEPPED, 2000);
  work.see(released(1, true), 5000);
  work.take(STEPPED, 6000);
  expect(work.at(6000)).toEqual({});
});

test('the time to the first step stays as it was, however fast the clocks of agents are', () => {
  const work = running();
  work.take({ ...STEPPED, firstStepMs: 400 }, 2000);
  work.take({ ...STEPPED, firstStepMs: 450 }, 2000);
  for (const atMs of [60_000, 3_600_000, 86_400_000]) {
    work.take({ ...STEPPED, firstStepMs: Math.round((atMs - 1550) * 1.001) }, atMs);
    expect(work.startMs).toBe(550);
  }
});

test.each([
  ['a leader that did not see the release, by the stamp', {}, 8000],
  ['nobody after the stamp has moved', { stepped: true as const }, undefined],
  ['nobody before the release', { phase: 'Restarting' as const }, undefined],
])('the time to the first step is known to %s', (_, more, startMs) => {
  const work = new GroupWork();
  const goodput = { time: '2026-01-01T00:00:00Z', phase: 'Running' as const, ...more };
  work.see({ ...released(1), goodput }, 50_000, Date.parse(goodput.time) + 20_000);
  work.take({ ...STEPPED, firstStepMs: 12_000 }, 50_000);
  expect(work.startMs).toBe(startMs);
});
