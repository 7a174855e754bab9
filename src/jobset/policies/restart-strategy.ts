/**
 * The differences between the restart strategies. All of them recreate Jobs by raising the attempt in
 * the status, which makes the old Jobs `previous`. A new Job waits until the old object of its name
 * is gone.
 */
import type { Stored, StringMap } from '@lockstep/kube/meta.ts';
import type { ChildJobs } from '../child-jobs/child-jobs.ts';
import type { DefaultedSpec } from '../defaults.ts';
import type { JobSet, JobSetSpec } from '../jobset.ts';
import { DISABLE_IN_PLACE_RESTART } from '../names.ts';
import { isFinished } from '../status/conditions.ts';

/** False if all Jobs of an earlier attempt must be gone before any successor may be created. */
export function mayCreateJobs(spec: DefaultedSpec, jobs: ChildJobs): boolean {
  return spec.failurePolicy?.restartStrategy !== 'BlockingRecreate' || jobs.previous.length === 0;
}

/** Whether failures restart the group in place, and no annotation bypasses that. */
export function restartsInPlace(
  spec: Pick<JobSetSpec, 'failurePolicy'>,
  annotations: StringMap | undefined,
): boolean {
  return (
    spec.failurePolicy?.restartStrategy === 'InPlaceRestart' &&
    annotations?.[DISABLE_IN_PLACE_RESTART] === undefined
  );
}

/** Whether a JobSet has the strategy that restarts in place, and is not over. */
export function isGroup({ spec, status }: Stored<JobSet>): boolean {
  const isInPlace = spec?.failurePolicy?.restartStrategy === 'InPlaceRestart';
  return isInPlace && !isFinished(status?.conditions);
}
