import { describe, expect, it } from 'vitest';
import { ProgressReports } from './member-progress.ts';

const POD = 'pod-uid';
const PING_MS = 4000;

/** Steps of a worker at the times of its pings, from the first one on. */
function stepping(steps: readonly number[], reports = new ProgressReports()): ProgressReports {
  for (const [i, step] of steps.entries()) reports.take(POD, { step, silentMs: 0 }, i * PING_MS);
  return reports;
}

/** So many pings, with that many steps between two of them. */
function evenly(pings: number, steps: number): readonly number[] {
  return Array.from({ length: pings + 1 }, (_, i) => i * steps);
}

describe('the progress of a member', () => {
  it('is what its agent reported last', () => {
    const reports = new ProgressReports();
    expect(reports.progressOf(POD)).toBeUndefined();
    reports.take(POD, { step: 330, checkpoint: 300, silentMs: 12 }, 1000);
    reports.take(POD, { step: 331, phase: 'save', silentMs: 7 }, 2000.4);
    expect(reports.progressOf(POD)).toEqual({
      step: 331,
      phase: 'save',
      silentMs: 7,
      heardMs: 2000,
    });
    expect(reports.progressOf('another')).toBeUndefined();
  });

  it('has the deaths of standbys as long as its agent tells of them', () => {
    const reports = new ProgressReports();
    const standbyDeaths = { count: 4, last: { exitCode: 1 } };
    reports.take(POD, { silentMs: 0, standbyDeaths }, 1000);
    expect(reports.at(POD, 1000)).toEqual({ silentMs: 0, standbyDeaths });
    reports.take(POD, { silentMs: 0 }, 2000);
    expect(reports.at(POD, 2000)).toEqual({ silentMs: 0 });
  });

  it('is silent up to the time when a reader asks', () => {
    const reports = stepping([1]);
    expect(reports.at(POD, 2500)).toEqual({ step: 1, silentMs: 2500 });
    reports.take(POD, { silentMs: Number.MAX_SAFE_INTEGER }, 3000);
    expect(reports.at(POD, 9000)).toEqual({ silentMs: Number.MAX_SAFE_INTEGER });
    expect(reports.at('another', 9000)).toBeUndefined();
  });

  it('tells how old the first step and the checkpoint are when a reader asks', () => {
    const reports = new ProgressReports();
    const told = { step: 5, checkpoint: 4, silentMs: 1, firstStepMs: 900, checkpointMs: 30 };
    reports.take(POD, told, 1000);
    expect(reports.at(POD, 1500)).toMatchObject({ firstStepMs: 1400, checkpointMs: 530 });
    reports.take(POD, { step: 1, silentMs: 0 }, 2000);
    expect(reports.at(POD, 2500)).toEqual({ step: 1, silentMs: 500 });
  });

  it('is forgotten with a message that has none, and with the Pod', () => {
    const reports = stepping([1, 2]);
    reports.take(POD, undefined, 9000);
    expect(reports.progressOf(POD)).toBeUndefined();
    stepping([1, 2], reports);
    reports.forget(POD);
    expect(reports.progressOf(POD)).toBeUndefined();
  });
});

describe('the rate of a member', () => {
  it.each<[string, readonly number[], object | undefined]>([
    ['is unknown at first', [5, 9, 12], undefined],
    ['is known after some pings', [5, 9, 12, 15], { steps: 10, ms: 12_000 }],
    ['is that of the last one to two minutes', evenly(100, 10), { steps: 250, ms: 100_000 }],
    [
      'spans eight steps where steps are slow',
      evenly(900, 1 / 20).map(Math.floor),
      {
        steps: 13,
        ms: 1_040_000,
      },
    ],
    [
      'is counted anew from a step that goes back',
      [...evenly(50, 9), 0, 4, 8, 12],
      {
        steps: 12,
        ms: 12_000,
      },
    ],
    ['is 0 where steps stand still', [3, 3, 3, 3, 3], { steps: 0, ms: 16_000 }],
    [
      'holds the largest steps',
      [0, 1, 2, Number.MAX_SAFE_INTEGER],
      {
        steps: Number.MAX_SAFE_INTEGER,
        ms: 12_000,
      },
    ],
  ])('%s', (_what, steps, expected) => {
    expect(stepping(steps).progressOf(POD)?.recent).toEqual(expected);
  });

  it('falls while a member stands still, as long as its agent reports', () => {
    const stalled = [...evenly(60, 10), ...Array.from({ length: 60 }, () => 600)];
    const { steps = 0, ms = 1 } = stepping(stalled).progressOf(POD)?.recent ?? {};
    expect((steps * 1000) / ms).toBeLessThan(1.5);
  });

  it('begins with the first step, not with the phases before it', () => {
    const reports = new ProgressReports();
    for (let i = 0; i < 9; i++) reports.take(POD, { phase: 'compile', silentMs: 0 }, i * PING_MS);
    for (let i = 9; i < 13; i++) reports.take(POD, { step: i, silentMs: 0 }, i * PING_MS);
    expect(reports.progressOf(POD)?.recent).toEqual({ steps: 3, ms: 12_000 });
  });
});
