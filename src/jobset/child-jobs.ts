import type { Job } from '../kube/job.ts';
import type { Stored } from '../kube/meta.ts';
import { isTrue } from './conditions.ts';
import { REPLICATED_JOB_NAME, RESTART_ATTEMPT } from './names.ts';

/** A JobSet's Jobs by what they mean to it (spec 4.4). Each Job is in exactly one list. */
export interface ChildJobs {
  /** Of an earlier attempt: to be deleted, and in the way of their successors until they are gone. */
  readonly previous: readonly Stored<Job>[];
  readonly active: readonly Stored<Job>[];
  readonly successful: readonly Stored<Job>[];
  readonly failed: readonly Stored<Job>[];
  /** Whose attempt cannot be told. They hold their name and are left alone. */
  readonly unreadable: readonly UnreadableJob[];
}

export interface UnreadableJob {
  readonly job: Stored<Job>;
  /** Names the label, its value and what was expected. */
  readonly problem: string;
}

/** `restarts` is the attempt that the status asks for; Jobs of a lower one are `previous`. */
export function classifyJobs(jobs: readonly Stored<Job>[], restarts: number): ChildJobs {
  const previous: Stored<Job>[] = [];
  const active: Stored<Job>[] = [];
  const successful: Stored<Job>[] = [];
  const failed: Stored<Job>[] = [];
  const unreadable: UnreadableJob[] = [];
  for (const job of jobs) {
    const text = job.metadata.labels?.[RESTART_ATTEMPT];
    if (text === undefined || !/^-?\d{1,10}$/.test(text)) {
      unreadable.push({ job, problem: attemptProblem(job, text) });
    } else if (Number(text) < restarts) previous.push(job);
    else if (isTrue(job.status?.conditions, 'Failed')) failed.push(job);
    else if (isTrue(job.status?.conditions, 'Complete')) successful.push(job);
    else active.push(job);
  }
  return { previous, active, successful, failed, unreadable };
}

/** Jobs of the present attempt. */
export function currentJobs(jobs: ChildJobs): readonly Stored<Job>[] {
  return [...jobs.active, ...jobs.successful, ...jobs.failed];
}

/** The ReplicatedJob that a Job was made for, or undefined if its label is gone. */
export function replicatedJobOf(job: Job): string | undefined {
  return job.metadata.labels?.[REPLICATED_JOB_NAME];
}

function attemptProblem(job: Stored<Job>, text: string | undefined): string {
  const value = text === undefined ? 'is missing' : `is "${text}"`;
  return `label ${RESTART_ATTEMPT} of Job ${job.metadata.name} ${value}, expected an integer`;
}
