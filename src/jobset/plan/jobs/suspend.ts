/**
 * Suspends and resumes a JobSet. Suspending keeps the Jobs. The condition becomes True before the
 * first Job stops and False when the resume has begun, so each resume counts exactly once.
 */

import { isSuspended } from '../../child-jobs/child-jobs.ts';
import { jobIndexOf, replicatedJobOf } from '../../child-jobs/job-labels.ts';
import { resumeOf } from '../../child-jobs/job-resume.ts';
import { withShareOf } from '../../child-jobs/kept-share.ts';
import { type ConditionChange, cleared, isTrue } from '../../status/conditions.ts';
import type { Action, Decision } from '../decision.ts';
import type { Facts } from '../facts.ts';
import { countRun, RESUMING } from './execution-attempts.ts';
import { builderOf } from './job-creation.ts';
import { eventsOfStart } from './startup-policy.ts';
import { questionOfResources } from './template-question.ts';

export function suspendJobs({ spec, children }: Facts): readonly Decision[] {
  if (!spec.suspend) return [];
  const message = 'jobset is suspended';
  const conditions: readonly ConditionChange[] = [
    { type: 'Suspended', status: 'True', reason: 'SuspendedJobs', message, event: 'Normal' },
    cleared('RestartingJobSet', 'JobSetSuspended', message),
  ];
  const actions = children.active
    .filter((job) => !isSuspended(job) && job.metadata.deletionTimestamp === undefined)
    .map((job): Action => ({ kind: 'SuspendJob', job }));
  return [{ conditions, actions }];
}

/** Ends the condition, or says that an ordered resume is under way. */
export function beginResume(facts: Facts): readonly Decision[] {
  const { spec, status, startup } = facts;
  const type = 'Suspended';
  if (spec.suspend || !isTrue(status.conditions, type)) return [];
  const message = 'jobset is being resumed in the order of its startup policy';
  const change: ConditionChange =
    startup.inProgress === undefined
      ? cleared(type, 'ResumeJobs', 'jobset is resumed')
      : { type, status: 'True', reason: RESUMING, message };
  return [...countRun(facts), { conditions: [change] }];
}

/** Jobs that were not read are resumed in a later pass. */
const OTHERS_AFTER_MS = 100;

/** Resumes a Job only after the Job controller has stopped it. */
export function resumeJobs(facts: Facts): readonly Decision[] {
  const { answer, children, counters, gates, spec, startup } = facts;
  if (spec.suspend || counters.every((each) => each.suspended === 0)) return [];
  const build = builderOf(facts);
  const byName = new Map(spec.replicatedJobs.map((each) => [each.name, each]));
  const resumed = new Map<string, number>();
  const startable = children.active.flatMap((job) => {
    const replicatedJob = byName.get(replicatedJobOf(job) ?? '');
    const isLeaving = job.metadata.deletionTimestamp !== undefined;
    const isDue =
      isSuspended(job) && !isLeaving && startup.startable.has(replicatedJob?.name ?? '');
    return isDue && replicatedJob !== undefined ? [{ job, replicatedJob }] : [];
  });
  if (startable.length === 0) return [];
  const wanted = { kind: 'WholeJobs', jobs: startable.map(({ job }) => job) } as const;
  const wholeJobs = answer(wanted);
  if (wholeJobs === undefined) return [{ question: wanted }];
  const resumes = startable.flatMap(({ job: { metadata }, replicatedJob }) => {
    const job = wholeJobs.get(metadata.uid);
    if (job === undefined) return [];
    const asked = replicatedJob.template.spec.template.spec;
    const desired = withShareOf(job, build(replicatedJob, jobIndexOf(job)), asked);
    const resume = resumeOf(job, desired, gates.MutablePodResourcesForSuspendedJobSets);
    if (resume.kind === 'Wait') return [];
    resumed.set(replicatedJob.name, (resumed.get(replicatedJob.name) ?? 0) + 1);
    return [{ kind: 'ResumeJob', job, resume } as const];
  });
  const isChanged = resumes.some(({ resume }) => resume.changesResources);
  const question = isChanged ? questionOfResources(facts) : undefined;
  if (question !== undefined) return [{ question }];
  const whole = spec.replicatedJobs.filter(({ name, replicas }) => resumed.get(name) === replicas);
  const isAll = startable.every(({ job }) => wholeJobs.has(job.metadata.uid));
  return [
    {
      events: whole.flatMap((each) => eventsOfStart(spec, each)),
      actions: resumes,
      ...(isAll ? {} : { requeueAfterMs: OTHERS_AFTER_MS }),
    },
  ];
}
