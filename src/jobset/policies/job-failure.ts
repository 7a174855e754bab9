import { applicable, countJobRestart, type JobPlace } from '../child-jobs/job-restart.ts';
import { endEpoch } from '../epoch/epoch-end.ts';
import { currentEpoch, isReleased } from '../epoch/in-place-restart.ts';
import { groupOf, type Planning } from '../planning.ts';
import type { FailedJobAnswer, Question } from '../snapshot.ts';
import type { StatusDraft } from '../status/status-draft.ts';
import { failJobSet } from '../status/terminal-state.ts';
import {
  eventReasonOf,
  isCharged,
  judgeJobs,
  messageOf,
  reasonOf,
  type Verdict,
} from './failure-policy.ts';
import { isBudgetSpent } from './restart-budget.ts';

/**
 * The failure policy applied to Jobs that failed
 * (`docs/design/end-hazards.md#a-failed-job-is-charged-twice`): one action for each plan.
 * Restarting Jobs of a group that restarts in place ends its epoch in the same write, also while
 * the JobSet is suspended, so that the Jobs' successors are not charged for it again. A failure
 * that was caused in an epoch which has ended already belongs to that restart: it is not charged.
 */
export function planJobFailure(planning: Planning): Question | undefined {
  const { snapshot, spec, draft, children, stages } = planning;
  const { failurePolicy } = spec;
  const judged = judgeJobs(failurePolicy?.rules ?? [], children.failed);
  if (judged === undefined) return undefined;
  const because = ` (first failed job: ${judged.job.metadata.name})`;
  if (failurePolicy === undefined) {
    const message = `jobset failed due to one or more job failures${because}`;
    failJobSet(draft, 'FailedJobs', message);
    return undefined;
  }
  if (judged.action === 'FailJobSet') {
    failJobSet(draft, eventReasonOf(judged), `${messageOf(judged)}${because}`);
    return undefined;
  }
  const answer = stages === undefined ? undefined : snapshot.answers.failedJob;
  if (stages !== undefined && answer?.jobUid !== judged.job.metadata.uid) {
    return { kind: 'FailedJob', job: judged.job };
  }
  const isCounted = isCharged(judged.action) && !belongsToRestart(planning, answer);
  if (isCounted && isBudgetSpent(draft.status, failurePolicy.maxRestarts)) {
    const message = `jobset failed due to reaching max number of restarts${because}`;
    failJobSet(draft, 'ReachedMaxRestarts', message);
    return undefined;
  }
  const { verdict, place } = applicable(planning, judged, judged.job);
  restartJobs(planning, { verdict, place, isCounted, because });
  endEpochOfJobs(planning, isCounted);
  return undefined;
}

export interface JobsRestart {
  readonly verdict: Verdict;
  /** The Job that is restarted alone; undefined: all are. */
  readonly place: JobPlace | undefined;
  readonly isCounted: boolean;
  /** Which failure it was, as the end of a message. */
  readonly because: string;
}

/** Writes the restart of all Jobs, or of one, into the draft, with what is said about it. */
export function restartJobs(planning: Planning, restart: JobsRestart): void {
  const { draft } = planning;
  const { verdict, place, isCounted, because } = restart;
  const message = `${messageOf(verdict)}${because}`;
  draft.event('Warning', eventReasonOf(verdict), message);
  if (place === undefined) {
    countRestartOfAll(draft, isCounted);
    const reason = reasonOf(verdict);
    draft.condition({ type: 'RestartingJobSet', status: 'True', reason, message }, 'Warning');
  } else {
    const statuses = draft.status.replicatedJobsStatus ?? [];
    const isKnown = statuses.some(({ name }) => name === place.replicatedJob);
    const replicatedJobsStatus = countJobRestart(
      isKnown ? statuses : planning.counters,
      place,
      isCounted,
    );
    draft.set({ replicatedJobsStatus });
  }
  draft.outcome({ kind: 'JobsRestarted', counted: isCounted });
}

function countRestartOfAll(draft: StatusDraft, isCounted: boolean): void {
  const { restarts = 0, restartsCountTowardsMax = 0 } = draft.status;
  draft.set({
    restarts: restarts + 1,
    restartsCountTowardsMax: restartsCountTowardsMax + (isCounted ? 1 : 0),
  });
}

/** An epoch that has not begun absorbs a failure which belongs to the restart under way. */
function endEpochOfJobs(planning: Planning, isCounted: boolean): void {
  const { snapshot, stages } = planning;
  if (stages === undefined) return;
  const group = groupOf(planning, stages);
  if (!isCounted && !isReleased(group)) return;
  endEpoch(planning, group, {
    cause: 'JobsRecreated',
    counted: isCounted,
    witness: snapshot.answers.failedJob?.witness,
  });
}

function belongsToRestart({ draft }: Planning, answer: FailedJobAnswer | undefined): boolean {
  const epoch = answer?.epoch;
  return epoch !== undefined && epoch < currentEpoch(draft.status);
}
