/** The messages about members that a page with a run needs. */
import type { MemberChange, RunMember, RunMessage } from '../../../dashboard/messages/run.ts';
import type { RankLag } from '../../../jobset/progress/progress.ts';
import type { MemberView, ProgressView } from '../../../jobset/view/status-view.ts';

export type Members = ReadonlyMap<string, RunMember>;
export type MembersMessage = Extract<RunMessage, { type: 'Members' }>;

/** Answers take their time, and agents report each few seconds: less is no new report. */
const CHANCE_MS = 1500;

/** Undefined if nothing changed but what a page counts on by itself. */
export function memberChanges(
  told: Members,
  views: readonly MemberView[],
  atMs: number,
): MembersMessage | undefined {
  const came: RunMember[] = [];
  const changed: MemberChange[] = [];
  const names = new Set<string>();
  for (const view of views) {
    names.add(view.pod);
    const before = told.get(view.pod);
    if (before === undefined || hasLost(before, view)) came.push({ ...view, atMs });
    else {
      const change = changeOf(before, view, atMs);
      if (change !== undefined) changed.push(change);
    }
  }
  const gone = [...told.keys()].filter((pod) => !names.has(pod));
  if (came.length + changed.length + gone.length === 0) return undefined;
  return { type: 'Members', came, changed, gone };
}

/** One message is parsed at a time by a page, which shall not stand still for it. */
const MEMBERS_PER_MESSAGE = 500;

/** All members, for a page that knows none. */
export function membersMessages(members: readonly RunMember[]): readonly MembersMessage[] {
  return Array.from({ length: Math.ceil(members.length / MEMBERS_PER_MESSAGE) }, (_, i) => ({
    type: 'Members',
    came: members.slice(i * MEMBERS_PER_MESSAGE, (i + 1) * MEMBERS_PER_MESSAGE),
    changed: [],
    gone: [],
  }));
}

function changeOf(before: RunMember, view: MemberView, atMs: number): MemberChange | undefined {
  let change: MemberChange | undefined;
  for (const field of FIELDS) {
    if (isSameValue(before[field], view[field])) continue;
    change = { pod: view.pod, ...change, [field]: view[field] };
  }
  if (isSameProgress(before, view, atMs)) return change;
  return { pod: view.pod, ...change, progress: view.progress, atMs };
}

/** All but the progress; the type finds one that is missing. */
const FIELDS = Object.keys({
  replicatedJob: 1,
  job: 1,
  index: 1,
  pod: 1,
  node: 1,
  isNodeLost: 1,
  phase: 1,
  heldBy: 1,
  epoch: 1,
  channel: 1,
  lastCause: 1,
  label: 1,
  isKept: 1,
  ranks: 1,
} satisfies Record<keyof Omit<MemberView, 'progress'>, 1>) as (keyof Omit<
  MemberView,
  'progress'
>)[];

/** JSON cannot say that a field is gone, so such a member is sent whole. */
function hasLost(before: RunMember, view: MemberView): boolean {
  return FIELDS.some((field) => before[field] !== undefined && view[field] === undefined);
}

function isSameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  const areObjects = typeof a === 'object' && typeof b === 'object';
  return areObjects && JSON.stringify(a) === JSON.stringify(b);
}

function isSameProgress(before: RunMember, { progress: now }: MemberView, atMs: number): boolean {
  const { progress: old } = before;
  if (old === null || now === null) return old === now;
  const passedMs = atMs - before.atMs;
  return (
    old.step === now.step &&
    old.checkpoint === now.checkpoint &&
    old.phase === now.phase &&
    old.standby === now.standby &&
    isSameValue(old.standbyDeaths, now.standbyDeaths) &&
    old.ranks === now.ranks &&
    isSameLag(old.lag ?? [], now.lag ?? [], passedMs) &&
    old.rest?.step === now.rest?.step &&
    hasGrown(old.rest?.silentMs, now.rest?.silentMs, passedMs) &&
    rateShown(old) === rateShown(now) &&
    hasGrown(old.silentMs, now.silentMs, passedMs) &&
    hasGrown(old.firstStepMs, now.firstStepMs, passedMs) &&
    hasGrown(old.checkpointMs, now.checkpointMs, passedMs)
  );
}

function isSameLag(old: readonly RankLag[], now: readonly RankLag[], passedMs: number): boolean {
  return (
    old.length === now.length &&
    old.every(({ silentMs, ...rank }, i) => {
      const { silentMs: nowMs, ...same } = now[i] ?? { silentMs: 0 };
      return isSameValue(rank, same) && hasGrown(silentMs, nowMs, passedMs);
    })
  );
}

function rateShown({ stepsPerSecond }: ProgressView): string {
  return stepsPerSecond?.toPrecision(3) ?? '';
}

/** By the time that has passed. */
function hasGrown(old: number | undefined, now: number | undefined, passedMs: number): boolean {
  if (old === undefined || now === undefined) return old === now;
  return Math.abs(old + passedMs - now) <= CHANCE_MS;
}
