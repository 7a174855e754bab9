/** Draws from a seeded source of chance. */
import type { Random } from '@lockstep/kube/runtime/ports/random.ts';

const MAX_CLOCK_SKEW_MS = 300_000;
/** Which share of scenarios has long bursts: in these, a restart or a suspend meets the next act half-way. */
const LONG_BURSTS_SHARE = 0.3;
const LONG_BURSTS = { share: 0.7, ms: 4000 };
const BURSTS = { share: 0.4, ms: 50 };

/** A whole number from 0 to `below` - 1. */
export function pick(random: Random, below: number): number {
  return Math.floor(random.next() * below);
}

export function one<T>(random: Random, of: readonly T[]): T {
  return of[pick(random, of.length)] as T;
}

/** How far a clock is ahead, in milliseconds; negative: behind. */
export function skew(random: Random): number {
  return pick(random, 2 * MAX_CLOCK_SKEW_MS) - MAX_CLOCK_SKEW_MS;
}

/** One of `kinds`, as often as its weight says relative to the others'. */
export function weighted<K extends string>(
  random: Random,
  kinds: readonly K[],
  weights: Readonly<Record<K, number>>,
): K {
  const total = kinds.reduce((sum, kind) => sum + weights[kind], 0);
  let left = random.next() * total;
  for (const kind of kinds) {
    left -= weights[kind];
    if (left < 0) return kind;
  }
  throw new Error('a scenario needs at least one kind of act');
}

/** Which share of the acts of a scenario follows the last one at once, and how soon. */
export function burstsOf(random: Random): typeof BURSTS {
  return random.next() < LONG_BURSTS_SHARE ? LONG_BURSTS : BURSTS;
}
