import type { Service } from '../kube/core.ts';
import type { Job } from '../kube/job.ts';
import type { Stored } from '../kube/meta.ts';
import { agentInjector } from './agent-mode.ts';
import type { DefaultedReplicatedJob } from './defaults.ts';
import { buildJob, type JobSetIdentity, ownerReferenceTo } from './job-template.ts';
import { jobName } from './naming.ts';
import { headlessService } from './network.ts';
import type { Planning } from './planning.ts';
import { mayCreateJobs } from './restart-strategy.ts';
import { isSuspended, type JobResume, resumeOf } from './suspend.ts';

/**
 * The steps that bring the cluster to what the JobSet asks for: delete what is outdated, create what
 * is missing, suspend or resume (spec 4.3, steps 5 and 9 to 13).
 */
export type Action =
  | { readonly kind: 'CreateService'; readonly service: Service }
  | { readonly kind: 'CreateJob'; readonly job: Job }
  | { readonly kind: 'DeleteJob'; readonly job: Stored<Job> }
  | { readonly kind: 'SuspendJob'; readonly job: Stored<Job> }
  | { readonly kind: 'ResumeJob'; readonly job: Stored<Job>; readonly resume: JobResume };

export function converge(planning: Planning): readonly Action[] {
  const { children, spec, stages } = planning;
  return [
    ...deletions(children.previous),
    ...deletions(stages?.toRecreate ?? []),
    ...serviceCreation(planning),
    ...(mayCreateJobs(spec, children) ? jobCreations(planning) : []),
    ...(spec.suspend ? suspend(planning) : resume(planning)),
  ];
}

/** A Job that is being deleted already needs no second request. */
export function deletions(jobs: readonly Stored<Job>[]): readonly Action[] {
  return jobs
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map((job): Action => ({ kind: 'DeleteJob', job }));
}

function serviceCreation({ snapshot, spec }: Planning): readonly Action[] {
  if (snapshot.hasService) return [];
  const identity = identityOf(snapshot.jobSet);
  const service = headlessService(identity, spec, ownerReferenceTo(identity));
  return service === undefined ? [] : [{ kind: 'CreateService', service }];
}

/** A name is free when no Job holds it any more, whatever that Job's state is. */
function jobCreations(planning: Planning): readonly Action[] {
  const { snapshot, spec } = planning;
  const taken = new Set(snapshot.jobs.map(({ metadata }) => metadata.name));
  return spec.replicatedJobs.flatMap((replicatedJob) =>
    jobIndexes(replicatedJob)
      .filter((index) => !taken.has(nameOf(planning, replicatedJob, index)))
      .map((index): Action => ({ kind: 'CreateJob', job: build(planning, replicatedJob, index) })),
  );
}

function suspend({ children, draft }: Planning): readonly Action[] {
  const running = children.active.filter((job) => !isSuspended(job));
  if (running.length > 0) return running.map((job): Action => ({ kind: 'SuspendJob', job }));
  const message = 'jobset is suspended';
  draft.condition(
    { type: 'Suspended', status: 'True', reason: 'SuspendedJobs', message },
    'Normal',
  );
  draft.clear({ type: 'RestartingJobSet', reason: 'JobSetSuspended', message });
  return [];
}

function resume(planning: Planning): readonly Action[] {
  const { children, draft, spec } = planning;
  const suspended = new Map(
    children.active.filter(isSuspended).map((job) => [job.metadata.name, job]),
  );
  if (suspended.size === 0) {
    draft.clear({ type: 'Suspended', reason: 'ResumeJobs', message: 'jobset is resumed' });
    return [];
  }
  return spec.replicatedJobs.flatMap((replicatedJob) =>
    jobIndexes(replicatedJob).flatMap((index): readonly Action[] => {
      const job = suspended.get(nameOf(planning, replicatedJob, index));
      if (job === undefined) return [];
      const desired = build(planning, replicatedJob, index).spec.template;
      return [{ kind: 'ResumeJob', job, resume: resumeOf(job, desired) }];
    }),
  );
}

function build(planning: Planning, replicatedJob: DefaultedReplicatedJob, index: number): Job {
  const { jobSet, agent } = planning.snapshot;
  const inject = agentInjector(planning.spec, jobSet.metadata.annotations, agent);
  const restarts = jobSet.status?.restarts ?? 0;
  return buildJob(identityOf(jobSet), planning.spec, replicatedJob, index, restarts, inject);
}

function nameOf({ snapshot }: Planning, { name }: DefaultedReplicatedJob, index: number): string {
  return jobName(snapshot.jobSet.metadata.name, name, index);
}

function jobIndexes({ replicas }: DefaultedReplicatedJob): readonly number[] {
  return Array.from({ length: replicas }, (_, index) => index);
}

function identityOf({ metadata }: Planning['snapshot']['jobSet']): JobSetIdentity {
  return { name: metadata.name, namespace: metadata.namespace ?? '', uid: metadata.uid };
}
