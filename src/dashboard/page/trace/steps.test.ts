import { expect, it } from 'vitest';
import type { TraceEvent } from '../../messages/trace.ts';
import {
  addressOfEvent,
  chosenOf,
  eventOf,
  firstViolation,
  slideTo,
  stepFrom,
  traceTime,
} from './steps.ts';

const KINDS = [
  'Status',
  'Act',
  'Announces',
  'Hears',
  'WorkerEnds',
  'Violated',
  'Violated',
] as const;
const EVENTS: readonly TraceEvent[] = KINDS.map((kind, i) => ({ kind, atMs: i, text: '' }));

it('steps through the events of a choice', () => {
  expect(chosenOf(EVENTS, 'All')).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(chosenOf(EVENTS, 'NoMessages')).toEqual([0, 1, 4, 5, 6]);
  expect(chosenOf(EVENTS, 'Faults')).toEqual([1, 5, 6]);
});

it.each([
  [3, 1, 5],
  [3, -1, 1],
  [1, -1, undefined],
  [6, 1, undefined],
  [5, -1, 1],
] as const)('steps from %s by %s to %s', (at, by, to) => {
  expect(stepFrom(at, by, chosenOf(EVENTS, 'Faults'))).toBe(to);
});

it.each([
  [1, 2, 5],
  [5, 4, 1],
  [5, 5, 5],
  [1, 0, 1],
  [5, 9, 6],
  [3, 1, 1],
] as const)('slides from %s to %s, and stops at %s', (at, wanted, stop) => {
  expect(slideTo(at, wanted, chosenOf(EVENTS, 'Faults'))).toBe(stop);
});

it('does not slide where nothing is chosen', () => {
  expect(slideTo(2, 3, [])).toBe(2);
});

it('jumps to the first violation: others follow from it', () => {
  expect(firstViolation(EVENTS)).toBe(5);
  expect(firstViolation(EVENTS.slice(0, 5))).toBeUndefined();
});

it.each([
  ['#/event/1', 0],
  ['#/event/7', 6],
  ['#/event/8', 6],
  ['#/event/0', 0],
  ['#/event/-3', undefined],
  ['#/event/1e3', undefined],
  ['#/', undefined],
  ['', undefined],
])('the address %s is of event %s', (hash, at) => {
  expect(eventOf(hash, EVENTS.length)).toBe(at);
});

it('has an address for each event', () => {
  expect(eventOf(addressOfEvent(4), EVENTS.length)).toBe(4);
});

it.each([
  [0, '0:00.000'],
  [187_250.9, '3:07.250'],
  [3_723_000, '1:02:03.000'],
])('writes %s ms as %s', (ms, text) => {
  expect(traceTime(ms)).toBe(text);
});
