/** What the Job controller remembers of one Job. */
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { keyOf, type Store } from '@lockstep/kube/runtime/informer/informer.ts';
import { OwnWrites } from '@lockstep/kube/runtime/informer/own-writes.ts';
import type { FailureStreak } from './backoff.ts';
import { isTracked } from './job-pods.ts';

/** Delays after failed creations: upstream's. */
const CREATION_BACKOFF_BASE_MS = 1000;
const CREATION_BACKOFF_MAX_MS = 60_000;

/**
 * A pass over a Job costs as much as it has Pods. So changes of a large Job are collected for
 * longer, in proportion to its size. This keeps all passes together at a fixed share of the time.
 * Small Jobs never wait.
 */
const REST_PER_POD_MS = 0.02;
const REST_MIN_MS = 1;
/** Upstream waits this long after every change of a Pod. */
const REST_MAX_MS = 1000;

/**
 * What the controller did to one Job and does not see in its caches yet. This keeps a stale cache
 * from causing a second creation or a second count. A new process lists everything, so nothing
 * is lost with the memory.
 */
export class JobMemory {
  /** UIDs of Pods whose finalizer we removed. */
  readonly untracked = new PodSet();
  /** UIDs of Pods that we deleted. */
  readonly deleted = new PodSet();
  /** The Job's Pods as they were created or adopted, and its status as it was written. */
  readonly #writes: { readonly pods: OwnWrites<Pod>; readonly job: OwnWrites<Job> };
  readonly #pods: Store<Pod>;
  streak: FailureStreak | undefined;
  /** A creation failed in a way that leaves open whether the Pod exists. */
  isCreationOpen = false;
  #failedCreations = 0;
  /** Wall time before which no Pod is created, after failed creations. */
  creationHeldUntilMs = 0;
  /** On the monotonic clock: no pass begins before. */
  #restUntilMs = Number.NEGATIVE_INFINITY;

  constructor(pods: Store<Pod>, jobs: Store<Job>) {
    this.#pods = pods;
    this.#writes = { pods: new OwnWrites(pods), job: new OwnWrites(jobs) };
  }

  /** A pass over this many Pods has ended. */
  rest(pods: number, nowMs: number): void {
    const restMs = Math.min(REST_MAX_MS, pods * REST_PER_POD_MS);
    if (restMs >= REST_MIN_MS) this.#restUntilMs = nowMs + restMs;
  }

  /** How long the next pass has to wait. */
  remainingRestMs(nowMs: number): number {
    return Math.max(0, this.#restUntilMs - nowMs);
  }

  creationFailed(nowMs: number): void {
    const delayMs = CREATION_BACKOFF_BASE_MS * 2 ** this.#failedCreations;
    if (delayMs < CREATION_BACKOFF_MAX_MS) this.#failedCreations++;
    this.creationHeldUntilMs = nowMs + Math.min(CREATION_BACKOFF_MAX_MS, delayMs);
  }

  creationSucceeded(): void {
    this.#failedCreations = 0;
    this.creationHeldUntilMs = 0;
  }

  sawCreated(pod: Stored<Pod>): void {
    this.#writes.pods.note(pod);
  }

  /** The cache shows the Pod; true if it was the last expected one. */
  appeared(pod: Stored<Pod>): boolean {
    return this.#writes.pods.forget(pod.metadata.uid);
  }

  wrote(job: Stored<Job>): void {
    this.#writes.job.note(job);
  }

  /** Forgets what the cache shows by now. */
  catchUp(): void {
    this.untracked.retain(this.#pods, isTracked);
    this.deleted.retain(this.#pods, ({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  /** Whether the caches lack own writes on which the next decision depends. */
  isAhead(): boolean {
    return this.#writes.pods.isAhead() || this.#writes.job.isAhead();
  }
}

/** Pods that the cache should still have, by UID. */
class PodSet {
  readonly #keys = new Map<string, string>();

  has(uid: string): boolean {
    return this.#keys.has(uid);
  }

  add(pod: Stored<Pod>): void {
    this.#keys.set(pod.metadata.uid, keyOf(pod));
  }

  /** Forgets Pods that the store lacks, and those for which `isSo` is false. */
  retain(store: Store<Pod>, isSo: (pod: Stored<Pod>) => boolean): void {
    for (const [uid, key] of this.#keys) {
      const pod = store.get(key);
      if (pod?.metadata.uid !== uid || !isSo(pod)) this.#keys.delete(uid);
    }
  }
}
