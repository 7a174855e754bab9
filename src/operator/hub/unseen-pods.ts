/** Looks up Pods that the operator's caches do not show. */
import { withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import { ExpiringMap } from '@lockstep/kube/runtime/expiring-map.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { type Rate, TokenBucket } from '@lockstep/kube/runtime/token-bucket.ts';
import type { PodClaim } from './pod-token.ts';

/** `Unrelated`: it has no label of a JobSet, so caches will never show it. */
export type PodLookup = 'Gone' | 'Lives' | 'Unrelated';

/** Reads a Pod from storage. */
export type ReadPod = (claim: PodClaim, signal: AbortSignal) => Promise<PodLookup>;

/** A UID never comes back, a label may, and caches show living Pods within seconds. */
const LIFETIME_MS: Readonly<Record<PodLookup, number>> = {
  Gone: 60_000,
  Unrelated: 10_000,
  Lives: 5000,
};
const MAX_KNOWN = 4096;
const READ_TIMEOUT_MS = 5000;
/** Few Pods have to be read, because caches know Pods before their agents start. */
const READS: Rate = { perSecond: 20, burst: 200 };

/** Each Pod is read at most once in its answer's lifetime. */
export class UnseenPods {
  readonly #clock: Clock;
  readonly #read: ReadPod;
  readonly #reads: TokenBucket;
  /** By UID of the Pod. */
  readonly #known: ExpiringMap<Promise<PodLookup>>;

  constructor(clock: Clock, read: ReadPod) {
    this.#clock = clock;
    this.#read = read;
    this.#reads = new TokenBucket(READS, clock);
    this.#known = new ExpiringMap(clock, MAX_KNOWN);
  }

  /** Undefined if it may not be read now. */
  look(claim: PodClaim): Promise<PodLookup> | undefined {
    const { podUid } = claim;
    const known = this.#known.get(podUid);
    if (known !== undefined) return known;
    if (!this.#reads.tryTake()) return undefined;
    const lookup = withDeadline(this.#clock, READ_TIMEOUT_MS, undefined, (signal) =>
      this.#read(claim, signal),
    );
    this.#known.set(podUid, lookup, READ_TIMEOUT_MS);
    lookup.then(
      (found) => this.#known.set(podUid, lookup, LIFETIME_MS[found]),
      () => this.#known.delete(podUid),
    );
    return lookup;
  }
}
