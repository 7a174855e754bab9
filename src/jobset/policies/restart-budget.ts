import type { JobSetStatus } from '../jobset.ts';

/**
 * The budget of restarts. Restarts of all Jobs, of one Job and in place draw on the same
 * `maxRestarts`; all counters live in the status and are never derived from epochs
 * (`docs/design/protocol.md#the-budget`).
 */
export function countedRestarts(status: JobSetStatus): number {
  let sum = (status.restartsCountTowardsMax ?? 0) + (status.inPlaceRestartsCountTowardsMax ?? 0);
  for (const { jobRestartsCountTowardsMax = [] } of status.replicatedJobsStatus ?? []) {
    for (const restarts of jobRestartsCountTowardsMax) sum += restarts;
  }
  return sum;
}

/** True if one more counted restart would be one too many. */
export function isBudgetSpent(status: JobSetStatus, maxRestarts: number): boolean {
  return countedRestarts(status) >= maxRestarts;
}
