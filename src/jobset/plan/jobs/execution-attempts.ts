/**
 * Counts how often a JobSet was run (KEP-1282). The count is absent before its first run, 0 in it,
 * and one more with each resume and each recreation of all Jobs. Restarts in place do not count. The
 * operator writes the count before any Job of that run starts, and derives it only from itself.
 */
import type { Decision } from '../decision.ts';
import type { Facts } from '../facts.ts';

/** Reason of the condition `Suspended` while an ordered resume, already counted, is under way. */
export const RESUMING = 'ResumingJobs';

/** The count of the run for which Jobs are made and resumed now; undefined before the first. */
export function attemptOfRun({ gates, spec, status }: Facts): number | undefined {
  const { executionAttempts: counted, restarts = 0, conditions } = status;
  if (!gates.ExecutionAttemptsTracking) return undefined;
  // A JobSet from before this count has run if it restarted.
  if (counted === undefined) return spec.suspend && restarts === 0 ? undefined : restarts;
  const suspended = conditions?.find(({ type }) => type === 'Suspended');
  const isResumed = !spec.suspend && suspended?.status === 'True' && suspended.reason !== RESUMING;
  return isResumed ? counted + 1 : counted;
}

export function countFirstRun(facts: Facts): readonly Decision[] {
  return facts.status.executionAttempts === undefined ? countRun(facts) : [];
}

export function countRun(facts: Facts): readonly Decision[] {
  const executionAttempts = attemptOfRun(facts);
  const isNews = executionAttempts !== facts.status.executionAttempts;
  return isNews && executionAttempts !== undefined ? [{ status: { executionAttempts } }] : [];
}
