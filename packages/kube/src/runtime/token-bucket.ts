import type { Clock } from './ports/clock.ts';

export interface Rate {
  /** The average rate. */
  readonly perSecond: number;
  /** How many may come at once after a pause. */
  readonly burst: number;
}

/** Counts how much of a rate is used. It may be in debt, which later time pays. */
export class TokenBucket {
  readonly #rate: Rate;
  readonly #clock: Clock;
  #tokens: number;
  #seenMs: number;

  constructor(rate: Rate, clock: Clock) {
    this.#rate = rate;
    this.#clock = clock;
    this.#tokens = rate.burst;
    this.#seenMs = clock.monotonic();
  }

  /** Takes one token even if there is none. Returns how long to wait until it is paid for. */
  take(): number {
    this.#refill();
    this.#tokens--;
    return this.#tokens < 0 ? (-this.#tokens * 1000) / this.#rate.perSecond : 0;
  }

  /** Takes a token only if there is one. */
  tryTake(): boolean {
    this.#refill();
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }

  /** Returns a token that was taken and not used. */
  giveBack(): void {
    this.#refill();
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + 1);
  }

  #refill(): void {
    const nowMs = this.#clock.monotonic();
    const earned = ((nowMs - this.#seenMs) * this.#rate.perSecond) / 1000;
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + earned);
    this.#seenMs = nowMs;
  }
}
