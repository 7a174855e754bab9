/**
 * Applies the failure policy to failed Jobs, one action per plan. Restarting Jobs of a group that
 * restarts in place ends its epoch in the same write, even while the JobSet is suspended, so that
 * the Jobs' successors are not charged again. A failure of an epoch that has already ended belongs
 * to that restart and is not charged
 * (`docs/design/end-hazards.md#a-failed-job-is-charged-twice`).
 */

import { allJobsReady } from '../../child-jobs/replicated-jobs-status.ts';
import { isReleased } from '../../epoch/in-place-restart.ts';
import type { JobSetStatus } from '../../jobset-status.ts';
import {
  eventReasonOf,
  isCharged,
  judgeJobs,
  messageOf,
  type PolicyDecision,
  reasonOf,
} from '../../policies/failure-policy.ts';
import { cleared } from '../../status/conditions.ts';
import { type Decision, LAST } from '../decision.ts';
import { type Facts, isOfGroup } from '../facts.ts';
import { tidyUp } from '../jobs/tidying.ts';
import { applicable, countJobRestart, type JobPlace } from '../records/job-restart.ts';
import { failed } from '../records/terminal-state.ts';
import { whyNoRestart } from '../records/why-no-restart.ts';
import { type EpochEnd, endEpoch } from './epoch-end.ts';

/** A restart of Jobs is over when all are ready. */
export function reportJobsReady({ spec, counters }: Facts): readonly Decision[] {
  if (spec.suspend || !allJobsReady(spec.replicatedJobs, counters)) return [];
  return [{ conditions: [cleared('RestartingJobSet', 'JobsReady', 'all jobs are ready')] }];
}

export function dealWithFailedJobs(facts: Facts): readonly Decision[] {
  const decisions = judgeFailedJobs(facts);
  if (decisions.length === 0 || decisions[0]?.question !== undefined) return decisions;
  return [...decisions, ...tidyUp(facts), LAST];
}

function judgeFailedJobs(facts: Facts): readonly Decision[] {
  const { spec, status, children, group, answer } = facts;
  const { failurePolicy } = spec;
  const judged = judgeJobs(failurePolicy?.rules ?? [], children.failed);
  if (judged === undefined) return [];
  const because = ` (first failed job: ${judged.job.metadata.name})`;
  if (failurePolicy === undefined) {
    return [failed('FailedJobs', `jobset failed due to one or more job failures${because}`)];
  }
  if (judged.action === 'FailJobSet') {
    return [failed(eventReasonOf(judged), `${messageOf(judged)}${because}`)];
  }
  const question = { kind: 'FailedJob', job: judged.job } as const;
  const cause = group === undefined ? {} : answer(question);
  if (cause === undefined) return [{ question }];
  const { epoch: failedIn, witness } = cause;
  const isOfEndedEpoch = failedIn !== undefined && failedIn < (group?.epoch ?? 0);
  const isCounted = isCharged(judged.action) && !isOfEndedEpoch;
  const last = isCounted ? whyNoRestart(facts) : undefined;
  if (last !== undefined) return [failed(last.reason, `${last.message}${because}`)];
  const { decided, place, events } = applicable(facts, judged, judged.job);
  const restart = restartJobs(facts, { decided, place, isCounted, because });
  const after = { ...status, ...restart.status };
  return [{ events }, restart, ...endEpochOfJobs(facts, { counted: isCounted, witness }, after)];
}

export interface JobsRestart {
  readonly decided: PolicyDecision;
  /** The Job that is restarted alone; undefined: all are. */
  readonly place: JobPlace | undefined;
  readonly isCounted: boolean;
  /** Names the failure at the end of a message. */
  readonly because: string;
}

/** The restart of all Jobs, or of one. */
export function restartJobs(
  { status, counters }: Facts,
  { decided, place, isCounted, because }: JobsRestart,
): Decision & { readonly status: JobSetStatus } {
  const message = `${messageOf(decided)}${because}`;
  const told = {
    events: [{ type: 'Warning', reason: eventReasonOf(decided), note: message }],
    outcomes: [{ kind: 'JobsRestarted', counted: isCounted }],
  } as const;
  if (place !== undefined) {
    const { replicatedJobsStatus: stored = [] } = status;
    const isKnown = stored.some(({ name }) => name === place.replicatedJob);
    const replicatedJobsStatus = countJobRestart(isKnown ? stored : counters, place, isCounted);
    return { ...told, status: { replicatedJobsStatus } };
  }
  const { restarts = 0, restartsCountTowardsMax = 0 } = status;
  const reason = reasonOf(decided);
  const type = 'RestartingJobSet';
  return {
    ...told,
    status: {
      restarts: restarts + 1,
      restartsCountTowardsMax: restartsCountTowardsMax + (isCounted ? 1 : 0),
    },
    conditions: [{ type, status: 'True', reason, message, event: 'Warning' }],
  };
}

/** A failure that belongs to the restart under way does not end the epoch that is to begin. */
function endEpochOfJobs(
  facts: Facts,
  end: Pick<EpochEnd, 'counted' | 'witness'>,
  status: JobSetStatus,
): readonly Decision[] {
  if (!isOfGroup(facts) || (!end.counted && !isReleased(facts.group))) return [];
  return [endEpoch(facts, { cause: 'JobsRecreated', ...end }, status)];
}
