/** The controller's knowledge of one JobSet's Jobs beyond its cache. */

import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { Store } from '@lockstep/kube/runtime/informer/informer.ts';
import { OwnWrites } from '@lockstep/kube/runtime/informer/own-writes.ts';
import { isSame, type Owner, ownerOf } from '../../jobset/membership.ts';
import { isTrue } from '../../jobset/status/conditions.ts';
import { keptJobs } from './kept-job.ts';

/**
 * Remembers own writes, accepted deletions, and finished Jobs that were deleted since the last plan.
 * It is dropped with the JobSet.
 */
export class ChildJobMemory {
  readonly #own: OwnWrites<Job>;
  readonly #jobSet: Owner;
  /** UIDs of Jobs whose deletion was accepted. */
  readonly #deleted = new Set<string>();
  /** By UID. */
  readonly #vanished = new Map<string, Stored<Job>>();

  constructor(store: Store<Job>, jobSet: Owner) {
    this.#own = new OwnWrites(store);
    this.#jobSet = jobSet;
  }

  /** A Job as the API server returned it. */
  wrote(job: Stored<Job>): void {
    this.#own.note(kept(job));
  }

  deleted(job: Stored<Job>): void {
    this.#deleted.add(job.metadata.uid);
  }

  /** The cached Jobs, with changes that the cache does not show yet. */
  view(cached: Iterable<Stored<Job>>): readonly Stored<Job>[] {
    const jobs: Stored<Job>[] = [];
    const uids = new Set<string>();
    for (const job of cached) {
      uids.add(job.metadata.uid);
      jobs.push(this.#own.newest(job));
    }
    const isOurs = (job: Job): boolean => isSame(ownerOf(job), this.#jobSet);
    jobs.push(...this.#own.missing(uids, isOurs));
    if (this.#deleted.size === 0) return jobs;
    return jobs.map((job) => (this.#deleted.has(job.metadata.uid) ? asDeleted(job) : job));
  }

  /** Forgets what the cache shows by now. */
  forgetShown(cached: Iterable<Stored<Job>>): void {
    this.#own.forgetShown();
    if (this.#deleted.size === 0) return;
    const uids = new Set(this.view(cached).map(({ metadata }) => metadata.uid));
    for (const uid of this.#deleted) if (!uids.has(uid)) this.#deleted.delete(uid);
  }

  /** The cache has lost the Job; `job` is its last state. */
  gone(job: Stored<Job>): void {
    const { uid } = job.metadata;
    const isByUs = this.#deleted.delete(uid);
    this.#own.forget(uid);
    const { conditions } = job.status ?? {};
    const hasEnded = isTrue(conditions, 'Complete') || isTrue(conditions, 'Failed');
    if (isByUs || !hasEnded || this.#vanished.size >= MAX_VANISHED) return;
    this.#vanished.set(uid, job);
  }

  get vanished(): readonly Stored<Job>[] {
    return [...this.#vanished.values()];
  }

  /** The status includes the Jobs now. */
  recorded(jobs: readonly Stored<Job>[]): void {
    for (const { metadata } of jobs) this.#vanished.delete(metadata.uid);
  }
}

/** Vanished Jobs are forgotten soon, so they share no values. */
const kept = keptJobs((value) => value);

/** Beyond this number, Jobs that succeeded and were deleted within one pass run again. */
const MAX_VANISHED = 10_000;

function asDeleted(job: Stored<Job>): Stored<Job> {
  if (job.metadata.deletionTimestamp !== undefined) return job;
  return {
    ...job,
    metadata: { ...job.metadata, deletionTimestamp: job.metadata.creationTimestamp },
  };
}
