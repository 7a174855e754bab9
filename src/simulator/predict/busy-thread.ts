/**
 * One thread of a process in virtual time. It does one thing after the other, each takes the time
 * that it costs, and what comes meanwhile waits in the order in which it came.
 */
import type { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import type { Clock, Timer } from '@lockstep/kube/runtime/ports/clock.ts';

interface Work {
  readonly costMs: number;
  readonly act: () => void;
}

export class BusyThread {
  /** Its timers fire late while it is busy. */
  readonly clock: Clock;
  /** How many times as long as its cost everything takes; 0: nothing takes time. */
  pace = 0;
  readonly #world: VirtualClock;
  #waiting: Work[] = [];
  /** Where the queue begins in `#waiting`. */
  #first = 0;
  /** Time for what was done already, which delays what comes next. */
  #owedMs = 0;
  #isBusy = false;
  /** When what it does is done, in monotonic time. */
  #endMs = 0;
  #busyMs = 0;

  constructor(world: VirtualClock) {
    this.#world = world;
    this.clock = {
      now: () => world.now(),
      monotonic: () => world.monotonic(),
      setTimer: (delayMs, fire) => this.#setTimer(delayMs, fire),
    };
  }

  /** For how long it was busy, all in all. */
  get busyMs(): number {
    return this.#busyMs;
  }

  /** Does this once all earlier work is done and the cost has passed. */
  run(costMs: number, act: () => void): void {
    this.#waiting.push({ costMs: this.#take(costMs), act });
    if (!this.#isBusy) this.#next();
  }

  /** What is being done, or was done last, costs this much more. Returns how long after now it is done. */
  charge(costMs: number): number {
    this.#owedMs += this.#take(costMs);
    const leftMs = Math.max(0, this.#endMs - this.#world.monotonic());
    const doneMs = leftMs + this.#owedMs;
    if (!this.#isBusy) this.#next();
    return doneMs;
  }

  #take(costMs: number): number {
    const ms = costMs * this.pace;
    this.#busyMs += ms;
    return ms;
  }

  #next(): void {
    const owedMs = this.#owedMs;
    this.#isBusy = true;
    if (owedMs > 0) {
      this.#owedMs = 0;
      this.#after(owedMs, () => this.#next());
      return;
    }
    const work = this.#waiting[this.#first++];
    if (work === undefined) {
      this.#waiting = [];
      this.#first = 0;
      this.#isBusy = false;
      return;
    }
    this.#after(work.costMs, () => {
      work.act();
      this.#next();
    });
  }

  #after(costMs: number, then: () => void): void {
    this.#endMs = this.#world.monotonic() + costMs;
    this.#world.setTimer(costMs, then);
  }

  #setTimer(delayMs: number, fire: () => void): Timer {
    let isCancelled = false;
    const timer = this.#world.setTimer(delayMs, () => {
      this.run(0, () => {
        if (!isCancelled) fire();
      });
    });
    return {
      cancel: () => {
        isCancelled = true;
        timer.cancel();
      },
    };
  }
}
