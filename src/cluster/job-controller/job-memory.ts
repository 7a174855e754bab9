import type { Job } from '../../kube/job.ts';
import type { Stored } from '../../kube/meta.ts';
import type { Pod } from '../../kube/pod.ts';
import { compareResourceVersions } from '../../kube/resource-version.ts';
import type { Store } from '../../runtime/informer.ts';
import type { FailureStreak } from './backoff.ts';
import { isTracked } from './job-pods.ts';

/** After a creation failed, the next is tried after these delays: upstream's. */
const CREATION_BACKOFF_BASE_MS = 1000;
const CREATION_BACKOFF_MAX_MS = 60_000;

/**
 * What the controller has done to one Job and does not see in its caches yet. It keeps a stale cache
 * from causing a second creation or a second count; losing it with the process loses nothing,
 * because the next process lists everything anew.
 */
export class JobMemory {
  /** UIDs of Pods that lost their finalizer by our hand. */
  readonly untracked = new Set<string>();
  /** UIDs of Pods that we deleted. */
  readonly deleted = new Set<string>();
  /** UIDs of Pods that exist, and since which resourceVersion. */
  readonly #created = new Map<string, string>();
  #writtenVersion: string | undefined;
  streak: FailureStreak | undefined;
  /** A creation failed in a way that leaves open whether the Pod exists. */
  isCreationOpen = false;
  #failedCreations = 0;
  /** Wall time before which no Pod is created, because creations failed. */
  creationHeldUntilMs = 0;

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
    this.#created.set(pod.metadata.uid, pod.metadata.resourceVersion);
  }

  wrote(job: Stored<Job>): void {
    this.#writtenVersion = job.metadata.resourceVersion;
  }

  /** Forgets what the caches show by now. */
  catchUp(podsOfJob: readonly Stored<Pod>[], store: Store<Pod>): void {
    const known = new Map(podsOfJob.map((pod) => [pod.metadata.uid, pod]));
    for (const [uid, version] of this.#created) {
      // A Pod that came and went during a relist is not in the store, but its version has passed.
      if (known.has(uid) || !isOlder(store.resourceVersion, version)) this.#created.delete(uid);
    }
    for (const uid of this.untracked) {
      const pod = known.get(uid);
      if (pod === undefined || !isTracked(pod)) this.untracked.delete(uid);
    }
    for (const uid of this.deleted) {
      const pod = known.get(uid);
      if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) {
        this.deleted.delete(uid);
      }
    }
  }

  /** Whether the caches lack own writes on which the next decision depends. */
  isAhead(job: Stored<Job>): boolean {
    if (this.#created.size > 0) return true;
    return (
      this.#writtenVersion !== undefined &&
      isOlder(job.metadata.resourceVersion, this.#writtenVersion)
    );
  }
}

function isOlder(version: string, than: string): boolean {
  return (compareResourceVersions(version, than) ?? 0) < 0;
}
