import type { JobSetStatus } from '../jobset.ts';
import { isTrue } from './conditions.ts';

/**
 * How often a JobSet was run (KEP-1282): absent before its first run, 0 in it, one more with each
 * resume and each time that all Jobs are recreated. Restarts in place do not count. It is written
 * before any Job of that run is let go, and never derived from anything but itself.
 */

/** What the count has to be before Jobs may run; undefined if nothing has to be written. */
export function firstExecutionAttempt(
  status: JobSetStatus,
  isSuspended: boolean,
): number | undefined {
  if (status.executionAttempts !== undefined) return undefined;
  const restarts = status.restarts ?? 0;
  // A JobSet of a time before this count has run if it restarted.
  return isSuspended && restarts === 0 ? undefined : restarts;
}

/** After a status in which all Jobs were told to be recreated. */
export function afterRecreation(before: JobSetStatus, after: JobSetStatus): number | undefined {
  const isRecreated = (after.restarts ?? 0) > (before.restarts ?? 0);
  if (!isRecreated || after.executionAttempts === undefined) return undefined;
  return after.executionAttempts + 1;
}

/** When a resume begins; `status` is the one that the suspended JobSet had. */
export function afterResume(status: JobSetStatus): number | undefined {
  if (status.executionAttempts === undefined || !isTrue(status.conditions, 'Suspended')) {
    return undefined;
  }
  return status.executionAttempts + 1;
}
