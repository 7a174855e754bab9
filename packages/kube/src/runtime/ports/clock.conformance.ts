/** The tests that every implementation of the port of time must pass. */
import { describe, expect, it } from 'vitest';
import { type Clock, microTimestamp, sleep, timestamp } from './clock.ts';

/** A clock under test, and the way in which time passes for it. */
export interface ClockUnderTest {
  readonly clock: Clock;
  /** Resolves when at least `ms` have passed on the clock and due timers have fired. */
  pass(ms: number): Promise<void>;
}

export function clockConformance(name: string, make: () => ClockUnderTest): void {
  describe(`${name} as a Clock`, () => {
    it('fires a timer once, after at least its delay, and never within the call', async () => {
      const { clock, pass } = make();
      const start = clock.monotonic();
      const fired: number[] = [];
      clock.setTimer(8, () => fired.push(clock.monotonic() - start));
      expect(fired).toEqual([]);
      await pass(30);
      expect(fired).toHaveLength(1);
      expect(fired[0]).toBeGreaterThanOrEqual(8);
    });

    it('fires a delay of zero, a negative and an impossible one soon, but not at once', async () => {
      const { clock, pass } = make();
      const fired: string[] = [];
      clock.setTimer(0, () => fired.push('zero'));
      clock.setTimer(-5, () => fired.push('negative'));
      clock.setTimer(Number.NaN, () => fired.push('not a number'));
      expect(fired).toEqual([]);
      await pass(2);
      expect(fired).toEqual(['zero', 'negative', 'not a number']);
    });

    it('fires in the order of due times, and in the order of calls among equals', async () => {
      const { clock, pass } = make();
      const fired: string[] = [];
      clock.setTimer(20, () => fired.push('late'));
      clock.setTimer(5, () => fired.push('early'));
      clock.setTimer(5, () => fired.push('early, armed later'));
      await pass(40);
      expect(fired).toEqual(['early', 'early, armed later', 'late']);
    });

    it('fires thousands in the order of calls, though they are due at almost the same time', async () => {
      const { clock, pass } = make();
      const calls = Array.from({ length: 5000 }, (_, call) => call);
      const fired: number[] = [];
      for (const call of calls) clock.setTimer(5, () => fired.push(call));
      await pass(50);
      expect(fired).toEqual(calls);
    });

    it('forgets a cancelled timer, and cancelling again or after it fired is harmless', async () => {
      const { clock, pass } = make();
      let fired = 0;
      const cancelled = clock.setTimer(5, () => fired++);
      cancelled.cancel();
      cancelled.cancel();
      const done = clock.setTimer(5, () => fired++);
      await pass(20);
      done.cancel();
      expect(fired).toBe(1);
    });

    it('keeps a delay that is longer than the machine’s own timers allow', async () => {
      const { clock, pass } = make();
      let fired = false;
      const timer = clock.setTimer(2 ** 32 + 5, () => {
        fired = true;
      });
      await pass(20);
      timer.cancel();
      expect(fired).toBe(false);
    });

    it('lets promise reactions run before the next timer', async () => {
      const { clock, pass } = make();
      const order: string[] = [];
      clock.setTimer(1, () => {
        void Promise.resolve()
          .then(() => undefined)
          .then(() => order.push('reaction'));
      });
      clock.setTimer(1, () => order.push('next timer'));
      await pass(10);
      expect(order).toEqual(['reaction', 'next timer']);
    });

    it('never goes back, and moves wall and monotonic time together', async () => {
      const { clock, pass } = make();
      const [wall, elapsed] = [clock.now(), clock.monotonic()];
      await pass(10);
      expect(clock.monotonic() - elapsed).toBeGreaterThanOrEqual(10);
      // Wall time is in whole milliseconds.
      expect(clock.now() - wall).toBeGreaterThanOrEqual(9);
    });

    it('wakes a sleeper, and rejects with the reason when the signal aborts', async () => {
      const { clock, pass } = make();
      const reason = new Error('enough');
      const aborter = new AbortController();
      const slept = sleep(clock, 5).then(() => 'slept');
      const aborted = sleep(clock, 1e9, aborter.signal).catch((error: unknown) => error);
      await pass(10);
      aborter.abort(reason);
      expect(await slept).toBe('slept');
      expect(await aborted).toBe(reason);
      await expect(sleep(clock, 1, aborter.signal)).rejects.toBe(reason);
    });

    it('is written as Kubernetes writes times', () => {
      const { clock } = make();
      expect(timestamp(clock)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      expect(microTimestamp(clock)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    });
  });
}
