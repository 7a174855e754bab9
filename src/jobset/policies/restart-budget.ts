/** How many restarts a JobSet may make, and how many it has made. */

import type { JobSet } from '../jobset.ts';
import type { JobSetStatus } from '../jobset-status.ts';
import { extraRestarts } from './ladder-settings.ts';

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

/** The sum of `maxRestarts`, which cannot change, and the extra restarts of an annotation. */
export function allowedRestarts({ metadata, spec }: Pick<JobSet, 'metadata' | 'spec'>): number {
  const maxRestarts = spec?.failurePolicy?.maxRestarts ?? 0;
  const extra = extraRestarts(metadata.annotations);
  return extra === 0 ? maxRestarts : Math.max(0, maxRestarts) + extra;
}
