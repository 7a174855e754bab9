import type { Job } from '../../kube/job.ts';
import type { Stored } from '../../kube/meta.ts';
import type { Action } from '../convergence.ts';
import type { DefaultedReplicatedJob } from '../defaults.ts';
import { jobNamePrefix } from '../naming.ts';
import type { Planning } from '../planning.ts';
import { announceStart, type StartupOrder } from '../policies/startup-order.ts';
import type { BuildJob } from './job-template.ts';
import { type HeldNames, heldNames } from './name-conflict.ts';

/**
 * Which Jobs are to be made (spec 4.5): those of the ReplicatedJobs that may start, whose name no Job
 * holds, whatever state that is in, and which have not succeeded before (`succeeded-jobs.ts`).
 */
export interface JobCreations {
  readonly actions: readonly Action[];
  readonly held: HeldNames;
}

export function jobCreations(
  planning: Planning,
  { startable }: StartupOrder,
  build: BuildJob,
): JobCreations {
  const { snapshot, spec } = planning;
  const taken = new Set<string>();
  for (const { metadata } of snapshot.jobs) taken.add(metadata.name);
  const actions: Action[] = [];
  const holders: Stored<Job>[] = [];
  for (const replicatedJob of spec.replicatedJobs) {
    if (!startable.has(replicatedJob.name)) continue;
    const missing = missingIndexes(planning, replicatedJob, taken);
    for (const { index, name } of missing) {
      const holder = snapshot.surroundings.jobNamed(name);
      if (holder === undefined) {
        actions.push({ kind: 'CreateJob', job: build(replicatedJob, index) });
      } else holders.push(holder);
    }
    if (missing.length > 0 && missing.length === replicatedJob.replicas) {
      announceStart(planning.draft, spec, replicatedJob);
    }
  }
  return { actions, held: heldNames(holders, snapshot.jobSet.metadata.name) };
}

function missingIndexes(
  { snapshot, children }: Planning,
  { name, replicas }: DefaultedReplicatedJob,
  taken: ReadonlySet<string>,
): readonly { readonly index: number; readonly name: string }[] {
  const done = children.gone.get(name);
  const prefix = jobNamePrefix(snapshot.jobSet.metadata.name, name);
  const missing: { index: number; name: string }[] = [];
  for (let index = 0; index < replicas; index++) {
    const job = prefix + index;
    if (!taken.has(job) && done?.has(index) !== true) missing.push({ index, name: job });
  }
  return missing;
}
