import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Ledger } from './ledger.ts';
import { type Pace, Training } from './training.ts';

const PACE: Pace = { stepMs: 10, checkpointSteps: 3 };

/** A group whose first step is done at 100 ms. */
function started(pace = PACE): { readonly training: Training; readonly ledger: Ledger } {
  const ledger = new Ledger();
  ledger.pass(40, 'Waiting');
  const training = new Training(pace, ledger);
  training.begin(50, 50);
  training.stepDone();
  return { training, ledger };
}

const NONE = { Waiting: 40, Starting: 60, Productive: 0, Lost: 0, Hung: 0, Restarting: 0 };

describe('training', () => {
  it('is lost from the newest checkpoint to the end', () => {
    const { training, ledger } = started();
    training.skipTo(165);
    expect([training.step, training.checkpoint, training.checkpointMs]).toEqual([7, 6, 150]);
    training.end(167, false);
    expect(ledger.sums).toEqual({ ...NONE, Productive: 50, Lost: 17 });
    expect(ledger.elapsedMs).toBe(167);
    expect(ledger.effective).toBeCloseTo(50 / 167);
  });

  it('that hangs is lost up to its last step, and hung after it', () => {
    const { training, ledger } = started();
    training.skipTo(165);
    training.hang();
    expect(training.nextStepMs).toBe(Number.POSITIVE_INFINITY);
    training.end(1000, true);
    expect(ledger.sums).toEqual({ ...NONE, Productive: 50, Lost: 10, Hung: 840 });
  });

  it('that never stepped is a start', () => {
    const { training, ledger } = started();
    training.end(105, false);
    ledger.pass(200, 'Restarting');
    training.release();
    training.begin(210, 50);
    training.end(230, false);
    expect(ledger.sums).toEqual({ ...NONE, Lost: 5, Restarting: 95, Starting: 90 });
  });

  it('continues from the newest checkpoint', () => {
    const { training } = started();
    training.skipTo(165);
    training.end(167, false);
    training.release();
    training.begin(200, 50);
    expect([training.checkpoint, training.checkpointMs]).toEqual([6, undefined]);
    training.stepDone();
    expect([training.step, training.firstStepMs]).toEqual([7, 250]);
  });

  it('has the same result whether steps are done one by one or at once', () => {
    const arbitrary = fc.record({
      stepMs: fc.integer({ min: 1, max: 50 }),
      checkpointSteps: fc.integer({ min: 1, max: 20 }),
      stops: fc.array(fc.integer({ min: 1, max: 2000 }), { minLength: 1, maxLength: 5 }),
    });
    fc.assert(
      fc.property(arbitrary, ({ stops, ...pace }) => {
        const [one, all] = [started(pace), started(pace)];
        let nowMs = 100;
        for (const stop of stops) {
          nowMs += stop;
          while (one.training.nextStepMs <= nowMs) one.training.stepDone();
          all.training.skipTo(nowMs);
        }
        for (const { training } of [one, all]) training.end(nowMs, false);
        expect(all.ledger.sums).toEqual(one.ledger.sums);
        expect(all.training).toMatchObject({
          step: one.training.step,
          checkpoint: one.training.checkpoint,
          checkpointMs: one.training.checkpointMs,
          lastStepMs: one.training.lastStepMs,
        });
      }),
    );
  });
});
