/** What became of the time of a JobSet until now, for readers of its status. */
import { withDefaults } from '../defaults.ts';
import type { Goodput, JobSet } from '../jobset.ts';
import { restartsInPlace } from '../policies/restart-strategy.ts';
import type { GroupProgress } from '../progress/group-progress.ts';
import { account } from './account.ts';
import { type GoodputClass, sumsOf } from './classes.ts';

export interface GoodputAt {
  /** Milliseconds from the creation to `nowMs`, or to the end of the JobSet: the sum of all classes. */
  readonly elapsedMs: number;
  readonly classes: Readonly<Record<GoodputClass, number>>;
}

/**
 * Undefined if the operator does not account for the time of this JobSet. Without `reported`, what
 * members have told since the newest release, work since the last write is known only as `Running`.
 */
export function goodputAt(
  { metadata, spec, status }: JobSet,
  nowMs: number,
  reported?: GroupProgress,
): GoodputAt | undefined {
  if (status?.goodput === undefined) return undefined;
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
  const createdMs = Date.parse(metadata.creationTimestamp ?? goodput.time);
  const accountedMs = Date.parse(goodput.time);
  const sinceMs = phase === 'Finished' ? 0 : Math.max(0, Math.trunc(nowMs) - accountedMs);
  const classes = { ...sumsOf(goodput), Pending: goodput.pendingMs ?? 0 };
  classes[phase === 'Restarting' ? phase : classOfWork(goodput, reported)] += sinceMs;
  return { elapsedMs: accountedMs - createdMs + sinceMs, classes };
}

function classOfWork(
  { stepped, checkpoint, startingMs }: Goodput,
  reported: GroupProgress | undefined,
): GoodputClass {
  if (stepped === true) return checkpoint === undefined ? 'Running' : 'Pending';
  const doesReport = startingMs !== undefined || checkpoint !== undefined;
  const isTold = reported !== undefined && (doesReport || Object.keys(reported).length > 0);
  return isTold ? 'Starting' : 'Running';
}
