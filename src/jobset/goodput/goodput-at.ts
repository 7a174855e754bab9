/** What became of the time of a JobSet until now, for readers of its status. */

import { defined } from '@lockstep/kube/json/defined.ts';
import { withDefaults } from '../defaults.ts';
import type { JobSet } from '../jobset.ts';
import type { Goodput, GoodputPhase } from '../jobset-status.ts';
import { restartsInPlace } from '../policies/restart-strategy.ts';
import type { GroupProgress } from '../progress/group-progress.ts';
import { account } from './account.ts';
import { type GoodputClass, sumsOf } from './classes.ts';
import { isSoundGoodput } from './sound.ts';

export interface GoodputAt extends GoodputShare {
  /** Milliseconds from the creation to `nowMs`, or to the end of the JobSet: the sum of all classes. */
  readonly elapsedMs: number;
  readonly classes: Readonly<Record<GoodputClass, number>>;
  /** The highest checkpoint that is accounted for; absent: none is. */
  readonly checkpoint?: number;
}

/**
 * The goodput in one number, from the status alone, so that every reader shows the same.
 */
export interface GoodputShare {
  /**
   * 0 to 1: how much of the time under way was saved, as far as status writes have judged it. It
   * leaves out `Waiting` and `Suspended`, in which nothing can be saved, and `Running`, for which no
   * checkpoint was reported. Null: it is unknown.
   */
  readonly share: number | null;
  /** Why `share` is null, in words; null: it is known. */
  readonly unknown: string | null;
  readonly savedMs: number;
  /** The time under way that is judged: `share` is `savedMs` of it. */
  readonly judgedMs: number;
  /**
   * The end of the judged time in Unix milliseconds, while an epoch runs or its work is pending over
   * a suspend. Null: it is now, or the end of the JobSet.
   */
  readonly judgedUntilMs: number | null;
}

/** The accounted time, and the time after it. */
export interface Reckoning {
  readonly createdMs: number;
  /** `status.goodput` with what became known since it was written. */
  readonly goodput: Goodput;
  /** What the JobSet has been doing since the stamp of `goodput`. */
  readonly now: { readonly class: GoodputClass; readonly ms: number };
}

/**
 * Undefined if the operator does not account for the time of this JobSet. Without `reported`, what
 * members have reported since the newest release, work since the last write is known only as `Running`.
 */
export function goodputAt(
  jobSet: JobSet,
  nowMs: number,
  reported?: GroupProgress,
): GoodputAt | undefined {
  const reckoning = reckonAt(jobSet, nowMs, reported);
  if (reckoning === undefined) return undefined;
  const { createdMs, goodput, now } = reckoning;
  const classes = { ...sumsOf(goodput), Pending: pendingIn(goodput) };
  classes[now.class] += now.ms;
  const elapsedMs = Date.parse(goodput.time) - createdMs + now.ms;
  const share = shareOf(jobSet, jobSet.status?.goodput ?? goodput, nowMs);
  return { elapsedMs, classes, ...share, ...defined({ checkpoint: goodput.checkpoint }) };
}

/** Undefined if `goodputAt` is undefined. */
export function goodputShare(jobSet: JobSet, nowMs: number): GoodputShare | undefined {
  const { goodput } = jobSet.status ?? {};
  return goodput === undefined || !isSoundGoodput(goodput)
    ? undefined
    : shareOf(jobSet, goodput, nowMs);
}

function pendingIn({ pendingMs = 0, held }: Goodput): number {
  return pendingMs + (held?.ms ?? 0);
}

export const NOT_ACCOUNTED = 'its time is not accounted for';

function shareOf(jobSet: JobSet, goodput: Goodput, nowMs: number): GoodputShare {
  const { Productive: savedMs, Starting, Lost, Hung, Restarting, Running } = sumsOf(goodput);
  const { checkpoint, pendingMs = 0, time, phase } = goodput;
  const stampMs = Date.parse(time);
  const sinceMs = phase === 'Restarting' ? Math.max(0, Math.trunc(nowMs) - stampMs) : 0;
  const judgedMs = savedMs + Starting + Lost + Hung + Restarting + sinceMs;
  const isKnown = (checkpoint !== undefined || savedMs > 0) && judgedMs > 0;
  const hasEnded =
    Lost + Hung + Restarting + Running + pendingIn(goodput) > 0 || phase === 'Finished';
  return {
    share: isKnown ? savedMs / judgedMs : null,
    unknown: isKnown ? null : whyUnknown(jobSet, goodput, hasEnded),
    savedMs,
    judgedMs,
    judgedUntilMs:
      phase === 'Running' || (phase === 'Suspended' && pendingMs > 0) ? stampMs - pendingMs : null,
  };
}

function whyUnknown(jobSet: JobSet, { phase, pendingMs = 0 }: Goodput, hasEnded: boolean): string {
  if (!isGroup(jobSet)) return 'without restart in place, nobody reports checkpoints';
  if (!hasEnded) return 'it is judged when its first epoch ends';
  if (phase === 'Running') return 'no epoch that has ended reported a checkpoint';
  if (phase === 'Suspended' && pendingMs > 0) return 'it is judged when the JobSet is resumed';
  return 'no checkpoint was reported';
}

function isGroup({ metadata, spec }: JobSet): boolean {
  return restartsInPlace(withDefaults(spec), metadata.annotations);
}

/** The account that `goodputAt` sums up. */
export function reckonAt(
  jobSet: JobSet,
  nowMs: number,
  reported: GroupProgress | undefined,
): Reckoning | undefined {
  const { metadata, status } = jobSet;
  if (status?.goodput === undefined || !isSoundGoodput(status.goodput)) return undefined;
  const { phase } = status.goodput;
  const goodput = account(status.goodput, {
    nowMs,
    next: phase,
    isGroup: isGroup(jobSet),
    isEnd: false,
    isSuccess: false,
    told: reported ?? {},
    isHeard: reported !== undefined,
  });
  const sinceMs = Math.max(0, Math.trunc(nowMs) - Date.parse(goodput.time));
  return {
    createdMs: Date.parse(metadata.creationTimestamp ?? goodput.time),
    goodput,
    now: {
      class: phase === 'Running' ? classOfWork(goodput, reported) : PHASE_CLASS[phase],
      ms: phase === 'Finished' ? 0 : sinceMs,
    },
  };
}

const PHASE_CLASS = {
  Waiting: 'Waiting',
  Suspended: 'Suspended',
  Restarting: 'Restarting',
  // A finished JobSet has no more time to account for.
  Finished: 'Running',
} as const satisfies Record<Exclude<GoodputPhase, 'Running'>, GoodputClass>;

function classOfWork(
  { stepped, checkpoint, startingMs }: Goodput,
  reported: GroupProgress | undefined,
): GoodputClass {
  if (stepped === true) return checkpoint === undefined ? 'Running' : 'Pending';
  const doesReport = startingMs !== undefined || checkpoint !== undefined;
  const isTold = reported !== undefined && (doesReport || Object.keys(reported).length > 0);
  return isTold ? 'Starting' : 'Running';
}
