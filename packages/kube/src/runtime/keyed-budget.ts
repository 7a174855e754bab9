/** A rate limit per key. */
import type { Clock } from './ports/clock.ts';
import { type Rate, TokenBucket } from './token-bucket.ts';

/** Beyond this number the oldest keys start again: too lenient is better than unbounded memory. */
const MAX_KEYS = 65_536;

/** One token bucket for each of many keys, such as Pods. */
export class KeyedBudget {
  readonly #rate: Rate;
  readonly #clock: Clock;
  /** The time in which an unused bucket fills up, so that it can be forgotten. */
  readonly #fillMs: number;
  #newer = new Map<string, TokenBucket>();
  #older = new Map<string, TokenBucket>();
  #turnedMs: number;

  constructor(rate: Rate, clock: Clock) {
    this.#rate = rate;
    this.#clock = clock;
    this.#fillMs = (rate.burst / rate.perSecond) * 1000;
    this.#turnedMs = clock.monotonic();
  }

  of(key: string): TokenBucket {
    const nowMs = this.#clock.monotonic();
    if (nowMs - this.#turnedMs >= this.#fillMs || this.#newer.size >= MAX_KEYS) {
      this.#older = nowMs - this.#turnedMs >= 2 * this.#fillMs ? new Map() : this.#newer;
      this.#newer = new Map();
      this.#turnedMs = nowMs;
    }
    let bucket = this.#newer.get(key);
    if (bucket === undefined) {
      bucket = this.#older.get(key) ?? new TokenBucket(this.#rate, this.#clock);
      this.#newer.set(key, bucket);
    }
    return bucket;
  }
}
