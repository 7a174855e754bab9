import { timeText } from '../../kube/time.ts';
import type { Planning } from '../planning.ts';
import { isFinished, isTrue } from '../status/conditions.ts';
import { failJobSet } from '../status/terminal-state.ts';
import { LONGEST_WAIT_MS } from './ttl.ts';

/**
 * How long a JobSet may be active without a break: `spec.activeDeadlineSeconds`, counted from
 * `status.startTime`. It catches a run that hangs; runs that fail again and again are bounded by
 * `maxRestarts`. The start is cleared by a suspend, and is a new one after a resume and when all Jobs
 * are recreated; a restart of one Job or in place goes on with what it had.
 */
export function hasDeadline({ snapshot, spec }: Pick<Planning, 'snapshot' | 'spec'>): boolean {
  return snapshot.gates.JobSetActiveDeadlineSeconds && spec.activeDeadlineSeconds !== undefined;
}

/** Whether the time of the JobSet is over, which fails it. */
export function failIfOverdue(planning: Planning): boolean {
  const { snapshot, spec, draft } = planning;
  const remainingMs = remainingActiveMs(planning, snapshot.jobSet.status?.startTime);
  if (remainingMs === undefined || remainingMs > 0) return false;
  const message = `jobset was active for longer than its deadline of ${spec.activeDeadlineSeconds} s`;
  failJobSet(draft, 'DeadlineExceeded', message);
  return true;
}

/** When to look again, because nothing else may happen to a run that hangs. */
export function deadlineWaitMs(planning: Planning): number | undefined {
  const { conditions, startTime } = planning.draft.status;
  const remainingMs = isFinished(conditions) ? undefined : remainingActiveMs(planning, startTime);
  return remainingMs === undefined ? undefined : Math.min(remainingMs, LONGEST_WAIT_MS);
}

/** Without a deadline the start goes with the next write; it is worth none of its own. */
export function keepStartTime({ snapshot, spec, draft }: Planning): void {
  const { conditions, startTime, restarts = 0 } = draft.status;
  const isActive = !isFinished(conditions) && !isTrue(conditions, 'Rejected');
  const isWritten = draft.isChanged || hasDeadline({ snapshot, spec });
  if (!snapshot.gates.JobSetActiveDeadlineSeconds || !isActive || !isWritten) return;
  const isRestarted = restarts > (snapshot.jobSet.status?.restarts ?? 0);
  if (spec.suspend) {
    if (startTime !== undefined) draft.remove('startTime');
  } else if (startTime === undefined || isRestarted) {
    draft.set({ startTime: timeText(snapshot.nowMs) });
  }
}

function remainingActiveMs(planning: Planning, startTime: string | undefined): number | undefined {
  const { snapshot, spec } = planning;
  const startMs = Date.parse(startTime ?? '');
  if (!hasDeadline(planning) || spec.suspend || Number.isNaN(startMs)) return undefined;
  return startMs + (spec.activeDeadlineSeconds ?? 0) * 1000 - snapshot.nowMs;
}
