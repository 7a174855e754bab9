import {
  isRecordUrgent,
  withoutSucceededIndexes,
  withSucceededIndexes,
} from '../child-jobs/succeeded-jobs.ts';
import { isConverging } from '../group/in-place-restart.ts';
import { groupOf, type Planning } from '../planning.ts';
import { countersWrite } from './counters.ts';
import { afterRecreation } from './execution-attempts.ts';
import { replicatedJobsStatus } from './replicated-jobs-status.ts';

/**
 * The last touch to a draft: whether counters are worth a write now, later or not at all, and what
 * follows when all Jobs are to be recreated.
 */
export interface CountersPutOff {
  /** True if counters are out of date and stay so for now. */
  readonly isPutOff: boolean;
  /** When they are to be written; undefined: when something else happens. */
  readonly waitMs: number | undefined;
}

/** `keepsCounters` of a group restart: counters stay, because they will soon be right again. */
export function completeStatus(planning: Planning, keepsCounters: boolean): CountersPutOff {
  const { snapshot, spec, draft, children, counters, stages } = planning;
  const before = snapshot.jobSet.status ?? {};
  const { differ, waitMs } = countersWrite(
    before.replicatedJobsStatus,
    counters,
    { differMs: snapshot.knowledge.countersDifferSinceMs, nowMs: snapshot.nowMs },
    stages !== undefined && !spec.suspend && isConverging(groupOf(planning, stages)),
  );
  const isDue =
    isRecordUrgent(before.replicatedJobsStatus, counters, children) ||
    (draft.isChanged ? !keepsCounters : waitMs === 0);
  if (differ && isDue) {
    const others = draft.status.replicatedJobsStatus ?? [];
    const counted = replicatedJobsStatus(spec.replicatedJobs, children, others);
    const replicatedJobs = withSucceededIndexes(counted, children, stages?.startsOver);
    draft.set({ replicatedJobsStatus: replicatedJobs });
  }
  beginAttempt(planning);
  const isPutOff = differ && !isDue;
  return { isPutOff, waitMs: isPutOff ? waitMs : undefined };
}

/** All Jobs are recreated: what succeeded before counts no more, and they run once more. */
function beginAttempt({ snapshot, draft }: Planning): void {
  const before = snapshot.jobSet.status ?? {};
  const { restarts = 0, replicatedJobsStatus: statuses } = draft.status;
  if (restarts <= (before.restarts ?? 0)) return;
  if (statuses !== undefined)
    draft.set({ replicatedJobsStatus: withoutSucceededIndexes(statuses) });
  if (!snapshot.gates.ExecutionAttemptsTracking) return;
  const executionAttempts = afterRecreation(before, draft.status);
  if (executionAttempts !== undefined) draft.set({ executionAttempts });
}
