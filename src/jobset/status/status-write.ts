import {
  isRecordUrgent,
  withoutSucceededIndexes,
  withSucceededIndexes,
} from '../child-jobs/succeeded-jobs.ts';
import { isConverging } from '../epoch/in-place-restart.ts';
import { groupOf, type Planning } from '../planning.ts';
import { keepStartTime } from '../policies/active-deadline.ts';
import { COUNTERS_LATEST_MS, type CountersPutOff, countersWrite } from './counters.ts';
import { afterRecreation } from './execution-attempts.ts';
import { allJobsReady, replicatedJobsStatus } from './replicated-jobs-status.ts';

/**
 * The last touch to a draft: whether counters are worth a write now, later or not at all, and what
 * follows when all Jobs are to be recreated.
 */
export interface CountersLeft {
  /** Counters that are out of date and stay so for now. */
  readonly putOff?: CountersPutOff;
  /** When they are to be written; absent if none is put off. */
  readonly waitMs?: number;
}

/** `keepsCounters` of a group restart: counters stay, because they will soon be right again. */
export function completeStatus(planning: Planning, keepsCounters: boolean): CountersLeft {
  const { snapshot, spec, draft, children, counters, stages } = planning;
  const { nowMs, knowledge } = snapshot;
  const before = snapshot.jobSet.status ?? {};
  const stored = before.replicatedJobsStatus;
  const write = countersWrite(stored, counters, knowledge.countersPutOff, {
    nowMs,
    isConverging: isMoving(planning),
  });
  const isForced = write.kind === 'Urgent' || isRecordUrgent(stored, counters, children);
  const isDue = isForced || (draft.isChanged ? !keepsCounters : write.kind === 'Due');
  if (write.kind !== 'Same' && isDue) {
    const others = draft.status.replicatedJobsStatus ?? [];
    const counted = replicatedJobsStatus(spec.replicatedJobs, children, others);
    const replicatedJobs = withSucceededIndexes(counted, children, stages?.startsOver);
    draft.set({ replicatedJobsStatus: replicatedJobs });
  }
  beginAttempt(planning);
  keepStartTime(planning);
  if (write.kind === 'Same' || isDue) return {};
  if (write.kind === 'Wait' && !keepsCounters) return write;
  const putOff = { counted: counters, sinceMs: nowMs, calmSinceMs: nowMs };
  return { putOff, waitMs: COUNTERS_LATEST_MS };
}

/** Whether a group gathers at its barrier, or has been released again and its Jobs are about to be ready. */
function isMoving(planning: Planning): boolean {
  const { snapshot, spec, draft, counters, stages } = planning;
  if (stages === undefined || spec.suspend) return false;
  if (isConverging(groupOf(planning, stages))) return true;
  const { deprecatedEpoch = 0, syncedTime = '' } = draft.status;
  const hasJustRestarted =
    deprecatedEpoch > 0 && snapshot.nowMs - Date.parse(syncedTime) < COUNTERS_LATEST_MS;
  return hasJustRestarted && !allJobsReady(spec.replicatedJobs, counters);
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
