/**
 * Replaces members that have to leave their nodes, while all wait at the barrier. One write names
 * them in the status, and then the operator deletes their Pods. If it crashes in between, the status
 * says which Pods still have to go. The epoch is not released before
 * (`docs/design/release-hazards.md#a-member-that-is-to-leave-its-node-starts-again-there`).
 */
import { microTimeText, timeText } from '@lockstep/kube/time.ts';
import { isSuspended } from '../../child-jobs/child-jobs.ts';
import { membersAtBarrier } from '../../epoch/in-place-restart.ts';
import { type AvoidedNode, MAX_AVOIDED_NODES, type RestartRecord } from '../../jobset-status.ts';
import type { PodFacts } from '../../roster/pod-facts.ts';
import { cleared, isTrue } from '../../status/conditions.ts';
import type { Action, Decision, PlannedEvent } from '../decision.ts';
import type { GroupFacts } from '../facts.ts';
import type { SuspectPod } from '../questions.ts';
import { type Leaving, leavingMembers, MAX_REPLACED_PER_EPOCH, unfitMembers } from './strikes.ts';

/**
 * How long a new Pod may take before a condition names it. A Pod that cannot be deleted stays after
 * that, so that no policy of a cluster keeps the group at the barrier for ever.
 */
const PENDING_AFTER_MS = 5 * 60_000;

/** Decisions in place of a release, or beside it if none of them is the last. */
export function replaceMembers(
  facts: GroupFacts,
  history: readonly RestartRecord[],
): readonly Decision[] {
  const { status, lacks, nowMs } = facts;
  const { avoidedNodes: known = [] } = status;
  const toGo = podsToGo(facts);
  if (toGo.length > 0) return [{ actions: toGo }];
  const [newest] = history;
  if (newest === undefined || lacks?.has('avoidedNodes') === true) return [];
  const named = sinceEnd(known, newest);
  const room = Math.max(0, MAX_REPLACED_PER_EPOCH - named.length);
  const isNamed = (pod: string): boolean => named.some((each) => each.pod === pod);
  const wanted = leavingMembers(facts, history)
    .filter(({ pod }) => !isNamed(pod))
    .slice(0, room);
  if (wanted.length === 0) return [];
  const question = { kind: 'Pins', pods: wanted.map(({ member }) => member) } as const;
  const pins = facts.answer(question);
  if (pins === undefined) return [{ question }];
  const leaving = wanted.filter(({ member }) => !pins.has(member.uid));
  const staying = eventsOfStay(wanted, pins);
  if (leaving.length === 0) return [{ events: staying }];
  // Clocks of operators differ, and an entry belongs to the newest ended epoch.
  const time = microTimeText(Math.max(nowMs, Date.parse(newest.time)));
  const added = leaving.map(({ node, reason, pod, worker }): AvoidedNode => {
    return { node, time, reason, pod, worker };
  });
  const nodes = new Set(added.map(({ node }) => node));
  const others = known.filter((each) => !nodes.has(each.node) || named.includes(each));
  return [
    {
      status: {
        restartHistory: history,
        avoidedNodes: [...added, ...others].slice(0, MAX_AVOIDED_NODES),
      },
      events: [
        ...leaving.map(({ worker, pod, node, reason }): PlannedEvent => {
          const note = `${worker}, Pod ${pod}, leaves node ${node}: ${reason}`;
          return { type: 'Warning', reason: MEMBER_REPLACED, note };
        }),
        ...staying,
      ],
      outcomes: leaving.map(({ cause }) => ({ kind: 'MemberReplaced', cause })),
      actions: leaving.map(actionFor),
      requeueAfterMs: PENDING_AFTER_MS,
      keepsCounters: true,
      isLast: true,
    },
  ];
}

/** A new Pod would get the same node: the member restarts in place, which is quicker. */
function eventsOfStay(
  wanted: readonly Leaving[],
  pins: ReadonlyMap<string, string>,
): readonly PlannedEvent[] {
  return wanted.flatMap(({ member, worker, pod, node, reason }): readonly PlannedEvent[] => {
    const pin = pins.get(member.uid);
    if (pin === undefined) return [];
    const note = `${worker}, Pod ${pod}, should leave node ${node}, and stays: ${reason}, but ${pin} would bind a new Pod to the same node`;
    return [{ type: 'Warning', reason: 'MemberPinned', note, isOnce: true }];
  });
}

/** Members whose preflight did not pass, on nodes that are unknown. */
export function unfitToRead(facts: GroupFacts, newest: RestartRecord): readonly SuspectPod[] {
  const unfit = unfitMembers(facts, newest);
  if (unfit.size === 0) return [];
  const pods = [...membersAtBarrier(facts.group)].flatMap(({ pod }) => {
    const member = unfit.get(pod.uid);
    return member !== undefined && member.node === undefined ? [pod] : [];
  });
  return pods.toSorted(byName).slice(0, MAX_REPLACED_PER_EPOCH);
}

/** The reason of the Event, and of the condition of the Pod. */
export const MEMBER_REPLACED = 'MemberReplaced';

