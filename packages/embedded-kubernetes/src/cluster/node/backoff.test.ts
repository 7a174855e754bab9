import { describe, expect, it } from 'vitest';
import {
  BACKOFF_RESET_MS,
  type Backoff,
  backoffLimits,
  earliestStartMs,
  nextBackoff,
} from './backoff.ts';

/** The delays before each start of a container that lives for `lifeMs` every time. */
function delays(lifeMs: number, settings: Parameters<typeof backoffLimits>[0], count: number) {
  const limits = backoffLimits(settings);
  let backoff: Backoff | undefined;
  let nowMs = 0;
  return Array.from({ length: count }, () => {
    const finishedMs = nowMs + lifeMs;
    nowMs = earliestStartMs(backoff, finishedMs);
    backoff = nextBackoff(backoff, finishedMs, nowMs, limits);
    return (nowMs - finishedMs) / 1000;
  });
}

describe('the back-off of a crash loop', () => {
  it.each([
    ['by default', {}, [0, 10, 20, 40, 80, 160, 300, 300]],
    ['with the reduced decay', { reduceDefaultDecay: true }, [0, 1, 2, 4, 8, 16, 32, 60, 60]],
    ['with a maximum', { maxContainerRestartPeriodMs: 30_000 }, [0, 10, 20, 30, 30]],
    ['with a maximum below the first delay', { maxContainerRestartPeriodMs: 2_000 }, [0, 2, 2]],
    [
      'with both, of which the maximum wins',
      { reduceDefaultDecay: true, maxContainerRestartPeriodMs: 300_000 },
      [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300],
    ],
  ])('%s', (_, settings, expected) => {
    expect(delays(1_000, settings, expected.length)).toEqual(expected);
  });

  it('continues after a run of ten minutes', () => {
    expect(delays(BACKOFF_RESET_MS, {}, 4)).toEqual([0, 10, 20, 40]);
  });

  it.each([
    ['by default', {}],
    ['with a small maximum too', { maxContainerRestartPeriodMs: 1_000 }],
  ])('begins again after a longer run, %s', (_, settings) => {
    expect(delays(BACKOFF_RESET_MS + 1, settings, 4)).toEqual([0, 0, 0, 0]);
  });

  it.each([999, 300_001])('refuses a maximum of %d ms', (maxContainerRestartPeriodMs) => {
    expect(() => backoffLimits({ maxContainerRestartPeriodMs })).toThrow(
      'maxContainerRestartPeriod must be between 1s and 300s',
    );
  });
});
