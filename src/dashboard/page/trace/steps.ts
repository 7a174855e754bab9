/** Which event of a trace comes next, and how events are named. */
import { EVENT_KINDS, type TraceEvent } from '../../messages/trace.ts';

type Kind = TraceEvent['kind'];

/** Between which events one steps. */
export const CHOICES = ['All', 'NoMessages', 'Faults'] as const;
export type Choice = (typeof CHOICES)[number];

export const CHOICE_WORDS: Readonly<Record<Choice, string>> = {
  All: 'all events',
  NoMessages: 'all but messages',
  Faults: 'faults and violations',
};

const MESSAGES: readonly Kind[] = ['Announces', 'Announced', 'Hears'];
const FAULTS: readonly Kind[] = ['Act', 'Peace', 'Violated'];

const CHOSEN: Readonly<Record<Choice, readonly Kind[]>> = {
  All: EVENT_KINDS,
  NoMessages: EVENT_KINDS.filter((kind) => !MESSAGES.includes(kind)),
  Faults: FAULTS,
};

export const KIND_WORDS: Readonly<Record<Kind, string>> = {
  Act: 'fault',
  Peace: 'peace',
  WorkerStarts: 'worker',
  WorkerEnds: 'worker',
  PodEnds: 'Pod',
  Status: 'status',
  Announces: 'message',
  Announced: 'message',
  Hears: 'message',
  Violated: 'violation',
};

/** The indices of those that are chosen, in order. */
export function chosenOf(events: readonly TraceEvent[], choice: Choice): readonly number[] {
  const kinds = CHOSEN[choice];
  return events.flatMap(({ kind }, i) => (kinds.includes(kind) ? [i] : []));
}

/** The nearest of the indices before or after `at`; undefined: there is none. */
export function stepFrom(at: number, by: -1 | 1, indices: readonly number[]): number | undefined {
  return by > 0 ? indices.find((i) => i > at) : indices.findLast((i) => i < at);
}

/** The index at which a slider stops on its way to `wanted`, or the nearest before if none is there. */
export function slideTo(at: number, wanted: number, indices: readonly number[]): number {
  const by = wanted < at ? -1 : 1;
  const back = by > 0 ? -1 : 1;
  return stepFrom(wanted - by, by, indices) ?? stepFrom(wanted, back, indices) ?? at;
}

/** Undefined: no property was violated. */
export function firstViolation(events: readonly TraceEvent[]): number | undefined {
  const found = events.findIndex(({ kind }) => kind === 'Violated');
  return found < 0 ? undefined : found;
}

/** `3:07.250`, `1:02:03.000`: since the world began. */
export function traceTime(atMs: number): string {
  const seconds = Math.floor(atMs / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = `${two(seconds % 60)}.${String(Math.floor(atMs % 1000)).padStart(3, '0')}`;
  return hours > 0 ? `${hours}:${two(minutes)}:${rest}` : `${minutes}:${rest}`;
}

/** The event of an address such as `#/event/12`, from 0; undefined for an address of none. */
export function eventOf(hash: string, count: number): number | undefined {
  const [, digits] = /^#\/event\/(\d{1,9})$/.exec(hash) ?? [];
  return digits === undefined ? undefined : Math.min(Math.max(Number(digits), 1), count) - 1;
}

/** What `eventOf` reads: people count from 1. */
export function addressOfEvent(at: number): string {
  return `#/event/${at + 1}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
