/**
 * Sorts a JobSet's Jobs by what has to happen to them. Each Job is in exactly one of these lists,
 * except for `mislabelled`.
 */
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { DefaultedReplicatedJob } from '../defaults.ts';
import type { FeatureGates } from '../feature-gates.ts';
import type { JobSetStatus } from '../jobset-status.ts';
import { isTrue } from '../status/conditions.ts';
import {
  attemptOf,
  type BrokenLabels,
  brokenLabels,
  isReadable,
  jobAttemptOf,
  jobIndexOf,
  replicatedJobOf,
} from './job-labels.ts';
import { goneSuccesses, recordedSuccesses, type Successes } from './succeeded-jobs.ts';

export { jobIndexOf, replicatedJobOf } from './job-labels.ts';

export interface ChildJobs extends Successes {
  /** Jobs of an earlier attempt: to be deleted; their successors wait until they are gone. */
  readonly previous: readonly Stored<Job>[];
  readonly active: readonly Stored<Job>[];
  readonly failed: readonly Stored<Job>[];
  /** Jobs beyond the replicas that the spec asks for: to be deleted. */
  readonly surplus: readonly Stored<Job>[];
  /** Jobs whose labels do not say where they belong. Their names stay taken. */
  readonly unreadable: readonly BrokenLabels[];
  /** Jobs of any list with wrong labels, and the right labels. */
  readonly mislabelled: readonly BrokenLabels[];
}

/** What the spec and the status say about child Jobs. */
export interface Asked {
  /** The attempt of all Jobs. */
  readonly restarts: number;
  /** By ReplicatedJob and job index, the attempt of that Job alone; undefined without the gate. */
  readonly jobRestarts: ReadonlyMap<string, readonly number[]> | undefined;
  readonly replicas: ReadonlyMap<string, number>;
  /** By ReplicatedJob, the Jobs that have already succeeded, such as `0,2-5`. */
  readonly succeeded: ReadonlyMap<string, string>;
}

export function askedOf(
  replicatedJobs: readonly DefaultedReplicatedJob[],
  { restarts = 0, replicatedJobsStatus = [] }: JobSetStatus,
  gates: FeatureGates,
): Asked {
  return {
    restarts,
    jobRestarts: gates.RestartJob
      ? new Map(replicatedJobsStatus.map(({ name, jobRestarts = [] }) => [name, jobRestarts]))
      : undefined,
    replicas: new Map(replicatedJobs.map(({ name, replicas }) => [name, replicas])),
    succeeded: recordedSuccesses(replicatedJobsStatus),
  };
}

/** `vanished` are finished Jobs that are gone: their successes and failures still count. */
export function classifyJobs(
  jobs: readonly Stored<Job>[],
  asked: Asked,
  vanished: readonly Stored<Job>[] = [],
): ChildJobs {
  const lists: Record<State, Stored<Job>[]> = {
    previous: [],
    active: [],
    successful: [],
    failed: [],
    surplus: [],
  };
  const unreadable: BrokenLabels[] = [];
  const mislabelled: BrokenLabels[] = [];
  for (const job of jobs) {
    const broken = brokenLabels(job, asked.jobRestarts !== undefined);
    if (broken === undefined || isReadable(broken)) lists[stateOf(job, asked)].push(job);
    else unreadable.push(broken);
    if (broken !== undefined && isReadable(broken)) mislabelled.push(broken);
  }
  const succeeded = vanished.filter((job) => stateOf(job, asked) === 'successful');
  const failed = vanished.filter((job) => stateOf(job, asked) === 'failed');
  return {
    ...lists,
    failed: [...lists.failed, ...failed],
    unreadable,
    gone: goneSuccesses(asked.succeeded, asked.replicas, jobs, succeeded),
    mislabelled,
  };
}

type State = 'previous' | 'active' | 'successful' | 'failed' | 'surplus';

function stateOf(job: Stored<Job>, asked: Asked): State {
  const name = replicatedJobOf(job) ?? '';
  const index = jobIndexOf(job);
  if (index >= (asked.replicas.get(name) ?? Number.POSITIVE_INFINITY)) return 'surplus';
  if (attemptOf(job) < asked.restarts) return 'previous';
  const ownAttempt = asked.jobRestarts?.get(name)?.[index] ?? 0;
  if (ownAttempt > 0 && jobAttemptOf(job) < ownAttempt) return 'previous';
  if (isTrue(job.status?.conditions, 'Failed')) return 'failed';
  return isTrue(job.status?.conditions, 'Complete') ? 'successful' : 'active';
}

/** Jobs of the present attempt. */
export function currentJobs(jobs: ChildJobs): readonly Stored<Job>[] {
  return [...jobs.active, ...jobs.successful, ...jobs.failed];
}

export function isSuspended(job: Job): boolean {
  return job.spec.suspend === true;
}
