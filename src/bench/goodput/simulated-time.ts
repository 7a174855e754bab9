/**
 * Virtual time for a simulation in which nothing is asynchronous: a hundred times as fast as a
 * virtual clock, which has to let promises react between two timers.
 */

import { type PendingTimer, TimerQueue } from '@lockstep/kube/runtime/memory/timer-queue.ts';
import type { Timer } from '@lockstep/kube/runtime/ports/clock.ts';

/** Far more than a restart needs. */
const MAX_FIRED_PER_INSTANT = 10_000;

export class SimulatedTime {
  readonly #timers = new TimerQueue();
  #nowMs = 0;
  #sequence = 0;
  /** When timers fired last, and how many before them at that time. */
  #firedMs = 0;
  #firedNow = 0;

  get nowMs(): number {
    return this.#nowMs;
  }

  /** When the next timer is due. */
  get nextMs(): number {
    return this.#timers.peek()?.due ?? Number.POSITIVE_INFINITY;
  }

  /** To the next whole millisecond. */
  after(delayMs: number, fire: () => void): Timer {
    const due = this.#nowMs + Math.round(delayMs);
    const timer: PendingTimer = { due, sequence: this.#sequence++, fire, cancelled: false };
    this.#timers.add(timer);
    return { cancel: () => this.#timers.cancel(timer) };
  }

  /** Fires the next timer. */
  fireNext(): void {
    const timer = this.#timers.take();
    if (timer === undefined) throw new Error('no timer is armed');
    this.#firedNow = timer.due === this.#firedMs ? this.#firedNow + 1 : 0;
    this.#firedMs = timer.due;
    if (this.#firedNow > MAX_FIRED_PER_INSTANT) throw new Error(`a busy loop at ${this.#nowMs} ms`);
    this.#nowMs = timer.due;
    timer.fire();
  }

  /** No timer is due before that. */
  passTo(ms: number): void {
    if (ms < this.#nowMs || ms > this.nextMs) {
      throw new Error(
        `cannot pass from ${this.#nowMs} to ${ms} ms, a timer is due at ${this.nextMs}`,
      );
    }
    this.#nowMs = ms;
  }
}
