/** The parts of a JobSet's status that the agents of its group act on. */
import type { Stored } from '@lockstep/kube/meta.ts';
import type { JobSet } from '../jobset.ts';
import type { GroupRanks } from '../jobset-status.ts';
import { DISABLE_IN_PLACE_RESTART } from '../names.ts';
import { asRecorded } from '../overrides/recorded-annotations.ts';
import { type ProgressTimeouts, progressTimeouts } from '../progress/progress-timeouts.ts';
import { checkedRanks } from '../ranks/group-ranks.ts';
import { epochsOf, releasedEpoch } from '../status/epochs.ts';

export interface GroupState {
  /** UID of the JobSet, so that an agent ignores another JobSet of the same name. */
  readonly uid: string;
  /** The JobSet's resourceVersion. */
  readonly version: string;
  /** D: workers of this epoch and of all before it have to stop. */
  readonly deprecated: number;
  /** S of the ReplicatedJob: the newest epoch in which it was released. */
  readonly released: number;
  /** The user took the JobSet out of in-place restart: barriers open, and agents stop nothing. */
  readonly isBypassed: boolean;
  /** How long workers may be silent. */
  readonly timeouts: ProgressTimeouts;
  /** The numbers of the ranks in epoch D + 1; absent: there are none yet, or no member has ranks. */
  readonly ranks?: GroupRanks;
}

/**
 * Without `replicatedJob` (a Pod without a JobSet's labels), the release of the slowest
 * ReplicatedJob counts.
 */
export function groupState(
  jobSet: Stored<JobSet>,
  replicatedJobName: string | undefined,
): GroupState {
  const { metadata, spec, status } = asRecorded(jobSet);
  const { deprecated, synced } = epochsOf(status);
  const state: GroupState = {
    uid: metadata.uid,
    version: metadata.resourceVersion,
    deprecated,
    released: replicatedJobName === undefined ? synced : releasedEpoch(status, replicatedJobName),
    isBypassed:
      metadata.annotations?.[DISABLE_IN_PLACE_RESTART] !== undefined ||
      spec.failurePolicy?.restartStrategy !== 'InPlaceRestart',
    timeouts: progressTimeouts(metadata.annotations),
  };
  // An older operator ends and releases epochs, and leaves the numbers of an earlier one in place.
  const isCurrent = status?.ranks?.epoch === deprecated + 1;
  const ranks = isCurrent ? checkedRanks(status.ranks) : undefined;
  return ranks === undefined ? state : { ...state, ranks };
}

/** How many Pods the JobSet runs at a time. */
export function groupSize({ spec }: JobSet): number {
  return (spec.replicatedJobs ?? []).reduce((sum, { replicas, template }) => {
    const { parallelism, completions } = template.spec;
    return sum + (replicas ?? 1) * (parallelism ?? completions ?? 1);
  }, 0);
}
