import type { Stored } from '../../kube/meta.ts';
import type { JobSet } from '../jobset.ts';
import { DISABLE_IN_PLACE_RESTART } from '../names.ts';
import { epochsOf, releasedEpoch } from './dialect.ts';

/** What a stored JobSet says to the agents of one of its ReplicatedJobs. */
export interface GroupState {
  /** UID of the JobSet: another JobSet of the same name is none of the agent's business. */
  readonly uid: string;
  /** The JobSet's resourceVersion. */
  readonly version: string;
  /** D: workers of this epoch and of all before it are to stop. */
  readonly deprecated: number;
  /** S of the ReplicatedJob: the newest epoch in which it was released. */
  readonly released: number;
  /** True when the user took the JobSet out of in-place restart: barriers open, nothing is stopped. */
  readonly isBypassed: boolean;
}

/**
 * Without a name (a Pod that does not wear the labels of a JobSet's) it is the epoch in which the
 * slowest ReplicatedJob was released.
 */
export function groupState(
  { metadata, spec, status }: Stored<JobSet>,
  replicatedJobName: string | undefined,
): GroupState {
  const { deprecated, synced } = epochsOf(status);
  return {
    uid: metadata.uid,
    version: metadata.resourceVersion,
    deprecated,
    released: replicatedJobName === undefined ? synced : releasedEpoch(status, replicatedJobName),
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
