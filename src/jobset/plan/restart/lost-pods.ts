/**
 * Pods that should have ended, but nothing confirms it, for example because their node is lost. While
 * one may be running, no newer epoch is released, so a condition names it with its node. If the
 * Pod's agent knows a deadline, its worker has stopped when that passes. Then the operator deletes
 * the Pod by force, and the Job makes another
 * (`docs/design/release-hazards.md#a-lost-node-keeps-its-pod-for-ever`).
 */
import { timeText } from '@lockstep/kube/time.ts';
import type { Members } from '../../roster/members.ts';
import type { OverduePod, PodFacts } from '../../roster/pod-facts.ts';
import {
  type ConditionChange,
  type ConditionType,
  cleared,
  isFinished,
  isTrue,
} from '../../status/conditions.ts';
import type { Action, Decision, PlannedEvent } from '../decision.ts';
import type { Facts } from '../facts.ts';
import type { Next } from '../merge.ts';

/**
 * From the end of its grace period until a Pod counts as overdue: the time that a working node
 * needs to end containers and report it.
 */
export const OVERDUE_AFTER_MS = 20_000;
/** Pods that are handled together; others follow when these are gone. */
export const MAX_LOST_PODS_AT_ONCE = 50;
/** The most Pods that a condition names, for a person to read. */
const MAX_NAMED_PODS = 3;

export function dealWithLostPods({ group, members, nowMs, answer }: Facts): readonly Decision[] {
  if (group === undefined) return [];
  const { overdue, nextMs } = overduePods(members, nowMs);
  const question = { kind: 'OverduePods', pods: overdue } as const;
  const asked = overdue.length === 0 ? new Map() : answer(question);
  if (asked === undefined) return [{ question }];
  const found = overdue.flatMap((pod): readonly OverduePod[] => {
    const seen = asked.get(pod.uid);
    return seen === undefined ? [] : [{ ...pod, node: seen.node }];
  });
  // The clock has moved since the question.
  const hasOthers = overdue.some(({ uid }) => !asked.has(uid));
  const lost = found.filter((pod) => (lossMs(pod) ?? Number.POSITIVE_INFINITY) <= nowMs);
  return [
    ...(hasOthers && found.length === 0 ? [] : [{ conditions: [conditionOf(found)] }]),
    {
      events: lost.map(eventOfDeletion),
      actions: lost.map((pod): Action => ({ kind: 'DeleteLostPod', pod })),
      requeueAfterMs: hasOthers ? 0 : nextMs && nextMs - nowMs,
    },
  ];
}

interface Overdue {
  /** In the order of their ends, at most `MAX_LOST_PODS_AT_ONCE`. */
  readonly overdue: readonly PodFacts[];
  /** When the next Pod becomes overdue or has to be deleted. */
  readonly nextMs: number | undefined;
}

function overduePods(members: Members, nowMs: number): Overdue {
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

/** When the Pod may be deleted by force; undefined: never, because its agent knows no deadline. */
export function lossMs({ endMs, lostNodeDeadlineMs }: PodFacts): number | undefined {
  if (endMs === undefined || lostNodeDeadlineMs === undefined) return undefined;
  return endMs + lostNodeDeadlineMs;
}

function conditionOf(overdue: readonly OverduePod[]): ConditionChange {
  const type = 'WaitingForLostNode';
  if (overdue.length === 0) return cleared(type, 'PodsGone', 'no Pod is overdue');
  const named = overdue
    .slice(0, MAX_NAMED_PODS)
    .map((pod) => `${describe(pod)}, ${nextStepOf(pod)}`);
  const others = overdue.length - named.length;
  const message = [...named, ...(others === 0 ? [] : [`and ${others} more`])].join('; ');
  return { type, status: 'True', reason: 'PodOverdue', message, event: 'Warning' };
}

function eventOfDeletion(pod: OverduePod): PlannedEvent {
  const note = `${describe(pod)}: it is deleted by force, its deadline has passed`;
  return { type: 'Warning', reason: 'LostPodDeleted', note, isOnce: true };
}

function describe({ name, node, endMs }: OverduePod): string {
  const where = node === undefined ? 'without a node' : `on node ${node}`;
  return `Pod ${name} ${where} should have ended at ${timeText(endMs ?? 0)}`;
}

function nextStepOf(pod: OverduePod): string {
  const dueMs = lossMs(pod);
  if (dueMs !== undefined) return `is deleted by force at ${timeText(dueMs)}`;
  return 'and nothing confirms that it has: if the node is off, delete the Node';
}

const PODS_IN_THE_WAY: readonly ConditionType[] = ['WaitingForUnknownPod', 'WaitingForLostNode'];
/** Other Pods may have taken the places of the named ones, and no watchpoint reports that. */
const NAMED_PODS_REVIEW_MS = 15_000;

export function reviewNamedPods(_: object, { status: { conditions } }: Next): Decision {
  const isWaiting = PODS_IN_THE_WAY.some((type) => isTrue(conditions, type));
  return isWaiting && !isFinished(conditions) ? { requeueAfterMs: NAMED_PODS_REVIEW_MS } : {};
}
