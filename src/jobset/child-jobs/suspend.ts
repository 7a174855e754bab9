import type { Job } from '../../kube/objects/job.ts';
import type { Action } from '../convergence.ts';
import { withShareOf } from '../injection/kept-share.ts';
import type { Planning } from '../planning.ts';
import { announceStart, type StartupOrder } from '../policies/startup-order.ts';
import { afterResume } from '../status/execution-attempts.ts';
import { jobIndexOf, replicatedJobOf } from './child-jobs.ts';
import { resumeOf } from './job-resume.ts';
import type { BuildJob } from './job-template.ts';

/**
 * Suspending and resuming a JobSet. Suspending keeps the Jobs. The condition says that it is
 * suspended from before the first Job is stopped until the resume has begun, so that each resume is
 * seen, and counted, exactly once.
 */
export function isSuspended(job: Job): boolean {
  return job.spec.suspend === true;
}

export function suspendJobs({ children, draft }: Planning): readonly Action[] {
  const message = 'jobset is suspended';
  draft.condition(
    { type: 'Suspended', status: 'True', reason: 'SuspendedJobs', message },
    'Normal',
  );
  draft.clear({ type: 'RestartingJobSet', reason: 'JobSetSuspended', message });
  return children.active
    .filter((job) => !isSuspended(job) && job.metadata.deletionTimestamp === undefined)
    .map((job): Action => ({ kind: 'SuspendJob', job }));
}

/** Reason of the condition while an ordered resume waits for ReplicatedJobs to start. */
const RESUMING = 'ResumingJobs';

/** Says that the JobSet is not suspended any more, or that it is on its way there in order. */
export function beginResume({ snapshot, draft }: Planning, { inProgress }: StartupOrder): void {
  const status = snapshot.jobSet.status ?? {};
  const suspended = status.conditions?.find(({ type }) => type === 'Suspended');
  if (suspended?.status !== 'True') return;
  if (suspended.reason !== RESUMING && snapshot.gates.ExecutionAttemptsTracking) {
    const executionAttempts = afterResume(status);
    if (executionAttempts !== undefined) draft.set({ executionAttempts });
  }
  if (inProgress === undefined) {
    draft.clear({ type: 'Suspended', reason: 'ResumeJobs', message: 'jobset is resumed' });
    return;
  }
  const message = 'jobset is being resumed in the order of its startup policy';
  draft.condition({ type: 'Suspended', status: 'True', reason: RESUMING, message }, 'None');
}

/** A Job that has to wait for the Job controller is resumed when that has stopped it. */
export function resumeJobs(
  { children, counters, snapshot, spec, draft }: Planning,
  { startable }: StartupOrder,
  build: BuildJob,
): readonly Action[] {
  if (counters.every((each) => each.suspended === 0)) return [];
  const suspended = children.active.filter(
    (job) => isSuspended(job) && job.metadata.deletionTimestamp === undefined,
  );
  const byName = new Map(spec.replicatedJobs.map((each) => [each.name, each]));
  const hasMutableResources = snapshot.gates.MutablePodResourcesForSuspendedJobSets;
  const resumed = new Map<string, number>();
  const actions = suspended.flatMap((job): readonly Action[] => {
    const replicatedJob = byName.get(replicatedJobOf(job) ?? '');
    if (replicatedJob === undefined || !startable.has(replicatedJob.name)) return [];
    const asked = replicatedJob.template.spec.template.spec;
    const desired = withShareOf(job, build(replicatedJob, jobIndexOf(job)), asked);
    const resume = resumeOf(job, desired, hasMutableResources);
    if (resume.kind === 'Wait') return [];
    resumed.set(replicatedJob.name, (resumed.get(replicatedJob.name) ?? 0) + 1);
    return [{ kind: 'ResumeJob', job, resume }];
  });
  for (const replicatedJob of spec.replicatedJobs) {
    const isWhole = resumed.get(replicatedJob.name) === replicatedJob.replicas;
    if (isWhole) announceStart(draft, spec, replicatedJob);
  }
  return actions;
}
