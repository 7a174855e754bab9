/** Combines a supervisor's knowledge of the end of its worker. */

import { defined } from '@lockstep/kube/json/defined.ts';
import { type Exit, exitCodeIn } from '../../jobset/worker-end/worker-end.ts';
import type { MemberProgress } from '../progress/member-progress.ts';
import type { OwnEnd } from '../worker-exit.ts';
import type { LaunchedRanks, RankSigns } from './launched-ranks.ts';

/** A step counts from the look that found it, which may be this late. */
const STEP_LAG_MS = 1000;

/**
 * How long before its end a worker failed, by its first traceback. If the worker made a step after
 * it, it survives exceptions, so its tracebacks prove nothing. A traceback after an order to stop, or
 * before the first step, proves nothing either.
 */
export function failedMsOf(
  tracebackMs: number | undefined,
  times: {
    readonly steppedMs: number | undefined;
    readonly toldMs: number;
    readonly endMs: number;
  },
): number | undefined {
  const { steppedMs, toldMs, endMs } = times;
  if (tracebackMs === undefined || steppedMs === undefined || tracebackMs > toldMs)
    return undefined;
  if (tracebackMs < steppedMs - STEP_LAG_MS) return undefined;
  // The end of a process may be seen before the last of its output.
  return Math.max(0, endMs - tracebackMs);
}

/**
 * The earliest time at which a process that runs may have raised the exception that ends it. Unlike
 * for `failedMsOf`, a traceback before the first step counts: it only makes us less sure of others.
 */
export function mayHaveRaisedMs(
  tracebackMs: number | 'Unread' | undefined,
  steppedMs: number | undefined,
): number {
  if (tracebackMs === 'Unread') return Number.NEGATIVE_INFINITY;
  if (tracebackMs === undefined) return Number.POSITIVE_INFINITY;
  const isCaught = steppedMs !== undefined && tracebackMs < steppedMs - STEP_LAG_MS;
  return isCaught ? Number.POSITIVE_INFINITY : tracebackMs;
}

/** A launcher that exits with 0 has lost no rank. Memory that ran out names the member, not a rank. */
export function rankSignsAt(
  exit: Exit,
  hadOom: boolean,
  ranks: LaunchedRanks | undefined,
): RankSigns {
  if (ranks === undefined || exitCodeIn(exit) === 0) return {};
  const { local, rank, text, ...signs } = ranks.signs();
  if (hadOom) return signs.failedAtMs === undefined ? {} : { ...signs, firstRank: 'Open' };
  return { ...signs, ...defined({ local, rank, text }) };
}

/** How the supervisor ended a worker; undefined: the worker ended by itself. */
export type Told = 'Stopped' | 'Killed' | 'Hung' | undefined;

/** The reports of a worker, or of one of its processes, as they were at the end. */
type Reports = {
  readonly [K in 'progress' | 'longestMs' | 'reporters']?: MemberProgress[K];
};

/** `known` has what was seen of it. */
export function endOf(
  exit: Exit,
  told: Told,
  known: Omit<OwnEnd, 'how' | 'exit'>,
  watch: Reports,
): OwnEnd {
  const { epoch, atMs, oom, where, failedMs, saidMs, lastWords, ...seen } = known;
  const { progress, longestMs } = watch;
  return {
    epoch,
    how: told ?? ('signal' in exit ? 'Signaled' : 'Exited'),
    exit,
    atMs,
    ...defined({
      oom,
      silentMs: whole(progress?.silentMs),
      longestMs: whole(longestMs),
      step: progress?.step,
      inPhase: isInPhase(watch) || undefined,
      // Looks while it ran do not show its state when it ended by itself.
      ...seen,
      ...(told === undefined ? { states: undefined, stoppedMs: undefined } : { where }),
      failedMs: whole(failedMs),
      saidMs: lastWords === undefined ? undefined : whole(saidMs),
      lastWords,
    }),
  };
}

function isInPhase({ reporters = [] }: Reports): boolean {
  return reporters.some(({ watch: { allowedSilence, silentMs } }) =>
    allowedSilence === undefined
      ? false
      : allowedSilence === 'Unlimited' || silentMs <= allowedSilence,
  );
}

function whole(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms);
}
