/** The back-off with which a Job replaces failed Pods. */
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { allFailures } from './index-failures.ts';
import { finishTimeMs } from './job-pods.ts';

/**
 * Without a failure since the last success a Job does not wait. Otherwise it waits 10 s, doubling
 * with each failure up to 10 min, counted from the end of the last failure.
 */
export interface FailureStreak {
  /** Failures since the last success. */
  readonly failures: number;
  readonly lastFailureMs: number;
}

export const NO_FAILURES: FailureStreak = { failures: 0, lastFailureMs: 0 };
const POD_BACKOFF_BASE_MS = 10_000;
const POD_BACKOFF_MAX_MS = 600_000;

/**
 * The streak after the Pods in `ended`, which are not part of it yet, in the order of their ends.
 */
export function continueStreak(
  streak: FailureStreak,
  ended: readonly Stored<Pod>[],
): FailureStreak {
  const inOrder = ended
    .map((pod) => ({ endMs: finishTimeMs(pod), isSuccess: pod.status?.phase === 'Succeeded' }))
    // Times are whole seconds: a success ends the streak even for failures in the same second.
    .sort((a, b) => a.endMs - b.endMs || Number(a.isSuccess) - Number(b.isSuccess));
  let { failures, lastFailureMs } = streak;
  for (const { endMs, isSuccess } of inOrder) {
    failures = isSuccess ? 0 : failures + 1;
    if (!isSuccess) lastFailureMs = endMs;
  }
  return { failures, lastFailureMs };
}

/** The streak of one index under `backoffLimitPerIndex`, as its last failed Pod records it. */
export function streakOfIndex(lastFailed: Stored<Pod> | undefined): FailureStreak {
  if (lastFailed === undefined) return NO_FAILURES;
  return { failures: allFailures(lastFailed), lastFailureMs: finishTimeMs(lastFailed) };
}

/** How long to wait from `nowMs` on; 0 if the wait is over. */
export function remainingBackoffMs(
  { failures, lastFailureMs }: FailureStreak,
  nowMs: number,
): number {
  if (failures === 0) return 0;
  const delayMs = Math.min(POD_BACKOFF_MAX_MS, POD_BACKOFF_BASE_MS * 2 ** (failures - 1));
  return Math.max(0, lastFailureMs + delayMs - nowMs);
}

/** The shortest of delays in milliseconds, if there is one. */
export function earliest(delays: readonly (number | undefined)[]): number | undefined {
  const known = delays.filter((delay) => delay !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
