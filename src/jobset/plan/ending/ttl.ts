/**
 * When a finished JobSet is deleted by itself. `ttlSecondsAfterFinished` may change after the end,
 * so every plan reads it again.
 */
import { namespaceOf } from '@lockstep/kube/meta.ts';
import type { Decision } from '../decision.ts';
import type { Facts } from '../facts.ts';

/** The limit of timers; a caller that wakes up too early looks again. */
export const LONGEST_WAIT_MS = 24 * 60 * 60_000;

export function deleteExpired({ jobSet, spec, status, nowMs }: Facts): readonly Decision[] {
  const { ttlSecondsAfterFinished: ttlSeconds } = spec;
  if (ttlSeconds === undefined) return [];
  const end = status.conditions?.find(
    ({ type, status: is }) => (type === 'Completed' || type === 'Failed') && is === 'True',
  );
  const endedMs = Date.parse(end?.lastTransitionTime ?? '');
  // Go's zero time, year 1, means that there is none.
  if (Number.isNaN(endedMs) || endedMs <= 0) {
    const which = `${namespaceOf(jobSet.metadata)}/${jobSet.metadata.name}`;
    const note = `unable to find the time when the JobSet ${which} finished`;
    return [{ events: [{ type: 'Warning', reason: 'UnknownFinishTime', note, isOnce: true }] }];
  }
  const remainingMs = endedMs + ttlSeconds * 1000 - nowMs;
  if (remainingMs <= 0) return [{ actions: [{ kind: 'DeleteJobSet' }] }];
  return [{ requeueAfterMs: Math.min(remainingMs, LONGEST_WAIT_MS) }];
}
