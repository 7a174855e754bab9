/** Restarts one Job alone. */
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { jobIndexOf, replicatedJobOf } from '../../child-jobs/job-labels.ts';
import type { ReplicatedJobStatus } from '../../jobset-status.ts';
import { type PolicyDecision, restartsOneJob, widened } from '../../policies/failure-policy.ts';
import { MAX_RESTARTABLE_JOBS } from '../../schema/status-schema.ts';
import type { PlannedEvent } from '../decision.ts';
import type { Facts } from '../facts.ts';

/**
 * The status counts the restart by job index. The existing Job then belongs to an earlier attempt,
 * so it is deleted and recreated.
 */
export interface JobPlace {
  readonly replicatedJob: string;
  readonly index: number;
  /** Jobs of the ReplicatedJob: the length of the arrays that count restarts. */
  readonly replicas: number;
}

/**
 * The part of a decision on `job` that is possible. If one Job alone cannot be restarted, all are, at
 * the same charge, and a Warning says why. The policy was accepted, so it must not stop the JobSet.
 */
export function applicable(
  { gates, spec }: Facts,
  decided: PolicyDecision,
  job: Stored<Job> | undefined,
): Applicable {
  const { action } = decided;
  if (!restartsOneJob(action)) return { decided, place: undefined, events: [] };
  const place = job === undefined ? undefined : placeOf(job, spec.replicatedJobs);
  if (place !== undefined && gates.RestartJob) return { decided, place, events: [] };
  const why = gates.RestartJob
    ? `${job?.metadata.name ?? 'the Job'} cannot be restarted alone`
    : 'feature gate RestartJob is off';
  const wide = widened(action);
  const note = `${why}: ${wide} replaces ${action}`;
  const event = { type: 'Warning', reason: 'RestartJobNotPossible', note } as const;
  return { decided: { ...decided, action: wide }, place: undefined, events: [event] };
}

interface Applicable {
  readonly decided: PolicyDecision;
  /** The Job that is restarted alone. */
  readonly place: JobPlace | undefined;
  readonly events: readonly PlannedEvent[];
}

/** The counters with one more restart of the Job in that place. */
export function countJobRestart(
  statuses: readonly ReplicatedJobStatus[],
  { replicatedJob, index, replicas }: JobPlace,
  isCounted: boolean,
): readonly ReplicatedJobStatus[] {
  return statuses.map((status) => {
    if (status.name !== replicatedJob) return status;
    const { jobRestarts, jobRestartsCountTowardsMax } = status;
    return {
      ...status,
      jobRestarts: incremented(jobRestarts, index, replicas),
      ...(isCounted
        ? {
            jobRestartsCountTowardsMax: incremented(jobRestartsCountTowardsMax, index, replicas),
          }
        : {}),
    };
  });
}

function placeOf(
  job: Stored<Job>,
  replicatedJobs: readonly { readonly name: string; readonly replicas: number }[],
): JobPlace | undefined {
  const name = replicatedJobOf(job);
  const index = jobIndexOf(job);
  const of = replicatedJobs.find((each) => each.name === name);
  if (of === undefined || of.replicas > MAX_RESTARTABLE_JOBS) return undefined;
  if (!(Number.isInteger(index) && index >= 0 && index < of.replicas)) return undefined;
  return { replicatedJob: of.name, index, replicas: of.replicas };
}

/** One element per Job, with zeros for those without restarts. */
function incremented(
  counts: readonly number[] | undefined,
  index: number,
  replicas: number,
): readonly number[] {
  const length = Math.max(replicas, counts?.length ?? 0);
  return Array.from({ length }, (_, i) => (counts?.[i] ?? 0) + (i === index ? 1 : 0));
}
