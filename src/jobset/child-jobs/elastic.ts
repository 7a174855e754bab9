/** Elastic Jobs: a running JobSet changes its size. */
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { DefaultedReplicatedJob } from '../defaults.ts';
import { REPLICATED_JOB_REPLICAS } from '../names.ts';
import { jobIndexOf, replicatedJobOf } from './child-jobs.ts';

/**
 * A running Indexed Job gets another size when its template does. A ReplicatedJob grows and shrinks
 * from its highest index (KEP-463): surplus Jobs are deleted, and missing ones made like any other.
 * Labels such as `global-replicas` keep the values of the Job's creation.
 */
export interface JobSize {
  readonly parallelism: number;
  readonly completions: number;
}

/** The Job's new size; undefined if there is nothing to change. */
export function sizeChange({ spec }: Job, wanted: DefaultedReplicatedJob): JobSize | undefined {
  const { parallelism, completions } = wanted.template.spec;
  // Only a Job without a work queue, whose slots are its completions, can change its size; both
  // default to 1.
  if (parallelism !== completions || spec.completionMode !== 'Indexed') return undefined;
  const slots = parallelism ?? 1;
  const isSame = (spec.parallelism ?? 1) === slots && (spec.completions ?? 1) === slots;
  return isSame ? undefined : { parallelism: slots, completions: slots };
}

export interface SizeChange {
  readonly job: Stored<Job>;
  readonly size: JobSize;
}

export function sizeChanges(
  jobs: readonly Stored<Job>[],
  replicatedJobs: readonly DefaultedReplicatedJob[],
): readonly SizeChange[] {
  const byName = new Map(replicatedJobs.map((each) => [each.name, each]));
  const changes: SizeChange[] = [];
  for (const job of jobs) {
    const wanted = byName.get(replicatedJobOf(job) ?? '');
    const size = wanted && sizeChange(job, wanted);
    if (size !== undefined && job.metadata.deletionTimestamp === undefined)
      changes.push({ job, size });
  }
  return changes;
}

/**
 * Whether Jobs are missing because the size grew after any of `jobs`, all of one ReplicatedJob, was
 * made. A Job that is missing for another reason was lost.
 */
export function hasGrown(jobs: readonly Job[], { replicas }: DefaultedReplicatedJob): boolean {
  if (jobs.length === 0 || jobs.length >= replicas) return false;
  return jobs.every(
    (job) =>
      Number(job.metadata.labels?.[REPLICATED_JOB_REPLICAS]) < replicas &&
      jobIndexOf(job) + 1 < replicas,
  );
}
