/**
 * Puts each millisecond of a JobSet into one class (`docs/design/goodput.md`). Times are wall times
 * of leaders that change: no stretch of time is negative, and the stamp never moves back, so the
 * sums always add up to the time from the creation to the stamp.
 */
import { defined } from '@lockstep/kube/json/defined.ts';
import { microTimeText } from '@lockstep/kube/time.ts';
import type { Goodput, GoodputPhase } from '../jobset-status.ts';
import type { GroupProgress } from '../progress/group-progress.ts';
import { type GoodputSum, sumsOf } from './classes.ts';
import { courseFrom } from './course.ts';
import { courseOf } from './stretches.ts';

/** What is known at a moment. */
export interface Moment {
  readonly nowMs: number;
  /** What the JobSet does from now on. */
  readonly next: GoodputPhase;
  /** Agents report its work. Otherwise all time of the phase `Running` is `runningMs`. */
  readonly isGroup: boolean;
  /** The current epoch ends now. */
  readonly isEnd: boolean;
  readonly isSuccess: boolean;
  /** What members have reported since the newest release. */
  readonly told: GroupProgress;
  /** Agents are connected, so silence means that no step was made. */
  readonly isHeard: boolean;
  /** Workers of the ended epoch may have saved their work when they were told to end. */
  readonly maySave?: boolean;
  /** The silence of the worker whose hang ended the epoch. */
  readonly hungMs?: number | undefined;
}

const SUM_OF = {
  Waiting: 'waitingMs',
  Suspended: 'suspendedMs',
  Running: 'runningMs',
  Restarting: 'restartingMs',
} as const satisfies Partial<Record<GoodputPhase, GoodputSum>>;

/** Returns `before` itself if nothing can be accounted for yet. */
export function account(before: Goodput, moment: Moment): Goodput {
  const { phase, pendingMs } = before;
  const { next, isGroup } = moment;
  if (phase === 'Finished') return before;
  const sinceMs = Date.parse(before.time);
  const nowMs = Math.max(sinceMs, Math.trunc(moment.nowMs));
  if (pendingMs !== undefined) {
    if (!decidesPending(before, moment)) return before;
    const { pendingMs: _, ...rest } = before;
    const span = { fromMs: sinceMs - pendingMs, toMs: sinceMs };
    const decided = decide(rest, span, { ...moment, isSuccess: false });
    return moved(plus(decided, SUM_OF[phase], nowMs - sinceMs), nowMs, next);
  }
  if (phase !== 'Running' || !isGroup) {
    return moved(plus(before, SUM_OF[phase], nowMs - sinceMs), nowMs, next);
  }
  const span = { fromMs: sinceMs, toMs: nowMs };
  if (next === 'Running') {
    const { goodput, fromMs } = known(before, span, moment);
    return fromMs === sinceMs ? goodput : { ...goodput, time: microTimeText(fromMs) };
  }
  const { goodput, fromMs } = known(before, span, moment);
  const { stepped } = goodput;
  // Workers that are suspended may save their work when they are told to end, if they did any.
  const maySave = next === 'Suspended' && stepped === true;
  if (next !== 'Restarting' && !maySave) return moved(decide(before, span, moment), nowMs, next);
  const ended = moved(goodput, nowMs, next);
  return fromMs === nowMs
    ? ended
    : { ...ended, ...defined({ stepped }), pendingMs: nowMs - fromMs };
}

/**
 * Members report on an ended epoch before the next is released, and on a suspended one when their
 * workers have ended. No stamp comes between.
 */
export function decidesPending({ phase, pendingMs }: Goodput, { next, isEnd }: Moment): boolean {
  return pendingMs !== undefined && (next !== phase || isEnd);
}

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Puts time of a certain class into that class. The rest of the span begins at `fromMs`. */
function known(
  before: Goodput,
  { fromMs, toMs }: Span,
  { nowMs, told }: Moment,
): { readonly goodput: Goodput; readonly fromMs: number } {
  const { checkpoint, checkpointMs, firstStepMs, startMs } = told;
  const within = (ageMs: number): number =>
    Math.min(toMs, Math.max(fromMs, Math.trunc(nowMs) - ageMs));
  let goodput = before;
  let sinceMs = fromMs;
  if (goodput.stepped === undefined && firstStepMs !== undefined) {
    // The span begins with the release, as long as its first step is not accounted for.
    sinceMs = startMs === undefined ? within(firstStepMs) : Math.min(toMs, fromMs + startMs);
    goodput = { ...plus(goodput, 'startingMs', sinceMs - fromMs), stepped: true };
  }
  // A worker that was restored reports its old checkpoint again.
  const isNew = checkpoint !== undefined && checkpoint > (before.checkpoint ?? -1);
  // Before workers that report steps make their first, a checkpoint has work of an earlier epoch.
  const isEarly = goodput.stepped === undefined && goodput.startingMs !== undefined;
  if (!isNew || isEarly || checkpointMs === undefined) return { goodput, fromMs: sinceMs };
  const savedMs = within(checkpointMs);
  if (savedMs > sinceMs) {
    goodput = { ...plus(goodput, 'productiveMs', savedMs - sinceMs), stepped: true };
    sinceMs = savedMs;
  }
  return { goodput: { ...goodput, checkpoint }, fromMs: sinceMs };
}

/** Decides about the rest of the span: nothing more will be known of it. */
function decide(before: Goodput, span: Span, moment: Moment): Goodput {
  const { goodput, fromMs } = known(before, span, moment);
  const restMs = span.toMs - fromMs;
  if (moment.isSuccess) {
    return plus(goodput, reportsWork(goodput, moment) ? 'productiveMs' : 'runningMs', restMs);
  }
  const hungMs = Math.min(restMs, moment.hungMs ?? 0);
  const sum = sumOfRest(goodput, moment);
  const ended = plus(goodput, 'hungMs', hungMs);
  const isHeld = sum === 'lostMs' && moment.maySave === true;
  return (
    (isHeld ? held(before, ended, restMs - hungMs) : undefined) ?? plus(ended, sum, restMs - hungMs)
  );
}

/** The account with time held for a later decision; undefined if the course has no place. */
function held(before: Goodput, goodput: Goodput, ms: number): Goodput | undefined {
  const { fromMs } = courseFrom(sumsOf(goodput), undefined);
  const isPlaced = fromMs > courseOf(before).fromMs;
  return ms > 0 && goodput.held === undefined && isPlaced
    ? { ...goodput, held: { fromMs, ms } }
    : undefined;
}

function sumOfRest(goodput: Goodput, moment: Moment): GoodputSum {
  if (goodput.stepped === undefined) {
    return moment.isHeard && reportsWork(goodput, moment) ? 'startingMs' : 'runningMs';
  }
  return goodput.checkpoint === undefined ? 'runningMs' : 'lostMs';
}

/** Whether workers of this JobSet report what they do. */
function reportsWork({ stepped, startingMs, checkpoint }: Goodput, { told }: Moment): boolean {
  return (
    told.isReporting === true ||
    stepped !== undefined ||
    startingMs !== undefined ||
    checkpoint !== undefined
  );
}

function moved(before: Goodput, nowMs: number, phase: GoodputPhase): Goodput {
  const { stepped: _, ...goodput } = before;
  return { ...goodput, time: microTimeText(nowMs), phase };
}

export function plus(goodput: Goodput, sum: GoodputSum, ms: number): Goodput {
  return ms === 0 ? goodput : { ...goodput, [sum]: (goodput[sum] ?? 0) + ms };
}
