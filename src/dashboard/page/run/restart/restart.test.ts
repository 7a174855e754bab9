import { describe, expect, it } from 'vitest';
import type { TimelineSegment } from '../../../../jobset/goodput/timeline.ts';
import type { ReportedRestart } from '../../../../jobset/view/reported-restarts.ts';
import { waterfallOf } from './phases.ts';

const ENDED_MS = Date.parse('2026-11-23T10:00:00.500000Z');
const RECORD: ReportedRestart = {
  epoch: 4,
  time: '2026-11-23T10:00:00.500000Z',
  cause: 'WorkerFailed',
  counted: true,
  phases: { detectMs: 120, announceMs: 340, releaseMs: 15 },
};
const RELEASED_MS = ENDED_MS + 355;

const segment = (
  fromMs: number,
  toMs: number,
  name: TimelineSegment['class'],
  epoch: number | null,
): TimelineSegment => ({ fromMs, toMs, class: name, epoch });

const SEGMENTS = [
  segment(ENDED_MS - 60_000, ENDED_MS - 9000, 'Productive', 4),
  segment(ENDED_MS - 9000, ENDED_MS - 2000, 'Lost', 4),
  segment(ENDED_MS - 2000, ENDED_MS, 'Hung', 4),
  segment(ENDED_MS, RELEASED_MS, 'Restarting', 5),
  segment(RELEASED_MS, RELEASED_MS + 2500, 'Starting', 5),
  segment(RELEASED_MS + 2500, RELEASED_MS + 9999, 'Pending', 5),
];

const LATER = { isNewest: true, isFinal: false, nowMs: ENDED_MS + 20_000, backoffEndMs: null };

describe('waterfallOf', () => {
  it('lays the phases behind each other', () => {
    const { startMs, totalMs, phases } = waterfallOf(RECORD, SEGMENTS, LATER);
    expect(startMs).toBe(ENDED_MS - 120);
    expect(totalMs).toBe(120 + 340 + 15 + 2500);
    expect(phases.map(({ label, fromMs, tookMs }) => [label, fromMs, tookMs])).toEqual([
      ['Noticed', 0, 120],
      ['All at the barrier', 120, 340],
      ['Released', 460, 15],
      ['First step', 475, 2500],
    ]);
    expect(phases.every(({ state }) => state === 'Over')).toBe(true);
  });

  it('grows while members gather', () => {
    const { phases: _, ...record } = RECORD;
    const segments = [segment(ENDED_MS, ENDED_MS + 700, 'Restarting', 5)];
    const { phases } = waterfallOf(record, segments, {
      isNewest: true,
      isFinal: false,
      nowMs: ENDED_MS + 700,
      backoffEndMs: null,
    });
    expect(phases.map(({ tookMs, state }) => [tookMs, state])).toEqual([
      [null, 'Over'],
      [700, 'Open'],
      [null, 'Later'],
      [null, 'Later'],
    ]);
  });

  it('counts the back-off of a crash loop down, and keeps it apart from the release', () => {
    const { phases: _, ...record } = RECORD;
    const segments = [segment(ENDED_MS, ENDED_MS + 700, 'Restarting', 5)];
    const backoffEndMs = ENDED_MS + 4000;
    const at = { isNewest: true, isFinal: false, nowMs: ENDED_MS + 700, backoffEndMs };
    const told = ({ phases }: ReturnType<typeof waterfallOf>): object =>
      phases.map(({ label, tookMs, leftMs, state }) => [label, tookMs, leftMs, state]);
    expect(told(waterfallOf(record, segments, at))).toEqual([
      ['Noticed', null, null, 'Over'],
      ['All at the barrier', null, null, 'Over'],
      ['Back-off', 700, 3300, 'Open'],
      ['Released', null, null, 'Later'],
      ['First step', null, null, 'Later'],
    ]);
    const phases = { announceMs: 100, backoffMs: 3900, releaseMs: 3920 };
    expect(told(waterfallOf({ ...record, phases }, [], LATER))).toEqual([
      ['Noticed', null, null, 'Over'],
      ['All at the barrier', 100, null, 'Over'],
      ['Back-off', 3900, null, 'Over'],
      ['Released', 20, null, 'Over'],
      ['First step', null, null, 'Over'],
    ]);
  });

  it('has phases that did not happen when the JobSet failed with it', () => {
    const record = { ...RECORD, phases: { detectMs: 5 } };
    const at = { ...LATER, isFinal: true };
    const { totalMs, phases } = waterfallOf(record, SEGMENTS.slice(0, 3), at);
    expect(totalMs).toBe(5);
    expect(phases.map(({ state }) => state)).toEqual(['Over', 'Never', 'Never', 'Never']);
    const unseen = waterfallOf({ ...record, phases: {} }, [], at);
    expect(unseen.phases[0]?.state).toBe('Over');
  });

  it('grows while workers start', () => {
    const { phases } = waterfallOf(RECORD, SEGMENTS.slice(0, -1), LATER);
    expect(phases.at(-1)).toMatchObject({ tookMs: 2500, state: 'Open' });
  });

  it.each([
    [
      'a restart that another one followed',
      { isNewest: false, isFinal: false, nowMs: ENDED_MS + 700, backoffEndMs: null },
    ],
    ['a JobSet that is over', LATER],
  ])('leaves out what is not known of %s', (_, at) => {
    const record = { ...RECORD, phases: { detectMs: 5 } };
    const { totalMs, phases } = waterfallOf(record, SEGMENTS.slice(0, 3), at);
    expect(totalMs).toBe(5);
    expect(phases.map(({ tookMs }) => tookMs)).toEqual([5, null, null, null]);
  });
});
