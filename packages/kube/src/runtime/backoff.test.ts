import { describe, expect, it } from 'vitest';
import { Backoff } from './backoff.ts';
import { SeededRandom } from './memory/seeded-random.ts';

const LIMITS = { baseMs: 100, maxMs: 1_000, jitterFactor: 0.5 };

describe('Backoff', () => {
  it('doubles up to its limit, within its jitter, and begins again after a reset', () => {
    const backoff = new Backoff(new SeededRandom(1), LIMITS);
    for (const least of [100, 200, 400, 800, 1_000, 1_000]) {
      const delay = backoff.next();
      expect(delay).toBeGreaterThanOrEqual(least);
      expect(delay).toBeLessThanOrEqual(least * 1.5);
    }
    backoff.reset();
    expect(backoff.next()).toBeLessThanOrEqual(150);
  });

  it('spreads clients that failed together', () => {
    const delays = Array.from({ length: 100 }, (_, seed) =>
      Math.floor(new Backoff(new SeededRandom(seed), LIMITS).next()),
    );
    expect(new Set(delays).size).toBeGreaterThan(25);
  });
});
