/**
 * Limits how long a JobSet may be active without a break. `spec.activeDeadlineSeconds` counts from
 * `status.startTime`. It catches a run that hangs; `maxRestarts` bounds runs that fail again and
 * again. A suspend clears the start time, and a resume or a recreation of all Jobs sets a new one.
 * A restart of one Job or in place keeps it.
 */
import { timeText } from '@lockstep/kube/time.ts';
import { isFinished, isTrue } from '../../status/conditions.ts';
import { type Decision, LAST } from '../decision.ts';
import type { Facts } from '../facts.ts';
import { stopWhatRuns } from '../jobs/tidying.ts';
import type { Next } from '../merge.ts';
import { failed } from '../records/terminal-state.ts';
import { keepsFailed } from './keep-failed.ts';
import { LONGEST_WAIT_MS } from './ttl.ts';

export function hasDeadline({ gates, spec }: Facts): boolean {
  return gates.JobSetActiveDeadlineSeconds && spec.activeDeadlineSeconds !== undefined;
}

export function failIfOverdue(facts: Facts): readonly Decision[] {
  const { spec, status } = facts;
  const remainingMs = remainingActiveMs(facts, status.startTime);
  if (remainingMs === undefined || remainingMs > 0) return [];
  const message = `jobset was active for longer than its deadline of ${spec.activeDeadlineSeconds} s`;
  const stopping = keepsFailed(facts) ? [] : stopWhatRuns(facts);
  return [failed('DeadlineExceeded', message), ...stopping, LAST];
}

/** When to look again, because nothing else may happen to a run that hangs. */
export function awaitDeadline(facts: Facts, { status: { conditions, startTime } }: Next): Decision {
  if (isFinished(conditions)) return {};
  const remainingMs = remainingActiveMs(facts, startTime);
  return remainingMs === undefined
    ? {}
    : { requeueAfterMs: Math.min(remainingMs, LONGEST_WAIT_MS) };
}

/** Without a deadline the start time goes out with the next write; it is not worth its own. */
export function keepStartTime(facts: Facts, { status, isChanged }: Next): Decision {
  const { conditions, startTime, restarts = 0 } = status;
  const isActive = !isFinished(conditions) && !isTrue(conditions, 'Rejected');
  const isWritten = isChanged || hasDeadline(facts);
  if (!facts.gates.JobSetActiveDeadlineSeconds || !isActive || !isWritten) return {};
  if (facts.spec.suspend) {
    return startTime === undefined ? {} : { status: { startTime: undefined } };
  }
  const isRestarted = restarts > (facts.status.restarts ?? 0);
  if (startTime !== undefined && !isRestarted) return {};
  return { status: { startTime: timeText(facts.nowMs) } };
}

function remainingActiveMs(facts: Facts, startTime: string | undefined): number | undefined {
  const { spec, nowMs } = facts;
  const startMs = Date.parse(startTime ?? '');
  if (!hasDeadline(facts) || spec.suspend || Number.isNaN(startMs)) return undefined;
  return startMs + (spec.activeDeadlineSeconds ?? 0) * 1000 - nowMs;
}
