/**
 * How long a worker may run without word that its Pod is still there (design, H4): an operator that
 * cannot reach a node takes its Pods for dead after a deadline, and by then nothing of them may run.
 * A lease counts from the moment at which the question was sent, so that the answer was true later.
 * Both clocks count: a machine that was suspended has a monotonic one that stood still.
 */
import type { Clock, Timer } from '../runtime/ports/clock.ts';
import { jitter, type Random } from '../runtime/ports/random.ts';

export interface PodLeaseOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly leaseMs: number;
  /** Asks whether the Pod is there; `renew` is called with the answer, if one comes. */
  readonly ask: () => void;
  /** The worker has to stop. Called once for each time that the lease was held. */
  readonly lapsed: () => void;
  /** Nobody has answered since the start, for `UNCONFIRMED_AFTER_MS`. Called once. */
  readonly unconfirmed: () => void;
}

/** A hub to which thousands come at once takes so long to let the last of them in, and to answer. */
export const UNCONFIRMED_AFTER_MS = 90_000;

/** So much later than it should a lapse may be seen; the margin of the deadline has room for it. */
const CHECK_INTERVAL_MS = 2000;
/** While no answer comes. */
const RETRY_INTERVAL_MS = 5000;
/** One answer that is lost, or two, end no lease. */
const ASKS_PER_LEASE = 4;
/** The members of a group do not all ask at once. */
const ASK_JITTER = 0.2;

export class PodLease {
  readonly #options: PodLeaseOptions;
  #heldSince: { readonly monotonicMs: number; readonly wallMs: number } | undefined;
  #nextAskMs = 0;
  /** When whoever waits is told that nobody has answered yet; undefined: somebody has, or they know. */
  #unconfirmedAtMs: number | undefined;
  #timer: Timer | undefined;

  constructor(options: PodLeaseOptions) {
    this.#options = options;
  }

  /** Nothing is held at first. */
  start(): void {
    this.#nextAskMs = this.#options.clock.monotonic();
    this.#unconfirmedAtMs = this.#nextAskMs + UNCONFIRMED_AFTER_MS;
    this.#check();
  }

  /** The Pod was there, and not being deleted, at some time after `askedMs`, monotonic. */
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
