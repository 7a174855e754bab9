import type { JobSetStatus } from './jobset.ts';

/**
 * The budget of restarts (design, section 5). Restarts of Jobs and restarts in place draw on the
 * same `maxRestarts`; both counters live in the status and are never derived from epochs.
 */
export function countedRestarts(status: JobSetStatus): number {
  return (status.restartsCountTowardsMax ?? 0) + (status.inPlaceRestartsCountTowardsMax ?? 0);
}

/** True if one more counted restart would be one too many. */
export function isBudgetSpent(status: JobSetStatus, maxRestarts: number): boolean {
  return countedRestarts(status) >= maxRestarts;
}
