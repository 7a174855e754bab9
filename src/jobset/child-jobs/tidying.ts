import type { Stored } from '../../kube/meta.ts';
import type { Job } from '../../kube/objects/job.ts';
import type { Action } from '../convergence.ts';
import { jobNamePrefix } from '../naming.ts';
import type { Planning } from '../planning.ts';
import { isTrue } from '../status/conditions.ts';

/**
 * What is done about Jobs that are not as they should be, in every pass and whatever else happens
 * in it: those of an earlier attempt and those beyond the replicas are deleted, labels that
 * somebody broke are put right, and a Job whose labels are lost is made anew.
 */
export function tidyUp(planning: Planning): readonly Action[] {
  const { children, draft } = planning;
  const relabelled = children.mislabelled.filter(({ job }) => !isBeingDeleted(job));
  for (const { problem } of relabelled) {
    draft.event('Warning', 'MislabelledJob', `${problem}; it gets its labels back`);
  }
  const replaced: Stored<Job>[] = [];
  for (const { job, problem } of children.unreadable) {
    if (isBeingDeleted(job)) continue;
    const isOurs = isNamedForUs(planning, job);
    if (isOurs) replaced.push(job);
    const outcome = isOurs
      ? 'it is recreated'
      : 'it stays as it is, because no Job of the JobSet has that name';
    draft.eventOnce('Warning', 'UnreadableJob', `${problem}; ${outcome}`);
  }
  return [
    ...deletions([...children.previous, ...children.surplus, ...replaced]),
    ...relabelled.map(({ job, wanted }): Action => ({ kind: 'RelabelJob', job, labels: wanted })),
  ];
}

/** Jobs of a finished JobSet that may still run. Those that have ended stay, for people to look at. */
export function stillRunning(planning: Planning): readonly Stored<Job>[] {
  const { children } = planning;
  const unreadable = children.unreadable
    .map(({ job }) => job)
    .filter((job) => isNamedForUs(planning, job) && !hasEnded(job));
  return [...children.active, ...children.previous, ...children.surplus, ...unreadable];
}

/** A Job that is being deleted already needs no second request. */
export function deletions(jobs: readonly Stored<Job>[]): readonly Action[] {
  return jobs
    .filter((job) => !isBeingDeleted(job))
    .map((job): Action => ({ kind: 'DeleteJob', job }));
}

function isBeingDeleted({ metadata }: Stored<Job>): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function hasEnded({ status }: Job): boolean {
  return isTrue(status?.conditions, 'Complete') || isTrue(status?.conditions, 'Failed');
}

function isNamedForUs({ snapshot, spec }: Planning, { metadata }: Stored<Job>): boolean {
  return spec.replicatedJobs.some(({ name, replicas }) => {
    const prefix = jobNamePrefix(snapshot.jobSet.metadata.name, name);
    const index = metadata.name.slice(prefix.length);
    return (
      metadata.name.startsWith(prefix) && /^(0|[1-9]\d*)$/.test(index) && Number(index) < replicas
    );
  });
}
