import type { JobSetStatus, ReplicatedJobStatus } from '../jobset-status.ts';

/**
 * The two dialects of a JobSet's status, ours and upstream's. Upstream counts attempts from 0: an
 * attempt is an epoch - 1. An agent of upstream announces `current` + 1, or 0 without `current`. So
 * `current` has to change at the end of an epoch and at its release, or no agent would announce the
 * next one (`docs/design/upstream.md`).
 */
export type UpstreamAttempts = Pick<
  JobSetStatus,
  'previousInPlaceRestartAttempt' | 'currentInPlaceRestartAttempt'
>;

/** Our epochs in upstream's words. Negative values are left out. */
export function upstreamAttempts(status: JobSetStatus): UpstreamAttempts {
  const { deprecatedEpoch = 0, syncedEpoch = 0 } = status;
  const previous = deprecatedEpoch - 1;
  const current = Math.max(syncedEpoch, deprecatedEpoch) - 1;
  return {
    ...(previous < 0 ? {} : { previousInPlaceRestartAttempt: previous }),
    ...(current < 0 ? {} : { currentInPlaceRestartAttempt: current }),
  };
}

export interface Epochs {
  /** D. */
  readonly deprecated: number;
  /** S, of all ReplicatedJobs together. */
  readonly synced: number;
}

/**
 * The epochs of a status in either dialect: upstream's attempts if our own fields are absent, as
 * under upstream's controller. `synced` is never more than `deprecated` + 1.
 */
export function epochsOf(status: JobSetStatus | undefined): Epochs {
  if (speaksOurs(status)) {
    return { deprecated: status?.deprecatedEpoch ?? 0, synced: status?.syncedEpoch ?? 0 };
  }
  const previous = status?.previousInPlaceRestartAttempt ?? -1;
  const synced = (status?.currentInPlaceRestartAttempt ?? -1) + 1;
  return { deprecated: Math.max(previous + 1, synced - 1), synced };
}

/** S(r): the newest epoch in which a ReplicatedJob was released. */
export function releasedEpoch(status: JobSetStatus | undefined, replicatedJob: string): number {
  const own = status?.replicatedJobsStatus?.find(({ name }) => name === replicatedJob);
  return own?.syncedEpoch ?? (speaksOurs(status) ? 0 : epochsOf(status).synced);
}

/** A status as we read it if the stored definition keeps attempts, but none of our fields. */
export function fromAttempts(status: JobSetStatus): JobSetStatus {
  const ours = epochsFromAttempts(status, status.replicatedJobsStatus ?? []);
  return ours === undefined ? status : { ...status, ...ours };
}

/**
 * Our fields for a status that has only upstream's attempts; undefined if it has ours, or neither.
 * Every epoch that is over was one restart. Restarts that recreated Jobs are counted already; the
 * others were in place, and count towards the budget, as attempts do not say which were charged.
 */
export function epochsFromAttempts(
  status: JobSetStatus,
  counters: readonly ReplicatedJobStatus[],
): Partial<JobSetStatus> | undefined {
  if (speaksOurs(status) || !speaksUpstreams(status)) return undefined;
  const { deprecated, synced } = epochsOf(status);
  const inPlace = Math.max(0, deprecated - (status.restarts ?? 0));
  return {
    deprecatedEpoch: deprecated,
    syncedEpoch: synced,
    replicatedJobsStatus: counters.map((each) => ({ ...each, syncedEpoch: synced })),
    inPlaceRestarts: inPlace,
    inPlaceRestartsCountTowardsMax: inPlace,
  };
}

/** A status for agents of both dialects; a status without epochs stays as it is. */
export function inBothDialects(status: JobSetStatus): JobSetStatus {
  return speaksOurs(status) ? { ...status, ...upstreamAttempts(status) } : status;
}

function speaksOurs(status: JobSetStatus | undefined): boolean {
  return status?.deprecatedEpoch !== undefined || status?.syncedEpoch !== undefined;
}

function speaksUpstreams(status: JobSetStatus): boolean {
  return (
    status.previousInPlaceRestartAttempt !== undefined ||
    status.currentInPlaceRestartAttempt !== undefined
  );
}