/** Acts on Pods that the status has named recently and that are not in deletion yet. */
function podsToGo({ group, status, nowMs }: GroupFacts): readonly Action[] {
  const recent = status.avoidedNodes?.filter((left) => nowMs < dueMsOf(left)) ?? [];
  if (recent.length === 0) return [];
  const named = new Map(recent.map((each) => [each.pod, each]));
  const pods = [...membersAtBarrier(group)].map(({ pod }) => pod).toSorted(byName);
  return pods.flatMap((member) => {
    const left = named.get(member.name);
    return left === undefined ? [] : [actionFor({ ...left, member })];
  });
}

function dueMsOf({ time }: AvoidedNode): number {
  return Date.parse(time) + PENDING_AFTER_MS;
}

function actionFor({ member, node, reason }: Pick<Leaving, 'member' | 'node' | 'reason'>): Action {
  return { kind: 'ReplaceMember', pod: member, message: `It leaves node ${node}: ${reason}` };
}

function byName(a: PodFacts, b: PodFacts): number {
  return a.name < b.name ? -1 : 1;
}

/** Entries that were made when that epoch had ended. */
function sinceEnd(
  avoidedNodes: readonly AvoidedNode[],
  { time }: RestartRecord,
): readonly AvoidedNode[] {
  return avoidedNodes.filter((each) => Date.parse(each.time) >= Date.parse(time));
}

/** Names new Pods that are not at the barrier in time. */
export function reportPendingReplacements(facts: GroupFacts): readonly Decision[] {
  const { group, status, nowMs } = facts;
  const { avoidedNodes = [], restartHistory: [newest] = [] } = status;
  const recent = newest === undefined ? [] : sinceEnd(avoidedNodes, newest);
  const pending = recent.flatMap((left) => pendingIn(facts, left));
  const due = pending.filter(({ dueMs }) => dueMs <= nowMs);
  if (due.length === 0) {
    const nextMs = Math.min(...pending.map(({ dueMs }) => dueMs));
    const message = 'no replaced member is missing';
    const isShown = isTrue(status.conditions, TYPE);
    return [
      ...(isShown ? [{ conditions: [cleared(TYPE, 'ReplacementsArrived', message)] }] : []),
      ...(Number.isFinite(nextMs) ? [{ requeueAfterMs: nextMs - nowMs }] : []),
    ];
  }
  const message = `epoch ${group.epoch} waits for ${due.map(({ words }) => words).join('; ')}; the Events of the Pod say what it lacks, such as a node with room or an image`;
  const change = { type: TYPE, status: 'True', reason: 'ReplacementNotReady', message } as const;
  return [{ conditions: [{ ...change, event: 'Warning' }] }];
}

const TYPE = 'ReplacementPending';

interface Pending {
  readonly dueMs: number;
  readonly words: string;
}

/** None if another Pod waits at the barrier in its place, or its slot is gone. */
function pendingIn({ group, spec, nowMs }: GroupFacts, left: AvoidedNode): readonly Pending[] {
  const { pod, node, time, worker } = left;
  if (spec.suspend) return [];
  for (const { job, stage, slot } of slotsOf(group, pod)) {
    const { name } = job.metadata;
    if (isSuspended(job) || isTrue(job.status?.conditions, 'Suspended')) return [];
    // All Pods of a Job that was resumed are new.
    const startMs = Date.parse(job.status?.startTime ?? '') || 0;
    const dueMs = Math.max(dueMsOf(left), startMs + PENDING_AFTER_MS);
    let arrived = 0;
    for (const member of group.members.announcing(group.epoch)) {
      const isThere = member.jobUid === job.metadata.uid && member.slot === slot;
      const stays = member.name === pod && dueMs <= nowMs;
      if (isThere && (stays || member.name !== pod)) arrived++;
    }
    if (arrived >= (slot === undefined ? stage.parallelism : 1)) return [];
    const where = slot === undefined ? `Job ${name}` : `Job ${name}, index ${slot}`;
    const words = `the new Pod of ${where}, since ${worker} left node ${node} at ${timeText(Date.parse(time))}`;
    return [{ dueMs, words }];
  }
  return [];
}

/** The unreleased Job and slot of a Pod, by its name: `JOB-INDEX-xxxxx`, or `JOB-xxxxx`. */
function* slotsOf(group: GroupFacts['group'], pod: string) {
  for (const stage of group.stages) {
    if (stage.isComplete || stage.released >= group.epoch) continue;
    for (const job of stage.jobs) {
      const { name } = job.metadata;
      const isIndexed = job.spec.completionMode === 'Indexed';
      const rest = pod.startsWith(`${name}-`) ? pod.slice(name.length + 1) : '';
      const [, slot] = (isIndexed ? /^([0-9]+)-[a-z0-9]+$/ : /^()[a-z0-9]+$/).exec(rest) ?? [];
      if (slot !== undefined) yield { job, stage, slot: isIndexed ? slot : undefined };
    }
  }
}
