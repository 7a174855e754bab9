/** What happened to a JobSet, as Kubernetes tells it: conditions and Events in one list. */
import type { DatedCondition, EventView } from '../../../messages/run.ts';

export interface HistoryEntry {
  readonly key: string;
  readonly timeMs: number;
  readonly kind: 'Condition' | 'Event';
  readonly isWarning: boolean;
  /** The JobSet failed. */
  readonly isFinal: boolean;
  /** What it is called: the type of a condition, the reason of an Event. */
  readonly title: string;
  /** The Job or Pod of an Event; empty: the JobSet itself. */
  readonly about: string;
  readonly message: string;
  /** How often it happened. */
  readonly count: number;
}

/** Conditions that tell of trouble while they are True. */
const TROUBLE: readonly string[] = ['Failed', 'RestartingJobSet', 'Stalled'];

/** The newest first. */
export function historyOf(
  conditions: readonly DatedCondition[],
  events: readonly EventView[],
): readonly HistoryEntry[] {
  return [
    ...conditions.map(
      ({ type, status, reason, message, timeMs }): HistoryEntry => ({
        key: `condition ${type}`,
        timeMs,
        kind: 'Condition',
        isWarning: status === 'True' && TROUBLE.includes(type),
        isFinal: status === 'True' && type === 'Failed',
        title: `${type} is ${status} (${reason})`,
        about: '',
        message,
        count: 1,
      }),
    ),
    ...events.map(
      ({ uid, type, reason, ...event }): HistoryEntry => ({
        ...event,
        key: uid,
        kind: 'Event',
        isWarning: type !== 'Normal',
        isFinal: false,
        title: reason,
      }),
    ),
  ].toSorted((a, b) => b.timeMs - a.timeMs);
}

export const FILTERS = ['All', 'Warnings', 'Conditions', 'Events'] as const;
export type HistoryFilter = (typeof FILTERS)[number];

export function isShown(filter: HistoryFilter, text: string, entry: HistoryEntry): boolean {
  const { kind, isWarning, title, about, message } = entry;
  const isOfKind = filter === 'All' || (filter === 'Warnings' ? isWarning : filter === `${kind}s`);
  const sought = text.trim().toLowerCase();
  return (
    isOfKind && (sought === '' || `${title} ${about} ${message}`.toLowerCase().includes(sought))
  );
}
