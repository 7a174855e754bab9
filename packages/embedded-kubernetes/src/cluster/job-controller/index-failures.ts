/** Counts the failures of each index, for `backoffLimitPerIndex`. */
import { indexesOf } from '@lockstep/kube/index-set.ts';
import type { Stored, StringMap } from '@lockstep/kube/meta.ts';
import {
  INDEX_FAILURE_COUNT,
  INDEX_IGNORED_FAILURE_COUNT,
  type Job,
} from '@lockstep/kube/objects/job.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { writtenVerdict } from './conditions.ts';
import { hasEnded, hasFailed, indexOf, isActive, waitsForTerminating } from './job-pods.ts';
import { judgeFailedPod } from './pod-failure-policy.ts';

/**
 * How often an index has failed is written on its Pods: each one says how many failed before it. So
 * the last failed Pod of an index keeps its finalizer until its successor, which takes the count
 * over, exists.
 */
export interface IndexFailures {
  /** Indexes that are given up, in status or with the next write. */
  readonly failed: ReadonlySet<number>;
  /** By index: the failed Pod whose successor has yet to be created. */
  readonly unreplaced: ReadonlyMap<number, Stored<Pod>>;
}

const NONE: IndexFailures = { failed: new Set(), unreplaced: new Map() };

export function indexFailures(
  job: Job,
  tracked: readonly Stored<Pod>[],
  completed: ReadonlySet<number>,
): IndexFailures {
  const limit = job.spec.backoffLimitPerIndex;
  if (limit === undefined) return NONE;
  const failed = givenUp(job);
  // From then on Pods end because the Job does, which is not a failure of their indexes.
  if (writtenVerdict(job) !== undefined) return { ...NONE, failed };
  const failures: { readonly index: number; readonly pod: Stored<Pod> }[] = [];
  const held = new Set<number>();
  for (const pod of tracked) {
    const index = indexOf(job, pod);
    if (index === undefined) continue;
    if (isActive(pod) || (waitsForTerminating(job) && !hasEnded(pod))) held.add(index);
    if (!hasFailed(job, pod) || completed.has(index)) continue;
    failures.push({ index, pod });
    const { action } = judgeFailedPod(job, pod);
    const isLast = action !== 'Ignore' && failureCount(pod, INDEX_FAILURE_COUNT) >= limit;
    if (action === 'FailIndex' || isLast) failed.add(index);
  }
  const unreplaced = new Map<number, Stored<Pod>>();
  for (const { index, pod } of failures) {
    if (held.has(index) || failed.has(index)) continue;
    const last = unreplaced.get(index);
    if (last === undefined || allFailures(last) <= allFailures(pod)) unreplaced.set(index, pod);
  }
  return { failed, unreplaced };
}

/** Annotations of the Pod that takes the index over from `replaced`, or starts it. */
export function failureCountAnnotations(job: Job, replaced: Stored<Pod> | undefined): StringMap {
  if (job.spec.backoffLimitPerIndex === undefined) return {};
  if (replaced === undefined) return { [INDEX_FAILURE_COUNT]: '0' };
  const isIgnored = judgeFailedPod(job, replaced).action === 'Ignore';
  const counted = failureCount(replaced, INDEX_FAILURE_COUNT) + (isIgnored ? 0 : 1);
  const ignored = failureCount(replaced, INDEX_IGNORED_FAILURE_COUNT) + (isIgnored ? 1 : 0);
  return {
    [INDEX_FAILURE_COUNT]: `${counted}`,
    ...(ignored > 0 ? { [INDEX_IGNORED_FAILURE_COUNT]: `${ignored}` } : {}),
  };
}

/** How often the index has failed, including this Pod's failure, ignored or not. */
export function allFailures(pod: Pod): number {
  return (
    failureCount(pod, INDEX_FAILURE_COUNT) + failureCount(pod, INDEX_IGNORED_FAILURE_COUNT) + 1
  );
}

function givenUp(job: Job): Set<number> {
  const failed = new Set<number>();
  for (const index of indexesOf(job.status?.failedIndexes ?? '')) {
    if (index >= (job.spec.completions ?? 0)) break;
    failed.add(index);
  }
  return failed;
}

/**
 * The count in our own annotation; an invalid one, which a user may have written, counts as none.
 */
function failureCount({ metadata }: Pod, key: string): number {
  const text = metadata.annotations?.[key] ?? '';
  return /^\d{1,10}$/.test(text) ? Number(text) : 0;
}
