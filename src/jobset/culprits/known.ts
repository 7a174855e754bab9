/** What is known of a group in which a worker failed, in the order in which rules look at it. */
import { defined } from '@lockstep/kube/json/defined.ts';
import { MAX_SUSPECTS, type Suspect } from '../jobset-status.ts';
import type { GroupEvidence, Member, MemberEnd } from '../roster/group-evidence.ts';
import { fatalEnd } from '../worker-end/end-in-words.ts';
import { hasFailedRank, isByItself, isSuccess, type WorkerEnd } from '../worker-end/worker-end.ts';

export interface Suspicion extends Pick<Suspect, 'why' | 'confidence' | 'process' | 'rank'> {
  readonly member: Member;
}

export interface EndedMember extends WorkerEnd {
  readonly member: Member;
}

export interface EvidenceInOrder {
  readonly size: number;
  /** All ends that agents have reported, in the order of time. */
  readonly ends: readonly EndedMember[];
  /** The ends that nobody but the worker or its own agent caused. */
  readonly deaths: readonly EndedMember[];
  readonly others: readonly { readonly member: Member; readonly end: MemberEnd }[];
  /** When the first worker died, or if no death is known, was stopped. */
  readonly firstMs: number | undefined;
  /** The end of each member is known, at a time that is sure. */
  readonly isTold: boolean;
  /** Each member reported its end, or is lost. */
  readonly isAccountedFor: boolean;
  readonly pace: Pace;
}

/**
 * `Unknown`: no member has done two steps, so a silence and a slow start look the same. `Pausing`:
 * the last step is older than the longest silence before, but not by much. The first worker that
 * died may have needed that long to end, or another failed before it: launchers such as torchrun
 * end seconds after the rank that they run.
 */
type Pace = 'Unknown' | 'Stepping' | 'Pausing' | 'Silent';

/** Returns no suspicion if it does not match. */
export type Rule = (known: EvidenceInOrder) => readonly Suspicion[];

/**
 * A group counts as silent this much later than its longest silence: a worker that fails takes a
 * while to end. Time-outs of collectives are longer.
 */
const SILENCE_SLACK_MS = 2000;

export function knownOf({ size, members }: GroupEvidence): EvidenceInOrder {
  const told: EndedMember[] = [];
  const others: EvidenceInOrder['others'][number][] = [];
  for (const { member, end } of members) {
    if (end.kind === 'Ended') told.push({ ...end, member });
    else others.push({ member, end });
  }
  // When the work is done, a rank of each Pod may have left; and nobody crashes because a rank did.
  const left = told.filter(({ firstRank }) => firstRank === 'Left');
  const isNoneMissed = left.length > few(size) || told.some((end) => fatalEnd(end) !== undefined);
  const ends = told.map((end) => atFirstRank(end, told, isNoneMissed));
  ends.sort((a, b) => a.atMs - b.atMs || compare(a.member, b.member));
  others.sort((a, b) => timeOf(a.end) - timeOf(b.end) || compare(a.member, b.member));
  const deaths = ends.filter(isDeath);
  // A member may have finished long before all this.
  const firstMs = (deaths[0] ?? ends.find((end) => !isSuccess(end)))?.atMs;
  const isAccountedFor = members.length >= size && members.every(({ end }) => isSure(end));
  const isTold = isAccountedFor && others.every(({ end }) => end.kind !== 'Lost');
  const pace = paceAt(firstMs, ends);
  return { size, ends, deaths, others, firstMs, isTold, isAccountedFor, pace };
}

/**
 * Below a launcher, a member failed when the first of its ranks did: launchers wait for the other
 * ranks, and for each other. If the member was ended after that, its exit says nothing.
 */
function atFirstRank(
  end: EndedMember,
  ends: readonly EndedMember[],
  isNoneMissed: boolean,
): EndedMember {
  const { failedMs, exit, ...rest } = end;
  if (failedMs === undefined || !hasFailedRank(end)) return end;
  const { atMs, silentMs, stoppedMs } = end;
  const isLeft = end.firstRank === 'Left';
  if ((isLeft && isNoneMissed) || isSteppedOn(ends, atMs - failedMs)) {
    const { firstRank: _, local, rank, ...whole } = rest;
    // The end of the member is not about the rank that left.
    return { ...whole, ...defined({ exit }), ...(isLeft ? {} : defined({ local, rank })) };
  }
  const isOwn = isByItself(end);
  return {
    ...rest,
    how: isOwn ? end.how : 'Exited',
    atMs: atMs - failedMs,
    // The times of reports and stops stay as they are.
    ...(silentMs === undefined ? {} : { silentMs: silentMs - failedMs }),
    ...(stoppedMs === undefined ? {} : { stoppedMs: stoppedMs - failedMs }),
    ...defined({ exit: isOwn ? exit : undefined }),
  };
}

/** At most 4, and under a quarter of the group; one in a group of four or less. */
export function few(size: number): number {
  return Math.min(MAX_SUSPECTS, Math.max(1, Math.floor((size - 1) / 4)));
}

function isSure(end: MemberEnd): boolean {
  return end.kind === 'Ended' ? end.isOverApi !== true : end.kind !== 'Returned';
}

function timeOf(end: MemberEnd): number {
  return end.kind === 'Lost' ? end.seenMs : end.atMs;
}

function compare(a: Member, b: Member): number {
  return (
    order(a.replicatedJob, b.replicatedJob) ||
    a.jobIndex - b.jobIndex ||
    (a.completionIndex ?? 0) - (b.completionIndex ?? 0) ||
    order(a.pod, b.pod) ||
    order(a.podUid, b.podUid)
  );
}

function order(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

function isDeath(end: WorkerEnd): boolean {
  return end.how === 'Hung' || (isByItself(end) && !isSuccess(end));
}

/** The newest report of the group, and the shortest of its members' longest silences. */
function reportsOf(ends: readonly EndedMember[]): {
  readonly newestMs: number;
  readonly longestMs: number;
} {
  let longestMs = Number.POSITIVE_INFINITY;
  let newestMs = Number.NEGATIVE_INFINITY;
  for (const end of ends) {
    longestMs = Math.min(longestMs, end.longestMs ?? longestMs);
    if (end.silentMs !== undefined) newestMs = Math.max(newestMs, end.atMs - end.silentMs);
  }
  return { newestMs, longestMs };
}

/** At `atMs`, the time since the last report of any member; infinite without reports. */
export function silentMsAt(ends: readonly EndedMember[], atMs: number): number {
  return atMs - reportsOf(ends).newestMs;
}

/** Whether the group made steps long after `sinceMs`, so it waited for no worker that ended then. */
export function isSteppedOn(ends: readonly EndedMember[], sinceMs: number): boolean {
  const { newestMs, longestMs } = reportsOf(ends);
  return newestMs - sinceMs > longestMs + SILENCE_SLACK_MS;
}

/** What the group did at a moment, such as when the first worker died. */
export function paceAt(firstMs: number | undefined, ends: readonly EndedMember[]): Pace {
  const { longestMs } = reportsOf(ends);
  const isInPhase = ends.some(({ inPhase }) => inPhase === true);
  if (firstMs === undefined || longestMs === Number.POSITIVE_INFINITY) return 'Unknown';
  const silentMs = silentMsAt(ends, firstMs);
  if (isInPhase || silentMs <= longestMs) return 'Stepping';
  return silentMs <= longestMs + SILENCE_SLACK_MS ? 'Pausing' : 'Silent';
}
