/** Puts the decisions of a plan together, one after the other. No other file does. */
import { defined } from '@lockstep/kube/json/defined.ts';
import type { JobSetStatus } from '../jobset-status.ts';
import { changeCondition } from '../status/conditions.ts';
import type { Decision, PlannedEvent } from './decision.ts';

/** The result of the decisions so far. */
export interface Next {
  readonly status: JobSetStatus;
  /** Whether the status says anything new. */
  readonly isChanged: boolean;
  readonly events: readonly PlannedEvent[];
  readonly keepsCounters: boolean;
}

/** The result before the first decision. */
export function unchanged(status: JobSetStatus): Next {
  return { status, isChanged: false, events: [], keepsCounters: false };
}

/**
 * Fields of a later decision replace fields of an earlier one; `changeCondition` has the rule for
 * conditions.
 */
export function merge(next: Next, decision: Decision, nowMs: number): Next {
  const { status: change, conditions: changes = [], keepsCounters = false } = decision;
  const events = [...next.events, ...(decision.events ?? [])];
  let status: JobSetStatus =
    change === undefined ? next.status : defined({ ...next.status, ...change });
  for (const wanted of changes) {
    const before = status.conditions ?? [];
    const conditions = changeCondition(before, wanted, nowMs);
    if (conditions === before) continue;
    status = { ...status, conditions };
    const { event: type, reason, message: note } = wanted;
    if (type !== undefined) events.push({ type, reason, note });
  }
  return {
    status,
    isChanged: next.isChanged || status !== next.status,
    events,
    keepsCounters: next.keepsCounters || keepsCounters,
  };
}
