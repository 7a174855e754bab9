/** Where each second of a JobSet went, in the order in which it passed, for readers of its status. */
import type { JobSet } from '../jobset.ts';
import { ACCOUNTED } from '../jobset-status.ts';
import type { GroupProgress } from '../progress/group-progress.ts';
import { type GoodputClass, sumsOf } from './classes.ts';
import { filled, hasGap, partsBetween } from './course.ts';
import { reckonAt } from './goodput-at.ts';
import { isEndPending, stretchesOf } from './stretches.ts';

/** A stretch of time of one class. */
export interface TimelineSegment {
  /** Unix milliseconds, by the clock of the operator. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly class: GoodputClass;
  /**
   * The epoch that ran, or for which its members gathered. Null: it is unknown, or the JobSet has no
   * epochs.
   */
  readonly epoch: number | null;
  /** Its length is known, but its place is not: it is among neighbours that are summaries too. */
  readonly isSummary?: true;
}

/**
 * Contiguous segments in order, from the creation to `nowMs`, or to the end of a JobSet that is over.
 * By class, they add up to what `goodputAt` says of the same moment. Empty if the operator does not
 * account for the time.
 */
export function timelineOf(
  jobSet: JobSet,
  nowMs: number,
  reported?: GroupProgress,
): readonly TimelineSegment[] {
  const reckoning = reckonAt(jobSet, nowMs, reported);
  const stored = jobSet.status?.goodput;
  if (reckoning === undefined || stored === undefined) return [];
  const { createdMs, goodput, now } = reckoning;
  const { known, rest } = stretchesOf(jobSet, stored);
  const line = new Line(createdMs);
  const { held, pendingMs } = goodput;
  const isPlaced = held !== undefined && known.some(({ course }) => hasGap(course, held));
  const gaps = new Gaps({ ...rest, Pending: isPlaced ? 0 : (held?.ms ?? 0) });
  for (const { epoch, course } of known) {
    const untilMs = createdMs + course.fromMs;
    for (const part of gaps.next(untilMs - line.endMs)) line.add(part, null, { isSummary: true });
    const parts = held === undefined ? course.parts : filled(course, held, 'Pending');
    for (const part of parts) line.add(part, epoch);
  }
  const current = known.at(-1)?.epoch ?? null;
  for (const part of partsBetween(sumsOf(stored), sumsOf(goodput))) line.add(part, current);
  line.add({ class: 'Pending', ms: pendingMs ?? 0 }, current);
  line.add(now, current !== null && isEndPending(goodput) ? current + 1 : current);
  return line.segments;
}

interface Part {
  readonly class: GoodputClass;
  readonly ms: number;
}

class Line {
  readonly #segments: TimelineSegment[] = [];
  endMs: number;

  constructor(createdMs: number) {
    this.endMs = createdMs;
  }

  get segments(): readonly TimelineSegment[] {
    return this.#segments;
  }

  /** A class that continues is one segment. */
  add(part: Part, epoch: number | null, more: Pick<TimelineSegment, 'isSummary'> = {}): void {
    if (part.ms === 0) return;
    const last = this.#segments.at(-1);
    const goesOn =
      last?.class === part.class && last.epoch === epoch && last.isSummary === more.isSummary;
    const fromMs = goesOn ? last.fromMs : this.endMs;
    if (goesOn) this.#segments.pop();
    this.endMs += part.ms;
    this.#segments.push({ fromMs, toMs: this.endMs, class: part.class, epoch, ...more });
  }
}

/** Divides time whose order is unknown among the gaps in which it passed. */
class Gaps {
  readonly #left: Record<GoodputClass, number>;

  constructor(sums: Readonly<Record<GoodputClass, number>>) {
    this.#left = { ...sums };
  }

  next(lengthMs: number): readonly Part[] {
    let restMs = lengthMs;
    return ([...ACCOUNTED, 'Pending'] as const).map((name) => {
      const leftMs = this.#left[name];
      const ms = Math.min(leftMs, restMs);
      this.#left[name] = leftMs - ms;
      restMs -= ms;
      return { class: name, ms };
    });
  }
}
