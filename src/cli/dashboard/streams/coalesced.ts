/** Work that follows changes, but not each of them. */
import type { Clock, Timer } from '@lockstep/kube/runtime/ports/clock.ts';

/** Pages do not show more pictures of a cluster, and people do not read faster. */
const LEAST_INTERVAL_MS = 250;
/** The rest of the time is for others. */
const MAX_SHARE = 0.25;

/** Calls back soon after it is asked to, as often as is cheap. */
export class Coalesced {
  readonly #clock: Clock;
  readonly #work: () => void;
  #timer: Timer | undefined;
  #notBeforeMs = 0;
  #isStopped = false;

  constructor(clock: Clock, work: () => void) {
    this.#clock = clock;
    this.#work = work;
  }

  ask(): void {
    if (this.#timer !== undefined || this.#isStopped) return;
    const waitMs = Math.max(0, this.#notBeforeMs - this.#clock.monotonic());
    this.#timer = this.#clock.setTimer(waitMs, () => {
      this.#timer = undefined;
      const startMs = this.#clock.monotonic();
      this.#work();
      const endMs = this.#clock.monotonic();
      const restMs = (endMs - startMs) / MAX_SHARE;
      this.#notBeforeMs = endMs + Math.max(LEAST_INTERVAL_MS, restMs);
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }
}
