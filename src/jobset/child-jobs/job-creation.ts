import type { Stored } from '../../kube/meta.ts';
import type { Job } from '../../kube/objects/job.ts';
import type { Action } from '../convergence.ts';
import type { DefaultedReplicatedJob } from '../defaults.ts';
import { jobNamePrefix } from '../naming.ts';
import type { Planning } from '../planning.ts';
import { announceStart, type StartupOrder } from '../policies/startup-order.ts';
import type { BuildJob } from './job-template.ts';
import { type HeldNames, heldNames } from './name-conflict.ts';

/**
 * Which Jobs are to be made: those of the ReplicatedJobs that may start, whose name no Job holds,
 * whatever state that is in, and which have not succeeded before (`succeeded-jobs.ts`). One pass makes
 * a part of many Jobs, so that it needs little memory, other JobSets get their turn, and a change of
 * the JobSet is seen before all its Jobs are made.
 */
export interface JobCreations {
  readonly actions: readonly Action[];
  readonly held: HeldNames;
  /** Another pass has to make more. */
  readonly isPartial: boolean;
}

export const MAX_CREATIONS_PER_PASS = 2_000;

export function jobCreations(
  planning: Planning,
  { startable }: StartupOrder,
  build: BuildJob,
): JobCreations {
  const { snapshot, spec, draft } = planning;
  const taken = new Set<string>();
  for (const { metadata } of snapshot.jobs) taken.add(metadata.name);
  const actions: Action[] = [];
  const holders: Stored<Job>[] = [];
  let isPartial = false;
  for (const replicatedJob of spec.replicatedJobs) {
    if (!startable.has(replicatedJob.name)) continue;
    const room = MAX_CREATIONS_PER_PASS - actions.length;
    const missing = missingJobs(planning, replicatedJob, taken, room);
    for (const index of missing.indexes) {
      actions.push({ kind: 'CreateJob', job: build(replicatedJob, index) });
    }
    holders.push(...missing.holders);
    if (missing.isFromTheStart) announceStart(draft, spec, replicatedJob);
    isPartial ||= missing.isPartial;
  }
  return { actions, held: heldNames(holders, snapshot.jobSet.metadata.name), isPartial };
}

interface MissingJobs {
  /** The first of those whose names are free. */
  readonly indexes: readonly number[];
  /** Jobs of others that hold the names of more. */
  readonly holders: readonly Stored<Job>[];
  readonly isPartial: boolean;
  /** Not one Job of the ReplicatedJob was made before. */
  readonly isFromTheStart: boolean;
}

/** Looks at no more Jobs than are there or are to be made. */
function missingJobs(
  { snapshot, children }: Planning,
  { name, replicas }: DefaultedReplicatedJob,
  taken: ReadonlySet<string>,
  room: number,
): MissingJobs {
  const done = children.gone.get(name);
  const prefix = jobNamePrefix(snapshot.jobSet.metadata.name, name);
  const indexes: number[] = [];
  const holders: Stored<Job>[] = [];
  let index = 0;
  for (; index < replicas; index++) {
    const job = prefix + index;
    if (taken.has(job) || done?.has(index) === true) continue;
    const holder = snapshot.surroundings.jobNamed(job);
    if (holder !== undefined) holders.push(holder);
    else if (indexes.length < room) indexes.push(index);
    else break;
  }
  const missing = indexes.length + holders.length;
  const isFromTheStart = missing > 0 && missing === index;
  return { indexes, holders, isPartial: index < replicas, isFromTheStart };
}
