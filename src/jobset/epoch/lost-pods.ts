/**
 * Pods that were to have ended and of which nobody says that they have, as when their node is lost
 * (design, H4). While one may be running nothing newer is released, so a condition names it with its
 * node. One whose agent was told a deadline is deleted by force when that has passed, since its
 * worker has been stopped by then; the Job makes another.
 */
import { timeText } from '../../kube/time.ts';
import type { Action } from '../convergence.ts';
import type { Planning } from '../planning.ts';
import type { Question } from '../snapshot.ts';
import type { Members } from './members.ts';
import type { PodFacts } from './pod-facts.ts';

/**
 * From the end of its grace period until a Pod counts as overdue: what a node that works takes to end
 * containers, and to say so.
 */
export const OVERDUE_AFTER_MS = 20_000;
/** Pods that are looked at together; the others have their turn when these are gone. */
export const MAX_LOST_PODS_AT_ONCE = 50;
/** A condition names no more than a person reads. */
const MAX_NAMED_PODS = 3;

export interface LostPodsStep {
  readonly actions: readonly Action[];
  readonly question?: Question;
  readonly requeueAfterMs?: number;
}

/** What is to be done about them, and said in the draft. */
export function planLostPods({ snapshot, draft }: Planning): LostPodsStep {
  const { members, nowMs, answers } = snapshot;
  const { overdue, nextMs } = overduePods(members, nowMs);
  const wait = nextMs === undefined ? {} : { requeueAfterMs: nextMs - nowMs };
  if (overdue.length > 0 && answers.overduePods === undefined) {
    return { actions: [], question: { kind: 'OverduePods', pods: overdue } };
  }
  const found = overdue.flatMap((pod): readonly OverduePod[] => {
    const seen = answers.overduePods?.get(pod.uid);
    return seen === undefined ? [] : [{ ...pod, node: seen.node }];
  });
  report(draft, found);
  const lost = found.filter((pod) => (lossMs(pod) ?? Number.POSITIVE_INFINITY) <= nowMs);
  for (const pod of lost) {
    const note = `${describe(pod)}: it is deleted by force, its deadline has passed`;
    draft.eventOnce('Warning', 'LostPodDeleted', note);
  }
  return { actions: lost.map((pod): Action => ({ kind: 'DeleteLostPod', pod })), ...wait };
}

/** A Pod that is overdue, with the node that it is bound to. */
export interface OverduePod extends PodFacts {
  readonly node: string | undefined;
}

interface Overdue {
  /** In the order of their ends, at most `MAX_LOST_PODS_AT_ONCE`. */
  readonly overdue: readonly PodFacts[];
  /** When more is to be decided. */
  readonly nextMs: number | undefined;
}

export function overduePods(members: Members, nowMs: number): Overdue {
  const overdue: PodFacts[] = [];
  let nextMs = Number.POSITIVE_INFINITY;
  for (const pod of members.ending()) {
    if (pod.endMs === undefined) continue;
    const overdueMs = pod.endMs + OVERDUE_AFTER_MS;
    if (overdueMs <= nowMs) overdue.push(pod);
    for (const dueMs of [overdueMs, lossMs(pod) ?? overdueMs]) {
      if (dueMs > nowMs) nextMs = Math.min(nextMs, dueMs);
    }
  }
  overdue.sort((a, b) => (a.endMs ?? 0) - (b.endMs ?? 0) || (a.name < b.name ? -1 : 1));
  return {
    overdue: overdue.slice(0, MAX_LOST_PODS_AT_ONCE),
    nextMs: Number.isFinite(nextMs) ? nextMs : undefined,
  };
}

/** When the Pod may be deleted by force; undefined: never, its agent knows of no deadline. */
export function lossMs({ endMs, lostNodeDeadlineMs }: PodFacts): number | undefined {
  if (endMs === undefined || lostNodeDeadlineMs === undefined) return undefined;
  return endMs + lostNodeDeadlineMs;
}

function report(draft: Planning['draft'], overdue: readonly OverduePod[]): void {
  if (overdue.length === 0) {
    const message = 'no Pod is overdue';
    draft.clear({ type: 'WaitingForLostNode', reason: 'PodsGone', message });
    return;
  }
  const named = overdue.slice(0, MAX_NAMED_PODS).map((pod) => `${describe(pod)}, ${fateOf(pod)}`);
  const others = overdue.length - named.length;
  const message = [...named, ...(others === 0 ? [] : [`and ${others} more`])].join('; ');
  draft.condition(
    { type: 'WaitingForLostNode', status: 'True', reason: 'PodOverdue', message },
    'Warning',
  );
}

function describe({ name, node, endMs }: OverduePod): string {
  const where = node === undefined ? 'without a node' : `on node ${node}`;
  return `Pod ${name} ${where} should have ended at ${timeText(endMs ?? 0)}`;
}

function fateOf(pod: OverduePod): string {
  const dueMs = lossMs(pod);
  if (dueMs !== undefined) return `is deleted by force at ${timeText(dueMs)}`;
  return 'and nothing confirms that it has: if the node is off, delete the Node, or delete the Pod with --force';
}
