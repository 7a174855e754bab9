/** Where each second of a JobSet went, in the order in which it passed, for readers of its status. */
import type { JobSet } from '../jobset.ts';
import type { GroupProgress } from '../progress/group-progress.ts';
import { ACCOUNTED, type GoodputClass, sumsOf } from './classes.ts';
import { reckonAt } from './goodput-at.ts';

/** A stretch of time of one class. */
export interface TimelineSegment {
  /** Unix milliseconds. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly class: GoodputClass;
  /** The epoch that ran, or for which the members gathered; null: it is not known, or there is none. */
  readonly epoch: number | null;
  /** Only the sum is known: the time of this class, but not where between its neighbours it was. */
  readonly isSummary?: true;
}

/**
 * Contiguous segments in order, from the creation to `nowMs`, or to the end of a JobSet that is over.
 * By class, they add up to what `goodputAt` says of the same moment. Empty where the operator does not
 * account for the time.
 */
export function timelineOf(
  jobSet: JobSet,
  nowMs: number,
  reported?: GroupProgress,
): readonly TimelineSegment[] {
  const reckoning = reckonAt(jobSet, nowMs, reported);
  if (reckoning === undefined) return [];
  const { createdMs, goodput, now } = reckoning;
  const sums = sumsOf(goodput);
  const segments: TimelineSegment[] = [];
  let atMs = createdMs;
  const add = (name: GoodputClass, ms: number, isSummary: boolean): void => {
    if (ms === 0) return;
    const span = { fromMs: atMs, toMs: atMs + ms, class: name, epoch: null };
    segments.push(isSummary ? { ...span, isSummary } : span);
    atMs += ms;
  };
  for (const name of ACCOUNTED) add(name, sums[name], true);
  add('Pending', goodput.pendingMs ?? 0, false);
  add(now.class, now.ms, false);
  return segments;
}
