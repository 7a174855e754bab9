/** A clock for tests and simulations. */
import type { Clock, Timer } from '../ports/clock.ts';
import { type PendingTimer, TimerQueue } from './timer-queue.ts';

/**
 * Time passes only when a test says so. Timers fire in the order in which they are due, and all
 * promise reactions run between two firings, so asynchronous code reacts before any later timer.
 * Work that leaves the thread (files, sockets) is not waited for: use the in-memory ends of the
 * other ports.
 */
export class VirtualClock implements Clock {
  readonly #origin: number;
  readonly #timers = new TimerQueue();
  #elapsed = 0;
  #sequence = 0;
  #firingsNow = 0;
  #isDriven = false;

  /** `start` is the wall time at which the clock begins. */
  constructor(start: number = DEFAULT_START) {
    this.#origin = start;
  }

  /** In whole milliseconds, like a machine's clock. */
  now(): number {
    return Math.floor(this.#origin + this.#elapsed);
  }

  monotonic(): number {
    return this.#elapsed;
  }

  setTimer(delayMs: number, fire: () => void): Timer {
    const timer: PendingTimer = {
      due: this.#elapsed + Math.max(0, delayMs),
      sequence: this.#sequence++,
      fire,
      cancelled: false,
    };
    this.#timers.add(timer);
    return { cancel: () => this.#timers.cancel(timer) };
  }

  /** The number of armed timers. After everything was stopped there should be none. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** Lets `ms` pass, fires what becomes due, and settles. Throws errors of timers. */
  advance(ms: number): Promise<void> {
    return this.#drive(async () => {
      const end = this.#elapsed + ms;
      await eventLoopTurn();
      while (await this.#fireNext(end));
      this.#elapsed = end;
    });
  }

  /**
   * Lets `ms` pass at once, as while a machine sleeps. Timers that became due fire late, in their
   * order, when the clock is advanced next.
   */
  jump(ms: number): void {
    if (this.#isDriven) throw new Error('the clock is being advanced; jump after that');
    this.#elapsed += ms;
  }

  /** Lets everything happen that needs no time, including timers of delay 0. */
  settle(): Promise<void> {
    return this.advance(0);
  }

  /**
   * Goes from timer to timer until the condition holds. Rejects if it does not within `limitMs`, or
   * when no timer is left.
   */
  runUntil(condition: () => boolean | Promise<boolean>, limitMs: number): Promise<void> {
    return this.#drive(async () => {
      const end = this.#elapsed + limitMs;
      await eventLoopTurn();
      while (!(await condition())) {
        if (await this.#fireNext(end)) continue;
        const next = this.#timers.peek();
        const why = next === undefined ? 'no timer is armed' : `the next timer is due later`;
        throw new Error(
          `not reached within ${limitMs} ms of virtual time (${why} at ${this.#elapsed} ms): ${condition}`,
        );
      }
    });
  }

  /** Fires the first timer that is due by `end`, if any, and lets all reactions run. */
  async #fireNext(end: number): Promise<boolean> {
    const next = this.#timers.peek();
    if (next === undefined || next.due > end) return false;
    this.#timers.take();
    // After a jump it may have been due earlier.
    this.#advanceTo(Math.max(next.due, this.#elapsed));
    next.fire();
    await eventLoopTurn();
    return true;
  }

  #advanceTo(due: number): void {
    this.#firingsNow = due === this.#elapsed ? this.#firingsNow + 1 : 0;
    if (this.#firingsNow > MAX_FIRINGS_PER_INSTANT) {
      throw new Error(`${this.#firingsNow} timers fired without any time passing: a busy loop`);
    }
    this.#elapsed = due;
  }

  async #drive(work: () => Promise<void>): Promise<void> {
    if (this.#isDriven) throw new Error('the clock is being advanced already; await that first');
    this.#isDriven = true;
    try {
      await work();
    } finally {
      this.#isDriven = false;
    }
  }
}

/** 2026-01-01T00:00:00Z: any instant would do, and a round one reads well in failures. */
const DEFAULT_START = 1_767_225_600_000;

/** Far above what a large simulation does in one instant; only a loop gets there. */
const MAX_FIRINGS_PER_INSTANT = 1_000_000;

/**
 * When the promise resolves, all ready promise reactions, and all that follow from them, have run.
 * A message to oneself is the one way to wait for that without a timer. It does not wait for files,
 * sockets or timers.
 */
export function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    channel.port1.ref();
    channel.port2.postMessage(undefined);
  });
}

const waiting: (() => void)[] = [];
const channel = new MessageChannel();
channel.port1.on('message', () => {
  waiting.shift()?.();
  // The channel keeps the process alive only while a caller waits.
  if (waiting.length === 0) channel.port1.unref();
});
channel.port1.unref();
