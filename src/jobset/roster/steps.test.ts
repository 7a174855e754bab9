import { describe, expect, it } from 'vitest';
import { StepReport } from './steps.ts';

const PING_MS = 4000;

/** Steps of a worker at the times of its pings, from the first one on. */
function stepping(steps: readonly number[]): StepReport {
  let stepped: StepReport | undefined;
  for (const [i, step] of steps.entries()) {
    const progress = { step, silentMs: 0 };
    if (stepped === undefined) stepped = new StepReport(progress, i * PING_MS);
    else stepped.take(progress, i * PING_MS);
  }
  return stepped ?? new StepReport({ silentMs: 0 }, 0);
}

/** The rate when the last ping arrives. */
function rateAfter(steps: readonly number[]): unknown {
  return stepping(steps).at((steps.length - 1) * PING_MS).recent;
}

/** So many pings, with that many steps between two of them. */
function evenly(pings: number, steps: number): readonly number[] {
  return Array.from({ length: pings + 1 }, (_, i) => i * steps);
}

describe('the progress of a member', () => {
  it('is what its agent reported last', () => {
    const report = new StepReport({ step: 330, checkpoint: 300, silentMs: 12 }, 1000);
    report.take({ step: 331, phase: 'save', silentMs: 7 }, 2000.4);
    expect(report.at(2000)).toEqual({ step: 331, phase: 'save', silentMs: 7 });
  });

  it('has the deaths of standbys as long as its agent reports them', () => {
    const standbyDeaths = { count: 4, last: { exitCode: 1 } };
    const report = new StepReport({ silentMs: 0, standbyDeaths }, 1000);
    expect(report.at(1000)).toEqual({ silentMs: 0, standbyDeaths });
    report.take({ silentMs: 0 }, 2000);
    expect(report.at(2000)).toEqual({ silentMs: 0 });
  });

  it('is silent up to the time when a reader asks', () => {
    const report = stepping([1]);
    expect(report.at(2500)).toEqual({ step: 1, silentMs: 2500 });
    report.take({ silentMs: Number.MAX_SAFE_INTEGER }, 3000);
    expect(report.at(9000)).toEqual({ silentMs: Number.MAX_SAFE_INTEGER });
  });

  it('has the ranks that lag, whose silence grows too', () => {
    const lag = [{ local: 3, step: 4, silentMs: 100 }];
    const report = new StepReport({ silentMs: 0, ranks: 8, lag, rest: { silentMs: 5 } }, 1000);
    expect(report.at(1500)).toMatchObject({
      ranks: 8,
      lag: [{ local: 3, step: 4, silentMs: 600 }],
      rest: { silentMs: 505 },
    });
    report.take({ silentMs: 0, ranks: 8 }, 2000);
    expect(report.at(2000)).toEqual({ silentMs: 0, ranks: 8 });
  });

  it('says how old the first step and the checkpoint are when a reader asks', () => {
    const said = { step: 5, checkpoint: 4, silentMs: 1, firstStepMs: 900, checkpointMs: 30 };
    const report = new StepReport(said, 1000);
    expect(report.at(1500)).toMatchObject({ firstStepMs: 1400, checkpointMs: 530 });
    report.take({ step: 1, silentMs: 0 }, 2000);
    expect(report.at(2500)).toEqual({ step: 1, silentMs: 500 });
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
    expect(rateAfter(steps)).toEqual(expected);
  });

  it('falls while a member stands still, as long as its agent reports', () => {
    const stalled = [...evenly(60, 10), ...Array.from({ length: 60 }, () => 600)];
    const { steps = 0, ms = 1 } = stepping(stalled).at(stalled.length * PING_MS).recent ?? {};
    expect((steps * 1000) / ms).toBeLessThan(1.5);
  });

  it('begins with the first step, not with the phases before it', () => {
    const report = new StepReport({ phase: 'compile', silentMs: 0 }, 0);
    for (let i = 1; i < 9; i++) report.take({ phase: 'compile', silentMs: 0 }, i * PING_MS);
    for (let i = 9; i < 13; i++) report.take({ step: i, silentMs: 0 }, i * PING_MS);
    expect(report.at(12 * PING_MS).recent).toEqual({ steps: 3, ms: 12_000 });
  });
});
