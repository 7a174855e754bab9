/**
 * A JobSet's ReplicatedJobs as stages of its group, with what has succeeded in them. A Job whose
 * work is partly done cannot rejoin a group that starts over, because its finished indexes have no
 * Pods any more. Unless its whole ReplicatedJob is complete it is recreated, without a charge
 * (`docs/design/end-hazards.md#a-member-fails-after-others-have-succeeded`).
 */
import { indexesOf } from '@lockstep/kube/index-set.ts';
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { type ChildJobs, currentJobs, replicatedJobOf } from '../child-jobs/child-jobs.ts';
import type { DefaultedReplicatedJob } from '../defaults.ts';
import type { JobSetStatus } from '../jobset-status.ts';
import type { JobMembers, Members } from '../roster/members.ts';
import { isTrue } from '../status/conditions.ts';
import type { Stage } from './in-place-restart.ts';

export interface GroupStages {
  readonly stages: readonly Stage[];
  /** Jobs with a succeeded index, in a ReplicatedJob that has to start over. */
  readonly toRecreate: readonly Stored<Job>[];
  /** ReplicatedJobs whose successes do not count any more. */
  readonly startsOver: ReadonlySet<string>;
}

export function groupStages(
  replicatedJobs: readonly DefaultedReplicatedJob[],
  children: ChildJobs,
  status: JobSetStatus,
  members: Members,
): GroupStages {
  const released = releasedEpochs(status);
  const jobsOf = byReplicatedJob(currentJobs(children));
  const toRecreate: Stored<Job>[] = [];
  const namesThatStartOver = new Set<string>();
  const stages = replicatedJobs.map((replicated): Stage => {
    const { name, replicas, template } = replicated;
    const jobs = jobsOf.get(name) ?? [];
    const isComplete =
      jobs.length + (children.gone.get(name)?.size ?? 0) >= replicas &&
      jobs.every((job) => hasAllSucceeded(job, members.ofJob(job.metadata.uid)));
    const epoch = released.get(name) ?? 0;
    const startsOver = !isComplete && isBehind(epoch, status);
    if (startsOver) namesThatStartOver.add(name);
    const used = new Set(
      jobs.filter((job) => startsOver && hasSucceededIndex(job, members.ofJob(job.metadata.uid))),
    );
    toRecreate.push(...used);
    return {
      name,
      replicas,
      parallelism: template.spec.parallelism ?? 1,
      released: epoch,
      isComplete,
      jobs: jobs.filter((job) => job.metadata.deletionTimestamp === undefined && !used.has(job)),
      succeededIn: (job) => succeededIndexes(job, members.ofJob(job.metadata.uid)),
    };
  });
  return { stages, toRecreate, startsOver: namesThatStartOver };
}

/**
 * The Jobs as a group that restarts in place sees them. If a ReplicatedJob starts over, its Job in
 * deletion counts as one of an earlier attempt: its stopped workers may exit with 0, which completes
 * nothing. A Job that gave up an index has failed, because that slot stays empty.
 */
export function groupJobs(children: ChildJobs, status: JobSetStatus): ChildJobs {
  const released = releasedEpochs(status);
  const startsOver = (job: Stored<Job>): boolean =>
    job.metadata.deletionTimestamp !== undefined &&
    isBehind(released.get(replicatedJobOf(job) ?? '') ?? 0, status);
  const isKept = (job: Stored<Job>): boolean => !startsOver(job);
  const hasGivenUp = (job: Stored<Job>): boolean => (job.status?.failedIndexes ?? '') !== '';
  const active = children.active.filter(isKept);
  return {
    ...children,
    previous: [...children.previous, ...currentJobs(children).filter(startsOver)],
    active: active.filter((job) => !hasGivenUp(job)),
    successful: children.successful.filter(isKept),
    failed: [...children.failed.filter(isKept), ...active.filter(hasGivenUp)],
  };
}

function releasedEpochs({ replicatedJobsStatus }: JobSetStatus): ReadonlyMap<string, number> {
  return new Map(replicatedJobsStatus?.map(({ name, syncedEpoch }) => [name, syncedEpoch ?? 0]));
}

/** An epoch has ended since the ReplicatedJob was released, or before it ever was. */
function isBehind(released: number, { deprecatedEpoch = 0 }: JobSetStatus): boolean {
  return deprecatedEpoch > 0 && released <= deprecatedEpoch;
}

function byReplicatedJob(jobs: readonly Stored<Job>[]): ReadonlyMap<string, Stored<Job>[]> {
  const groups = new Map<string, Stored<Job>[]>();
  for (const job of jobs) {
    const name = replicatedJobOf(job) ?? '';
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [job]);
    else group.push(job);
  }
  return groups;
}

/** Jobs that have succeeded, or will when the Job controller has counted their Pods. */
export function willSucceed(children: ChildJobs, members: Members): readonly Stored<Job>[] {
  const isNear = (job: Stored<Job>): boolean =>
    hasAllSucceeded(job, members.ofJob(job.metadata.uid));
  return [...children.successful, ...children.active.filter(isNear)];
}

/** Whether the Job will complete, as far as its Pods show. */
function hasAllSucceeded(job: Job, pods: JobMembers | undefined): boolean {
  const { conditions } = job.status ?? {};
  if (isTrue(conditions, 'Complete') || isTrue(conditions, 'SuccessCriteriaMet')) return true;
  const completions = job.spec.completions ?? job.spec.parallelism ?? 1;
  return succeededCount(job, pods) >= completions;
}

function hasSucceededIndex(job: Job, pods: JobMembers | undefined): boolean {
  return succeededCount(job, pods) > 0;
}

/** Indexes, or Pods of a NonIndexed Job, that have succeeded, from the Job's count and the Pods. */
function succeededCount(job: Job, pods: JobMembers | undefined): number {
  const { spec, status } = job;
  const counted = status?.succeeded ?? 0;
  if (pods === undefined || pods.succeeded.size === 0) {
    return counted + (status?.uncountedTerminatedPods?.succeeded?.length ?? 0);
  }
  if (spec.completionMode !== 'Indexed') return Math.max(counted, pods.succeeded.size);
  return succeededIndexes(job, pods).size;
}

function succeededIndexes({ status }: Job, pods: JobMembers | undefined): ReadonlySet<string> {
  const indexes = new Set(pods?.succeeded);
  for (const index of indexesOf(status?.completedIndexes ?? '')) indexes.add(String(index));
  return indexes;
}
