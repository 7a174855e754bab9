/** What the timeline draws: bars for stretches of time, marks for restarts, and their sums. */
import type { GoodputClass } from '../../../../jobset/goodput/classes.ts';
import type { TimelineSegment } from '../../../../jobset/goodput/timeline.ts';
import { type Span, shareOf } from './window.ts';

export interface Bar {
  readonly segment: TimelineSegment;
  readonly xPx: number;
  readonly widthPx: number;
}

/** Narrower bars would not be seen. */
const LEAST_BAR_PX = 1;

/** The last stretch continues until `nowMs`. */
export function grownTo(
  segments: readonly TimelineSegment[],
  nowMs: number,
): readonly TimelineSegment[] {
  const last = segments.at(-1);
  if (last === undefined || last.toMs >= nowMs) return segments;
  // What is known only as a sum has ended.
  if (last.isSummary === true) {
    const { toMs: fromMs, epoch } = last;
    return [...segments, { fromMs, toMs: nowMs, class: last.class, epoch }];
  }
  return [...segments.slice(0, -1), { ...last, toMs: nowMs }];
}

/** Where the life of a JobSet ends for a reader: now, unless it is over or was deleted. */
export function lifeOf(
  createdMs: number,
  segments: readonly TimelineSegment[],
  nowMs: number,
): Span {
  const fromMs = segments[0]?.fromMs ?? createdMs;
  return { fromMs, toMs: Math.max(fromMs, segments.at(-1)?.toMs ?? nowMs) };
}

/** The bars that lie in the span; short ones are drawn last, over their neighbours. */
export function barsOf(
  segments: readonly TimelineSegment[],
  span: Span,
  widthPx: number,
): readonly Bar[] {
  return segments
    .filter(({ fromMs, toMs }) => toMs > span.fromMs && fromMs < span.toMs)
    .map((segment) => {
      const from = Math.max(0, shareOf(span, segment.fromMs)) * widthPx;
      const to = Math.min(1, shareOf(span, segment.toMs)) * widthPx;
      const width = Math.max(LEAST_BAR_PX, to - from);
      return { segment, xPx: Math.min(from, widthPx - width), widthPx: width };
    })
    .toSorted((a, b) => b.widthPx - a.widthPx);
}

/** Milliseconds of each class within the span. */
export function sumsWithin(
  segments: readonly TimelineSegment[],
  span: Span,
): ReadonlyMap<GoodputClass, number> {
  const sums = new Map<GoodputClass, number>();
  for (const { fromMs, toMs, class: name } of segments) {
    const ms = Math.min(toMs, span.toMs) - Math.max(fromMs, span.fromMs);
    if (ms > 0) sums.set(name, (sums.get(name) ?? 0) + ms);
  }
  return sums;
}

/** One or more restarts that are drawn as one mark, because they lie too close together. */
export interface Mark<Restart> {
  readonly xPx: number;
  /** The oldest first; never empty. */
  readonly restarts: readonly Restart[];
  readonly span: Span;
}

/** Marks are as wide as a finger needs them. */
export const MARK_PX = 24;

/** `restarts` in the order of time. */
export function marksOf<Restart extends { readonly atMs: number }>(
  restarts: readonly Restart[],
  span: Span,
  widthPx: number,
): readonly Mark<Restart>[] {
  const marks: Mark<Restart>[] = [];
  for (const restart of restarts) {
    const share = shareOf(span, restart.atMs);
    if (share < 0 || share > 1) continue;
    const last = marks.at(-1);
    const own = { xPx: share * widthPx, restarts: [restart], span: spanAt(restart.atMs) };
    if (last === undefined || own.xPx - last.xPx >= MARK_PX) marks.push(own);
    else {
      const joined = [...last.restarts, restart];
      const middle = { fromMs: last.span.fromMs, toMs: restart.atMs };
      const xPx = shareOf(span, (middle.fromMs + middle.toMs) / 2) * widthPx;
      // The mark of its neighbour on the left keeps its distance.
      const left = marks.at(-2)?.xPx ?? Number.NEGATIVE_INFINITY;
      marks[marks.length - 1] = {
        xPx: Math.max(xPx, left + MARK_PX),
        restarts: joined,
        span: middle,
      };
    }
  }
  return marks;
}

function spanAt(atMs: number): Span {
  return { fromMs: atMs, toMs: atMs };
}
