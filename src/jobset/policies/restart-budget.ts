/** How many restarts a JobSet may make, and when there is none left. */
import type { Facts } from '../facts.ts';
import type { JobSet, JobSetStatus } from '../jobset.ts';
import { lackOfProgress } from '../ladder/ended-progress.ts';
import { extraRestarts } from '../ladder/ladder-settings.ts';

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

/** `maxRestarts`, which cannot be changed, and what an annotation adds, which can. */
export function allowedRestarts({ metadata, spec }: Pick<JobSet, 'metadata' | 'spec'>): number {
  const maxRestarts = spec?.failurePolicy?.maxRestarts ?? 0;
  const extra = extraRestarts(metadata.annotations);
  return extra === 0 ? maxRestarts : Math.max(0, maxRestarts) + extra;
}

/** Why the JobSet fails, as the reason and the message of its condition. */
export interface LastFailure {
  readonly reason: 'ReachedMaxRestarts' | 'NoProgress';
  readonly message: string;
}

/** Why one more counted restart would be one too many; undefined: it would not. */
export function whyNoRestart(facts: Facts): LastFailure | undefined {
  if (countedRestarts(facts.status) >= allowedRestarts(facts.jobSet)) {
    const message = 'jobset failed due to reaching max number of restarts';
    return { reason: 'ReachedMaxRestarts', message };
  }
  const lack = lackOfProgress(facts);
  if (lack === undefined) return undefined;
  return { reason: 'NoProgress', message: `jobset failed because ${lack}` };
}
