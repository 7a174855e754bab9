/** What became of the time of a JobSet until now, for readers of its status. */
import { withDefaults } from '../defaults.ts';
import type { Goodput, GoodputPhase, JobSet } from '../jobset.ts';
import { restartsInPlace } from '../policies/restart-strategy.ts';
import type { GroupProgress } from '../progress/group-progress.ts';
import { account } from './account.ts';
import { type GoodputClass, sumsOf } from './classes.ts';
import { isSoundGoodput } from './sound.ts';

export interface GoodputAt {
  /** Milliseconds from the creation to `nowMs`, or to the end of the JobSet: the sum of all classes. */
  readonly elapsedMs: number;
  readonly classes: Readonly<Record<GoodputClass, number>>;
  /**
   * The goodput, 0 to 1: how much of the time under way was not thrown away. It leaves out time in
   * which nothing could be won: `Waiting`, `Suspended`, and `Running`, of which no checkpoint tells
   * what it was worth. Null: no checkpoint was ever reported, or there is no such time.
   */
  readonly share: number | null;
}

/** What is accounted for, and what comes after it. */
export interface Reckoning {
  readonly createdMs: number;
  /** `status.goodput` with what became known since it was written. */
  readonly goodput: Goodput;
  /** What the JobSet has been doing since the stamp of `goodput`. */
  readonly now: { readonly class: GoodputClass; readonly ms: number };
}

/**
 * Undefined if the operator does not account for the time of this JobSet. Without `reported`, what
 * members have told since the newest release, work since the last write is known only as `Running`.
 */
export function goodputAt(
  jobSet: JobSet,
  nowMs: number,
  reported?: GroupProgress,
): GoodputAt | undefined {
  const reckoning = reckonAt(jobSet, nowMs, reported);
  if (reckoning === undefined) return undefined;
  const { createdMs, goodput, now } = reckoning;
  const classes = { ...sumsOf(goodput), Pending: goodput.pendingMs ?? 0 };
  classes[now.class] += now.ms;
  const elapsedMs = Date.parse(goodput.time) - createdMs + now.ms;
  return { elapsedMs, classes, share: shareOf(classes, goodput.checkpoint !== undefined) };
}

/** Work that no checkpoint has saved yet counts as good until it is lost: most of it will be saved. */
function shareOf(classes: GoodputAt['classes'], hasCheckpoint: boolean): number | null {
  const { Productive, Pending, Starting, Lost, Hung, Restarting } = classes;
  const goodMs = Productive + Pending;
  const judgedMs = goodMs + Starting + Lost + Hung + Restarting;
  const canJudge = hasCheckpoint ? judgedMs > 0 : goodMs > 0;
  return canJudge ? goodMs / judgedMs : null;
}

/** What `goodputAt` sums up. */
export function reckonAt(
  { metadata, spec, status }: JobSet,
  nowMs: number,
  reported: GroupProgress | undefined,
): Reckoning | undefined {
  if (status?.goodput === undefined || !isSoundGoodput(status.goodput)) return undefined;
  const { phase } = status.goodput;
  const goodput = account(status.goodput, {
    nowMs,
    next: phase,
    isGroup: restartsInPlace(withDefaults(spec), metadata.annotations),
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
  // No time passes in it.
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
