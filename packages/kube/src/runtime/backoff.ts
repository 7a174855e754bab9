import { jitter, type Random } from './ports/random.ts';

export interface BackoffLimits {
  readonly baseMs: number;
  readonly maxMs: number;
  /** Each delay is stretched by a random share of up to this. */
  readonly jitterFactor: number;
}

/**
 * Delays that double with every failure in a row, spread so that many clients do not act in phase.
 */
export class Backoff {
  readonly #random: Random;
  readonly #limits: BackoffLimits;
  #failures = 0;

  constructor(random: Random, limits: BackoffLimits) {
    this.#random = random;
    this.#limits = limits;
  }

  /** The delay after one more failure, in milliseconds. */
  next(): number {
    const { baseMs, maxMs, jitterFactor } = this.#limits;
    const delay = Math.min(maxMs, baseMs * 2 ** this.#failures);
    if (delay < maxMs) this.#failures++;
    return jitter(this.#random, delay, jitterFactor);
  }

  /** Call it after a success: the next delay is the shortest one again. */
  reset(): void {
    this.#failures = 0;
  }
}
