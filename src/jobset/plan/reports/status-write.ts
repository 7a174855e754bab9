/**
 * Completes a status before it is written. It decides whether counters are worth a write now, later
 * or not at all, and resets the status if all Jobs are to be recreated.
 */

import { allJobsReady, replicatedJobsStatus } from '../../child-jobs/replicated-jobs-status.ts';
import {
  isRecordUrgent,
  withoutSucceededIndexes,
  withSucceededIndexes,
} from '../../child-jobs/succeeded-jobs.ts';
import { isConverging } from '../../epoch/in-place-restart.ts';
import type { JobSetStatus } from '../../jobset-status.ts';
import { COUNTERS_LATEST_MS, countersWrite } from '../../status/counters.ts';
import type { Decision } from '../decision.ts';
import type { Facts } from '../facts.ts';
import type { Next } from '../merge.ts';

export function writeCounters(facts: Facts, next: Next): Decision {
  const { spec, children, counters, group, knowledge, nowMs } = facts;
  const { replicatedJobsStatus: stored } = facts.status;
  const write = countersWrite(stored, counters, knowledge.countersPutOff, {
    nowMs,
    isConverging: isMoving(facts, next.status),
  });
  if (write.kind === 'Same') return {};
  const isForced = write.kind === 'Urgent' || isRecordUrgent(stored, counters, children);
  if (isForced || (next.isChanged ? !next.keepsCounters : write.kind === 'Due')) {
    const others = next.status.replicatedJobsStatus ?? [];
    const counted = replicatedJobsStatus(spec.replicatedJobs, children, others);
    const all = withSucceededIndexes(counted, children, group?.startsOver);
    return { status: { replicatedJobsStatus: all } };
  }
  if (write.kind === 'Wait' && !next.keepsCounters) {
    return { countersPutOff: write.putOff, requeueAfterMs: write.waitMs };
  }
  const putOff = { counted: counters, sinceMs: nowMs, calmSinceMs: nowMs };
  return { countersPutOff: putOff, requeueAfterMs: COUNTERS_LATEST_MS };
}

/**
 * Whether a group gathers at its barrier, or has been released again and its Jobs are about to be
 * ready.
 */
function isMoving(
  { spec, counters, group, nowMs }: Facts,
  { deprecatedEpoch = 0, syncedTime = '' }: JobSetStatus,
): boolean {
  if (group === undefined || spec.suspend) return false;
  if (isConverging(group)) return true;
  const hasJustRestarted =
    deprecatedEpoch > 0 && nowMs - Date.parse(syncedTime) < COUNTERS_LATEST_MS;
  return hasJustRestarted && !allJobsReady(spec.replicatedJobs, counters);
}

/** All Jobs are recreated and run again: earlier successes do not count any more. */
export function beginAttempt(
  { status: before, gates }: Facts,
  { status: { restarts = 0, replicatedJobsStatus: statuses, executionAttempts } }: Next,
): Decision {
  if (restarts <= (before.restarts ?? 0)) return {};
  const isCounted = gates.ExecutionAttemptsTracking && executionAttempts !== undefined;
  return {
    status: {
      ...(statuses && { replicatedJobsStatus: withoutSucceededIndexes(statuses) }),
      ...(isCounted && { executionAttempts: executionAttempts + 1 }),
    },
  };
}
