import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TimelineSegment } from '../../../../jobset/goodput/timeline.ts';
import { barsOf, grownTo, lifeOf, MARK_PX, marksOf, sumsWithin } from './bars.ts';

const segment = (
  fromMs: number,
  toMs: number,
  name: TimelineSegment['class'],
  more: Pick<TimelineSegment, 'isSummary'> = {},
): TimelineSegment => ({ fromMs, toMs, class: name, epoch: 1, ...more });

const SEGMENTS = [
  segment(0, 100, 'Waiting'),
  segment(100, 900, 'Productive'),
  segment(900, 901, 'Lost'),
  segment(901, 1000, 'Pending'),
];

describe('grownTo', () => {
  it('extends what continues', () => {
    expect(grownTo(SEGMENTS, 1500).at(-1)).toEqual(segment(901, 1500, 'Pending'));
    expect(grownTo(SEGMENTS, 900)).toBe(SEGMENTS);
    expect(grownTo([], 900)).toEqual([]);
  });

  it('does not extend a sum', () => {
    const sum = segment(0, 100, 'Waiting', { isSummary: true });
    expect(grownTo([sum], 150)).toEqual([sum, segment(100, 150, 'Waiting')]);
  });
});

it('knows a life without any account of it', () => {
  expect(lifeOf(5, [], 50)).toEqual({ fromMs: 5, toMs: 50 });
  expect(lifeOf(5, SEGMENTS, 5000)).toEqual({ fromMs: 0, toMs: 1000 });
});

describe('barsOf', () => {
  it('cuts bars at the ends of the span', () => {
    const [bar] = barsOf(SEGMENTS, { fromMs: 200, toMs: 400 }, 100);
    expect(bar).toMatchObject({ xPx: 0, widthPx: 100, segment: { class: 'Productive' } });
  });

  it('shows the shortest stretch, and draws it over its neighbours', () => {
    const bars = barsOf(SEGMENTS, { fromMs: 0, toMs: 1000 }, 100);
    expect(bars.at(-1)).toMatchObject({ widthPx: 1, segment: { class: 'Lost' } });
  });
});

it('sums up what lies in the span', () => {
  expect(sumsWithin(SEGMENTS, { fromMs: 50, toMs: 950 })).toEqual(
    new Map([
      ['Waiting', 50],
      ['Productive', 800],
      ['Lost', 1],
      ['Pending', 49],
    ]),
  );
});

describe('marksOf', () => {
  it('joins marks that lie too close together', () => {
    const marks = marksOf(
      [{ atMs: 10 }, { atMs: 12 }, { atMs: 500 }],
      { fromMs: 0, toMs: 1000 },
      1000,
    );
    expect(marks.map(({ restarts }) => restarts.length)).toEqual([2, 1]);
    expect(marks[0]).toMatchObject({ xPx: 11, span: { fromMs: 10, toMs: 12 } });
  });

  it('shows each restart of the span once', () => {
    const times = fc.array(fc.integer({ min: 0, max: 1000 }), { maxLength: 16 });
    fc.assert(
      fc.property(times, fc.integer({ min: 100, max: 2000 }), (all, width) => {
        const restarts = all.toSorted((a, b) => a - b).map((atMs) => ({ atMs }));
        const marks = marksOf(restarts, { fromMs: 0, toMs: 1000 }, width);
        expect(marks.flatMap((mark) => mark.restarts)).toEqual(restarts);
        for (const [i, mark] of marks.entries()) {
          const before = marks[i - 1];
          if (before !== undefined) expect(mark.xPx - before.xPx).toBeGreaterThan(MARK_PX / 2);
        }
      }),
    );
  });
});
