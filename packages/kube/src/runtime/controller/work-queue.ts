/** The queue between informers and a controller. */
import type { Clock, Timer } from '../ports/clock.ts';
import { jitter, type Random } from '../ports/random.ts';

/**
 * It has the guarantees of client-go's queue. A key waits at most once, no matter how often it is
 * added. It is never handed to two workers at a time. A key that is added while a worker has it is
 * handed out once more afterwards. Nothing is lost.
 */
export interface WorkQueue {
  /** False if the queue is full or shut down, so that the key was not taken. */
  add(key: string): boolean;
  /** Adds the key later; of several delays the earliest moment wins. */
  addAfter(key: string, delayMs: number): boolean;
  /** Adds the key after a delay that doubles with every call, until `forget`. */
  addRateLimited(key: string): boolean;
  /** Ends the key's back-off. The next `addRateLimited` starts from the shortest delay. */
  forget(key: string): void;
  /** How many times the key was added rate-limited since it was last forgotten. */
  retries(key: string): number;
  /** Waits for a key. Undefined: the queue is shut down and empty. */
  take(): Promise<string | undefined>;
  /** Call it after `take`, when the work is done. */
  done(key: string): void;
  /** The number of keys that wait for a worker now, without delayed ones. */
  readonly depth: number;
  /** Takes no more keys, drops delayed ones, and lets workers drain the rest. */
  shutDown(): void;
}

export interface WorkQueueOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly baseDelayMs?: number;
  readonly maxDelayMs?: number;
  /** Distinct keys, waiting or delayed. */
  readonly limit?: number;
  readonly observer?: WorkQueueObserver;
}

/** Called for the metrics of the queue. Durations are in milliseconds. */
export interface WorkQueueObserver {
  depth(keys: number): void;
  added(): void;
  retried(): void;
  waited(durationMs: number): void;
  worked(durationMs: number): void;
}

/** First back-off after an error: long enough to let a conflicting write's event arrive. */
const RETRY_BASE_DELAY_MS = 5;
/** The longest back-off. client-go's 1,000 s would be too long after an outage. */
const RETRY_MAX_DELAY_MS = 60_000;
/** Far above the number of objects in a process: only a leak of keys reaches it. */
const MAX_QUEUED_KEYS = 1_000_000;
/** Back-offs are stretched by up to this share, so that many keys do not return in phase. */
const RETRY_JITTER = 0.1;

export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  return new DelayingQueue(options);
}

class DelayingQueue implements WorkQueue {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #baseDelayMs: number;
  readonly #maxDelayMs: number;
  readonly #limit: number;
  readonly #observer: WorkQueueObserver | undefined;
  /** Ready keys in order of arrival, with the monotonic time of their arrival. */
  readonly #ready = new Map<string, number>();
  /** Keys that workers have, with the monotonic time at which they took them. */
  readonly #working = new Map<string, number>();
  /** Keys that were added again while a worker has them. */
  readonly #again = new Set<string>();
  readonly #delayed = new Map<string, { readonly dueMs: number; readonly timer: Timer }>();
  readonly #retries = new Map<string, number>();
  readonly #waiting: ((key: string | undefined) => void)[] = [];
  #isShutDown = false;

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock;
    this.#random = options.random;
    this.#baseDelayMs = options.baseDelayMs ?? RETRY_BASE_DELAY_MS;
    this.#maxDelayMs = options.maxDelayMs ?? RETRY_MAX_DELAY_MS;
    this.#limit = options.limit ?? MAX_QUEUED_KEYS;
    this.#observer = options.observer;
  }

  get depth(): number {
    return this.#ready.size;
  }

  add(key: string): boolean {
    if (this.#isShutDown) return false;
    if (this.#ready.has(key) || this.#again.has(key)) return true;
    if (!this.#hasRoomFor(key)) return false;
    this.#observer?.added();
    if (this.#working.has(key)) {
      this.#again.add(key);
      return true;
    }
    this.#enqueue(key);
    return true;
  }

  addAfter(key: string, delayMs: number): boolean {
    if (delayMs <= 0) return this.add(key);
    if (this.#isShutDown) return false;
    const dueMs = this.#clock.monotonic() + delayMs;
    const earlier = this.#delayed.get(key);
    if (earlier !== undefined && earlier.dueMs <= dueMs) return true;
    if (!this.#hasRoomFor(key)) return false;
    earlier?.timer.cancel();
    const timer = this.#clock.setTimer(delayMs, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { dueMs, timer });
    return true;
  }

  addRateLimited(key: string): boolean {
    const retries = this.retries(key);
    this.#retries.set(key, retries + 1);
    this.#observer?.retried();
    const delayMs = Math.min(this.#maxDelayMs, this.#baseDelayMs * 2 ** retries);
    return this.addAfter(key, jitter(this.#random, delayMs, RETRY_JITTER));
  }

  forget(key: string): void {
    this.#retries.delete(key);
  }

  retries(key: string): number {
    return this.#retries.get(key) ?? 0;
  }

  take(): Promise<string | undefined> {
    const next = this.#ready.entries().next();
    if (next.done !== true) {
      const [key, sinceMs] = next.value;
      this.#ready.delete(key);
      this.#handOut(key, sinceMs);
      return Promise.resolve(key);
    }
    if (this.#isShutDown) return Promise.resolve(undefined);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  done(key: string): void {
    const sinceMs = this.#working.get(key);
    if (sinceMs === undefined) return;
    this.#working.delete(key);
    this.#observer?.worked(this.#clock.monotonic() - sinceMs);
    if (this.#again.delete(key)) this.#enqueue(key);
  }

  shutDown(): void {
    this.#isShutDown = true;
    for (const { timer } of this.#delayed.values()) timer.cancel();
    this.#delayed.clear();
    for (const resolve of this.#waiting.splice(0)) resolve(undefined);
  }

  #enqueue(key: string): void {
    const nowMs = this.#clock.monotonic();
    const worker = this.#waiting.shift();
    if (worker === undefined) {
      this.#ready.set(key, nowMs);
      this.#observer?.depth(this.#ready.size);
      return;
    }
    this.#handOut(key, nowMs);
    worker(key);
  }

  #handOut(key: string, readySinceMs: number): void {
    const nowMs = this.#clock.monotonic();
    this.#working.set(key, nowMs);
    this.#observer?.depth(this.#ready.size);
    this.#observer?.waited(nowMs - readySinceMs);
  }

  #hasRoomFor(key: string): boolean {
    if (this.#delayed.has(key) || this.#working.has(key)) return true;
    return this.#ready.size + this.#delayed.size < this.#limit;
  }
}
