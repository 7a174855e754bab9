/**
 * How long a worker may run without confirmation that its Pod still exists. After a deadline, an
 * operator that cannot reach a node counts its Pods as dead, and by then none of them may run. A
 * lease counts from the time of the question, because the answer was true at some later time. It
 * checks the wall clock too, because a suspended machine stops its monotonic clock.
 */
import type { Clock, Timer } from '@lockstep/kube/runtime/ports/clock.ts';
import { jitter, type Random } from '@lockstep/kube/runtime/ports/random.ts';

export interface PodLeaseOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly leaseMs: number;
  /** Asks for the Pod; an answer, if one comes, calls `renew`. */
  readonly ask: () => void;
  /** The worker has to stop. Called once for each time that the lease was held. */
  readonly lapsed: () => void;
  /** No answer has come for `UNCONFIRMED_AFTER_MS` since the start. Called once. */
  readonly unconfirmed: () => void;
}

/**
 * If thousands of agents connect at once, the hub needs this long to accept and answer the last one.
 */
export const UNCONFIRMED_AFTER_MS = 90_000;

/** A lapse is noticed at most this late. The margin of the deadline includes it. */
const CHECK_INTERVAL_MS = 2000;
/** How often to ask while no answer comes. */
const RETRY_INTERVAL_MS = 5000;
/** A lease survives one or two lost answers. */
const ASKS_PER_LEASE = 4;
/** Spreads the questions of a group's members. */
const ASK_JITTER = 0.2;

export class PodLease {
  readonly #options: PodLeaseOptions;
  #heldSince: { readonly monotonicMs: number; readonly wallMs: number } | undefined;
  #nextAskMs = 0;
  /** When to report that no answer has come yet; undefined: one came, or the report was made. */
  #unconfirmedAtMs: number | undefined;
  #timer: Timer | undefined;

  constructor(options: PodLeaseOptions) {
    this.#options = options;
  }

  /** Starts to ask. The lease is not held until the first answer. */
  start(): void {
    this.#nextAskMs = this.#options.clock.monotonic();
    this.#unconfirmedAtMs = this.#nextAskMs + UNCONFIRMED_AFTER_MS;
    this.#check();
  }

  /** The Pod existed, and was not being deleted, at some time after `askedMs` (monotonic). */
  renew(askedMs: number): void {
    const { clock, random, leaseMs } = this.#options;
    const nowMs = clock.monotonic();
    const since = { monotonicMs: askedMs, wallMs: clock.now() - (nowMs - askedMs) };
    if (askedMs < (this.#heldSince?.monotonicMs ?? Number.NEGATIVE_INFINITY)) return;
    this.#heldSince = since;
    this.#unconfirmedAtMs = undefined;
    this.#nextAskMs =
      nowMs + jitter(random, leaseMs / ASKS_PER_LEASE / (1 + ASK_JITTER), ASK_JITTER);
  }

  /** Whether the worker may run now. */
  isHeld(): boolean {
    if (this.#heldSince === undefined) return false;
    const { clock, leaseMs } = this.#options;
    const { monotonicMs, wallMs } = this.#heldSince;
    const agedMs = Math.max(clock.monotonic() - monotonicMs, clock.now() - wallMs);
    return agedMs < leaseMs;
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #check(): void {
    const { clock, random, ask, lapsed, unconfirmed } = this.#options;
    const nowMs = clock.monotonic();
    if (this.#heldSince !== undefined && !this.isHeld()) {
      this.#heldSince = undefined;
      lapsed();
    }
    if (nowMs >= (this.#unconfirmedAtMs ?? Number.POSITIVE_INFINITY)) {
      this.#unconfirmedAtMs = undefined;
      unconfirmed();
    }
    if (nowMs >= this.#nextAskMs) {
      this.#nextAskMs = nowMs + jitter(random, RETRY_INTERVAL_MS, ASK_JITTER);
      ask();
    }
    this.#timer = clock.setTimer(CHECK_INTERVAL_MS, () => this.#check());
  }
}
