/** What a JobSet object says to the agents of one of its ReplicatedJobs. */
import { epochsOf, releasedEpoch } from '../jobset/dialect.ts';
import type { JobSet } from '../jobset/jobset.ts';
import { DISABLE_IN_PLACE_RESTART } from '../jobset/names.ts';
import type { Stored } from '../kube/meta.ts';
import type { Snapshot } from './channel.ts';

/**
 * Without a name (a Pod that does not wear the labels of a JobSet's) the agent follows the epoch in
 * which the slowest ReplicatedJob was released. See `Snapshot` for `isFresh`.
 */
export function jobSetSnapshot(
  jobSet: Stored<JobSet>,
  replicatedJobName: string | undefined,
  isFresh: boolean,
): Snapshot {
  const { metadata, spec, status } = jobSet;
  const { deprecated, synced } = epochsOf(status);
  return {
    uid: metadata.uid,
    version: metadata.resourceVersion,
    deprecated,
    released: replicatedJobName === undefined ? synced : releasedEpoch(status, replicatedJobName),
    isBypassed:
      metadata.annotations?.[DISABLE_IN_PLACE_RESTART] !== undefined ||
      spec.failurePolicy?.restartStrategy !== 'InPlaceRestart',
    isFresh,
  };
}

/** How many Pods the JobSet runs at a time. */
export function groupSize({ spec }: JobSet): number {
  return (spec.replicatedJobs ?? []).reduce((sum, { replicas, template }) => {
    const { parallelism, completions } = template.spec;
    return sum + (replicas ?? 1) * (parallelism ?? completions ?? 1);
  }, 0);
}
