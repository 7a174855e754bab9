/**
 * Counts each ended Pod of a Job exactly once, even if the controller crashes between two writes.
 */
import { formatIndexSet, indexesOf } from '@lockstep/kube/index-set.ts';
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job, JobStatus } from '@lockstep/kube/objects/job.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import type { InterimType } from './conditions.ts';
import { type IndexFailures, indexFailures } from './index-failures.ts';
import { hasEnded, hasFailed, indexOf, isIndexed } from './job-pods.ts';
import { judgeFailedPod } from './pod-failure-policy.ts';

/**
 * First a Pod's UID is written to `uncountedTerminatedPods`; then the Pod loses its finalizer; then
 * one status write drops the UID and raises the counter. Success of an index needs no UID, because
 * a set of indexes cannot count one twice.
 */
export interface Counting {
  /** The counters for the next status write. */
  readonly status: CountedStatus;
  /** Everything that has ended, written or not: decisions are based on it. */
  readonly succeeded: number;
  readonly failed: number;
  /** Indexes that have succeeded, written or not. */
  readonly completedIndexes: ReadonlySet<number>;
  /** Indexes that failed too often, and failed Pods that wait for their successors. */
  readonly indexFailures: IndexFailures;
  /** Pods that lose their finalizer once the status is written. */
  readonly settled: readonly Stored<Pod>[];
  /** Pods that ended since the last status: neither listed nor counted before. */
  readonly ended: readonly Stored<Pod>[];
  /** More Pods have ended than one write may list; the next one lists the rest. */
  readonly isPartial: boolean;
}

type CountedStatus = Required<
  Pick<JobStatus, 'succeeded' | 'failed' | 'completedIndexes' | 'uncountedTerminatedPods'>
> &
  Pick<JobStatus, 'failedIndexes'>;

/** The most UIDs in one status, so that the object stays small: upstream's number. */
export const MAX_UNCOUNTED_PODS = 500;

/**
 * `tracked` are the Job's Pods that still have its finalizer and were not released by us. A Job
 * whose end is decided releases all of them. If it fails, Pods that have not ended count as failed;
 * if it succeeds, they do not count.
 */
export function countEndedPods(
  job: Job,
  tracked: readonly Stored<Pod>[],
  decided: InterimType | undefined,
): Counting {
  const status = job.status ?? {};
  const { succeeded: listedSucceeded = [], failed: listedFailed = [] } =
    status.uncountedTerminatedPods ?? {};
  const still = uidsAmong(tracked, new Set([...listedSucceeded, ...listedFailed]));
  const succeeded = partition(listedSucceeded, still);
  const failed = partition(listedFailed, still);
  const completed = completedIndexes(job);
  const tally: Tally = {
    isPartial: false,
    pending: succeeded.kept.length + failed.kept.length,
    succeeded: new Set(succeeded.kept),
    failed: new Set(failed.kept),
    completed: new Set(completed),
    unwritten: { succeeded: 0, failed: 0, completed: new Set() },
    settled: [],
    ended: [],
  };
  const failures = indexFailures(job, tracked, tally.completed);
  const unreplaced = new Set(decided === undefined ? failures.unreplaced.values() : []);
  for (const pod of tracked) {
    const outcome = outcomeOf(job, pod, decided);
    if (unreplaced.has(pod)) tally.unwritten.failed += outcome === 'failed' ? 1 : 0;
    else if (outcome === 'released') tally.settled.push(pod);
    else if (outcome === 'ignored') {
      tally.settled.push(pod);
      tally.ended.push(pod);
    } else if (outcome !== undefined) tallyPod(tally, job, pod, outcome);
  }
  const counted = {
    succeeded: isIndexed(job)
      ? tally.completed.size
      : (status.succeeded ?? 0) + succeeded.gone.length,
    failed: (status.failed ?? 0) + failed.gone.length,
  };
  const all = new Set([...tally.completed, ...tally.unwritten.completed]);
  return {
    status: {
      ...counted,
      completedIndexes: formatIndexSet(tally.completed),
      ...(job.spec.backoffLimitPerIndex === undefined
        ? {}
        : { failedIndexes: formatIndexSet(failures.failed) }),
      uncountedTerminatedPods: {
        ...(tally.succeeded.size > 0 ? { succeeded: [...tally.succeeded] } : {}),
        ...(tally.failed.size > 0 ? { failed: [...tally.failed] } : {}),
      },
    },
    succeeded: isIndexed(job)
      ? all.size
      : counted.succeeded + tally.succeeded.size + tally.unwritten.succeeded,
    failed: counted.failed + tally.failed.size + tally.unwritten.failed,
    completedIndexes: all,
    indexFailures: failures,
    settled: tally.settled,
    ended: tally.ended,
    isPartial: tally.isPartial,
  };
}

