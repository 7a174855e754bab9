/**
 * Keeps the Pods of a failed group, and with them the logs, for as long as
 * `lockstep/keep-failed` says. The write that fails the JobSet ends the current epoch too, so all
 * agents stop their workers and wait at a barrier that never lifts. The annotation may change
 * afterwards, so every plan reads it again.
 */
import { isReleased } from '../../epoch/in-place-restart.ts';
import { keepFailedMs, keptUntilMs } from '../../policies/keep-failed.ts';
import { isFinished, isTrue } from '../../status/conditions.ts';
import type { Decision } from '../decision.ts';
import { type Facts, isOfGroup } from '../facts.ts';
import { stopWhatRuns } from '../jobs/tidying.ts';
import type { Next } from '../merge.ts';
import { LONGEST_WAIT_MS } from './ttl.ts';

export function endWithFailure(facts: Facts, { status }: Next): Decision {
  const isFailing = isTrue(status.conditions, 'Failed') && !isFinished(facts.status.conditions);
  if (!isFailing || !isOfGroup(facts) || !keepsFailed(facts)) return {};
  return { status: { deprecatedEpoch: facts.group.epoch } };
}

/** Whether the Jobs of this JobSet would stay if it failed now. */
export function keepsFailed({ jobSet, spec, group }: Facts): boolean {
  return group !== undefined && !spec.suspend && keepFailedMs(jobSet.metadata) > 0;
}

/**
 * Ends the Jobs of a finished JobSet when their time is over. It ends them at once if a worker may
 * run: the annotation came after the write that failed the JobSet, so that did not end the epoch.
 */
export function stopUnlessKept(facts: Facts): readonly Decision[] {
  const remainingMs = keptForMs(facts);
  return remainingMs > 0
    ? [{ requeueAfterMs: Math.min(remainingMs, LONGEST_WAIT_MS) }]
    : stopWhatRuns(facts);
}

function keptForMs(facts: Facts): number {
  const { group, jobSet, spec, status, nowMs } = facts;
  if (group === undefined || isReleased(group)) return 0;
  const untilMs = keptUntilMs({ metadata: jobSet.metadata, spec, status }) ?? nowMs;
  return Math.min(keepFailedMs(jobSet.metadata), untilMs - nowMs);
}
