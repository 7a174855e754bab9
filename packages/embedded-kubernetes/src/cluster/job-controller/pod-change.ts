/** Which Pods one pass over an unfinished Job creates and deletes. */
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { earliest, type FailureStreak, remainingBackoffMs, streakOfIndex } from './backoff.ts';
import type { Counting } from './counting.ts';
import { isIndexed, waitsForTerminating } from './job-pods.ts';
import { type LivePods, missingIndexes, surplusPods, wantedActive } from './pod-count.ts';

export interface PodChange {
  readonly discarded: readonly Stored<Pod>[];
  readonly stopped: readonly Stored<Pod>[];
  readonly created: readonly (number | undefined)[];
  /** Active Pods after the pass. */
  readonly active: number;
  readonly backoffMs?: number | undefined;
}

export const NO_CHANGE: PodChange = { discarded: [], stopped: [], created: [], active: 0 };

interface CreationFailures {
  readonly streak: FailureStreak;
  readonly creationHeldUntilMs: number;
  readonly nowMs: number;
}

/** Creations or deletions in one pass: upstream's number. */
const MAX_POD_CHANGES = 500;

/** Plans either deletions or creations, never both in one pass, as upstream does. */
export function planPods(
  job: Job,
  counting: Counting,
  live: LivePods,
  failures: CreationFailures,
): PodChange {
  const active = live.active.length;
  const isSuspended = job.spec.suspend === true;
  const wanted = isSuspended ? 0 : wantedActive(job, counting, active);
  const discarded = surplusPods(job, live, wanted).slice(0, MAX_POD_CHANGES);
  if (discarded.length > 0) {
    return { ...NO_CHANGE, discarded, active: active - discarded.length };
  }
  const blocking = waitsForTerminating(job) ? live.terminating.length : 0;
  const lacking = Math.min(MAX_POD_CHANGES, wanted - blocking - active);
  if (lacking <= 0) return { ...NO_CHANGE, active };
  const heldMs = failures.creationHeldUntilMs - failures.nowMs;
  if (heldMs > 0) return { ...NO_CHANGE, active, backoffMs: heldMs };
  if (job.spec.backoffLimitPerIndex !== undefined) {
    const missing = missingIndexes(job, counting, live, lacking);
    return { ...NO_CHANGE, ...dueIndexes(missing, counting, active, failures.nowMs) };
  }
  const backoffMs = remainingBackoffMs(failures.streak, failures.nowMs);
  if (backoffMs > 0) return { ...NO_CHANGE, active, backoffMs };
  const created = isIndexed(job)
    ? missingIndexes(job, counting, live, lacking)
    : Array.from({ length: lacking }, () => undefined);
  return { ...NO_CHANGE, created, active: active + created.length };
}

/** The indexes that are due, and when the next one will be; each has a back-off of its own. */
function dueIndexes(
  missing: readonly number[],
  counting: Counting,
  active: number,
  nowMs: number,
): Pick<PodChange, 'created' | 'active' | 'backoffMs'> {
  const created: number[] = [];
  const delays: number[] = [];
  for (const index of missing) {
    const last = counting.indexFailures.unreplaced.get(index);
    const delayMs = remainingBackoffMs(streakOfIndex(last), nowMs);
    if (delayMs > 0) delays.push(delayMs);
    else created.push(index);
  }
  return { created, active: active + created.length, backoffMs: earliest(delays) };
}