interface Tally {
  isPartial: boolean;
  /** How many Pods the next write newly settles or keeps listed. */
  pending: number;
  readonly succeeded: Set<string>;
  readonly failed: Set<string>;
  readonly completed: Set<number>;
  /** Pods that ended, but exceed what the next write may hold. */
  readonly unwritten: { succeeded: number; failed: number; readonly completed: Set<number> };
  readonly settled: Stored<Pod>[];
  readonly ended: Stored<Pod>[];
}

type PodResult = 'succeeded' | 'failed';

/**
 * `ignored` by the Pod failure policy: the Pod is replaced and changes no counter. `released`: it
 * has not ended, and its result does not matter any more.
 */
function outcomeOf(
  job: Job,
  pod: Pod,
  decided: InterimType | undefined,
): PodResult | 'ignored' | 'released' | undefined {
  if (pod.status?.phase === 'Succeeded') return 'succeeded';
  const isDeleted = job.metadata.deletionTimestamp !== undefined;
  const isOver = isDeleted || decided === 'SuccessCriteriaMet';
  if (isOver && !hasEnded(pod)) return 'released';
  if (!hasFailed(job, pod) && decided !== 'FailureTarget') return undefined;
  return judgeFailedPod(job, pod).action === 'Ignore' ? 'ignored' : 'failed';
}

function tallyPod(tally: Tally, job: Job, pod: Stored<Pod>, outcome: PodResult): void {
  const { uid } = pod.metadata;
  // An earlier write listed it, perhaps as failed, because it was deleted before it succeeded.
  if (tally.succeeded.has(uid) || tally.failed.has(uid)) {
    tally.settled.push(pod);
    return;
  }
  const index = isIndexed(job) ? indexOf(job, pod) : undefined;
  if (isIndexed(job) && index === undefined) {
    tally.settled.push(pod);
    return;
  }
  const isFull = tally.pending >= MAX_UNCOUNTED_PODS;
  if (isFull) tally.isPartial = true;
  else {
    tally.pending++;
    tally.settled.push(pod);
    tally.ended.push(pod);
  }
  if (outcome === 'failed') {
    if (isFull) tally.unwritten.failed++;
    else tally.failed.add(uid);
  } else if (index !== undefined) {
    (isFull ? tally.unwritten.completed : tally.completed).add(index);
  } else if (isFull) tally.unwritten.succeeded++;
  else tally.succeeded.add(uid);
}

/** Indexes in status, without those beyond `completions`, which an elastic Job may have lowered. */
function completedIndexes(job: Job): number[] {
  const completed: number[] = [];
  if (!isIndexed(job)) return completed;
  for (const index of indexesOf(job.status?.completedIndexes ?? '')) {
    if (index >= (job.spec.completions ?? 0)) break;
    completed.push(index);
  }
  return completed;
}

/** Which of the UIDs, a small set, belong to one of the Pods. */
function uidsAmong(pods: readonly Stored<Pod>[], uids: ReadonlySet<string>): ReadonlySet<string> {
  if (uids.size === 0) return uids;
  return new Set(pods.map(({ metadata }) => metadata.uid).filter((uid) => uids.has(uid)));
}

function partition(
  uids: readonly string[],
  tracked: ReadonlySet<string>,
): { readonly kept: readonly string[]; readonly gone: readonly string[] } {
  const kept = uids.filter((uid) => tracked.has(uid));
  return { kept, gone: uids.filter((uid) => !tracked.has(uid)) };
}
