/** How many Pods a Job should have: which ones are too many, and which indexes lack one. */
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import type { Counting } from './counting.ts';
import { indexOf, isIndexed, isReady, waitsForTerminating } from './job-pods.ts';

export interface LivePods {
  readonly active: readonly Stored<Pod>[];
  readonly terminating: readonly Stored<Pod>[];
}

export function wantedActive(job: Job, counting: Counting, active: number): number {
  const parallelism = job.spec.parallelism ?? 1;
  const { completions } = job.spec;
  // In a work queue any success means that it is empty, and the remaining workers may finish.
  if (completions === undefined) return counting.succeeded > 0 ? active : parallelism;
  const left = completions - counting.succeeded - counting.indexFailures.failed.size;
  return Math.max(0, Math.min(parallelism, left));
}

/** Pods to delete: those without an index or with a taken one, then the most expendable others. */
export function surplusPods(job: Job, live: LivePods, wanted: number): readonly Stored<Pod>[] {
  const hasMisplaced = isIndexed(job) && !haveOwnIndexes(job, live.active);
  if (!hasMisplaced && live.active.length <= wanted) return [];
  const expendableFirst = [...live.active].sort(compareExpendable);
  const surplus = hasMisplaced ? misplacedPods(job, expendableFirst) : [];
  const chosen = new Set(surplus);
  for (const pod of expendableFirst) {
    if (live.active.length - chosen.size <= wanted) break;
    chosen.add(pod);
  }
  return [...chosen];
}

/** The lowest open indexes without a Pod, at most `limit`. */
export function missingIndexes(
  job: Job,
  counting: Counting,
  live: LivePods,
  limit: number,
): number[] {
  const holders = waitsForTerminating(job) ? [...live.active, ...live.terminating] : live.active;
  const taken = new Set(holders.map((pod) => indexOf(job, pod)));
  const { failed } = counting.indexFailures;
  const missing: number[] = [];
  for (let index = 0; index < (job.spec.completions ?? 0) && missing.length < limit; index++) {
    const isOpen = !counting.completedIndexes.has(index) && !failed.has(index);
    if (isOpen && !taken.has(index)) missing.push(index);
  }
  return missing;
}

/** Whether each Pod has an index of its own. */
function haveOwnIndexes(job: Job, pods: readonly Stored<Pod>[]): boolean {
  const taken = new Set<number>();
  for (const pod of pods) {
    const index = indexOf(job, pod);
    if (index === undefined || taken.has(index)) return false;
    taken.add(index);
  }
  return true;
}

function misplacedPods(job: Job, expendableFirst: readonly Stored<Pod>[]): Stored<Pod>[] {
  const keeper = new Map<number | undefined, Stored<Pod>>();
  // The last one written, the least expendable, keeps the index.
  for (const pod of expendableFirst) keeper.set(indexOf(job, pod), pod);
  return expendableFirst.filter((pod) => {
    const index = indexOf(job, pod);
    return index === undefined || keeper.get(index) !== pod;
  });
}

/**
 * The most expendable first: unscheduled, Pending, not ready, recently ready, often restarted,
 * young.
 */
function compareExpendable(a: Stored<Pod>, b: Stored<Pod>): number {
  return (
    rank(a) - rank(b) ||
    compareText(readySince(b), readySince(a)) ||
    maxRestarts(b) - maxRestarts(a) ||
    compareText(b.metadata.creationTimestamp, a.metadata.creationTimestamp) ||
    compareText(a.metadata.uid, b.metadata.uid)
  );
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** RFC 3339; empty for a Pod that is not ready. */
function readySince(pod: Pod): string {
  const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' ? (ready.lastTransitionTime ?? '') : '';
}

/** The restarts of the container that was restarted most often. */
function maxRestarts({ status }: Pod): number {
  return Math.max(0, ...(status?.containerStatuses ?? []).map((each) => each.restartCount));
}

function rank(pod: Pod): number {
  if (pod.spec.nodeName === undefined) return 0;
  if (pod.status?.phase !== 'Running') return 1;
  return isReady(pod) ? 3 : 2;
}
