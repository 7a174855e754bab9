/** What a restart cost. */
import type { ReportedRestart } from '../../../../jobset/epoch/restart-request.ts';
import type { GoodputClass } from '../../../../jobset/goodput/classes.ts';
import type { TimelineSegment } from '../../../../jobset/goodput/timeline.ts';

export interface CostPart {
  readonly class: GoodputClass;
  readonly ms: number;
}

export interface Cost {
  readonly parts: readonly CostPart[];
  readonly totalMs: number;
  /** Work that was lost may have to be added: the order of that time is not known. */
  readonly isPartial: boolean;
}

/** Work since the checkpoint and silence were in the epoch that ended, the rest in the next one. */
const OF_ENDED: readonly GoodputClass[] = ['Lost', 'Hung'];
const OF_NEXT: readonly GoodputClass[] = ['Restarting', 'Starting'];

export function costOf(
  { epoch, phases }: ReportedRestart,
  segments: readonly TimelineSegment[],
): Cost {
  const known = segments.filter(
    ({ isSummary, epoch: of }) =>
      isSummary !== true && of !== null && of >= epoch && of <= epoch + 1,
  );
  const sum = (name: GoodputClass, of: number): CostPart => {
    const own = known.filter((segment) => segment.class === name && segment.epoch === of);
    return { class: name, ms: own.reduce((ms, { fromMs, toMs }) => ms + toMs - fromMs, 0) };
  };
  const parts = [
    ...OF_ENDED.map((name) => sum(name, epoch)),
    ...OF_NEXT.map((name) => sum(name, epoch + 1)),
  ].filter(({ ms }) => ms > 0);
  const isPartial = !known.some((segment) => segment.epoch === epoch);
  if (!parts.some((part) => part.class === 'Restarting') && phases?.announceMs !== undefined) {
    const ms = phases.announceMs + (phases.releaseMs ?? 0);
    parts.push({ class: 'Restarting', ms });
  }
  return { parts, totalMs: parts.reduce((total, { ms }) => total + ms, 0), isPartial };
}
