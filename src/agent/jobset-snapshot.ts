/** What a JobSet object says to the agents of one of its ReplicatedJobs. */
import type { JobSet } from '../jobset/jobset.ts';
import { DISABLE_IN_PLACE_RESTART } from '../jobset/names.ts';
import type { Stored } from '../kube/meta.ts';
import type { Snapshot } from './channel.ts';

/**
 * Without a name (a template's own agent that was not told) the agent follows the epoch in which the
 * slowest ReplicatedJob was released.
 */
export function jobSetSnapshot(
  jobSet: Stored<JobSet>,
  replicatedJobName: string | undefined,
): Snapshot {
  const { metadata, spec, status } = jobSet;
  const released =
    replicatedJobName === undefined
      ? status?.syncedEpoch
      : status?.replicatedJobsStatus?.find(({ name }) => name === replicatedJobName)?.syncedEpoch;
  return {
    uid: metadata.uid,
    version: metadata.resourceVersion,
    deprecated: status?.deprecatedEpoch ?? 0,
    released: released ?? 0,
    isBypassed:
      metadata.annotations?.[DISABLE_IN_PLACE_RESTART] !== undefined ||
      spec.failurePolicy?.restartStrategy !== 'InPlaceRestart',
  };
}

/** How many Pods the JobSet runs at a time. */
export function groupSize({ spec }: JobSet): number {
  return (spec.replicatedJobs ?? []).reduce((sum, { replicas, template }) => {
    const { parallelism, completions } = template.spec;
    return sum + (replicas ?? 1) * (parallelism ?? completions ?? 1);
  }, 0);
}
