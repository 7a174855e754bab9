import { expect, it } from 'vitest';
import type { Sample } from '../../../messages/run.ts';
import { plotted, tabled } from './series.ts';

const sample = (atMs: number, stepsPerSecond: number | null, slow: string[] = []): Sample => ({
  atMs,
  epoch: 1,
  lowestStep: 1,
  highestStep: 2,
  stepsPerSecond,
  slowest: slow.map((pod, i) => ({ pod, stepsPerSecond: i + 1 })),
});

it('draws the group, and those that were slowest last', () => {
  const samples = [sample(1000, 5, ['b']), sample(2000, null), sample(3000, 6, ['a', 'b'])];
  expect(plotted(samples)).toEqual({
    times: [1, 2, 3],
    series: [
      { pod: null, values: [5, null, 6] },
      { pod: 'a', values: [null, null, 1] },
      { pod: 'b', values: [1, null, 2] },
    ],
  });
});

it('draws no line over time of which nothing is known', () => {
  const { times, series } = plotted([sample(1000, 5), sample(61_000, 6), sample(60_000, 9)]);
  expect(times).toEqual([1, 1.001, 61]);
  expect(series).toEqual([{ pod: null, values: [5, null, 6] }]);
});

it('has nothing to draw at first', () => {
  expect(plotted([])).toEqual({ times: [], series: [{ pod: null, values: [] }] });
});

it('makes a table of the newest sample and some before it', () => {
  const samples = Array.from({ length: 100 }, (_, i) => sample(i, i));
  const rows = tabled(samples, 10);
  expect(rows).toHaveLength(10);
  expect([rows[0]?.atMs, rows[1]?.atMs, rows.at(-1)?.atMs]).toEqual([99, 89, 9]);
  expect(tabled([], 10)).toEqual([]);
});
