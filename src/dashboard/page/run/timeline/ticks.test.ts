import fc from 'fast-check';
import { expect, it } from 'vitest';
import { momentText, ticksOf } from './ticks.ts';

const NOON = Date.UTC(2026, 10, 23, 12);

it.each([
  ['a second', 1000, 400, 0, ['00.000', '00.500', '01.000'].map((s) => `00:${s}`)],
  ['a minute', 60_000, 400, 0, ['12:00:00', '12:00:15', '12:00:30', '12:00:45', '12:01:00']],
  ['an hour', 3_600_000, 340, 0, ['12:00', '12:15', '12:30', '12:45', '13:00']],
  ['two days', 172_800_000, 340, 0, ['12:00', '24 Nov', '12:00', '25 Nov', '12:00']],
  ['two days east of it', 172_800_000, 340, -60, ['24 Nov', '12:00', '25 Nov', '12:00']],
  ['a month', 30 * 86_400_000, 420, 0, ['26 Nov', '3 Dec', '10 Dec', '17 Dec']],
])('marks %s', (_, lengthMs, width, offset, labels) => {
  const ticks = ticksOf({ fromMs: NOON, toMs: NOON + lengthMs }, width, offset);
  expect(ticks.map(({ label }) => label)).toEqual(labels);
});

it('leaves room for the labels, and stays within the span', () => {
  const length = fc.integer({ min: 20, max: 5 * 365 * 86_400_000 });
  fc.assert(
    fc.property(fc.integer({ min: 0, max: NOON }), length, (fromMs, ms) => {
      const ticks = ticksOf({ fromMs, toMs: fromMs + ms }, 800, -330);
      expect(ticks.length).toBeLessThanOrEqual(10);
      for (const { atMs } of ticks) {
        expect(atMs).toBeGreaterThanOrEqual(fromMs);
        expect(atMs).toBeLessThanOrEqual(fromMs + ms);
      }
    }),
  );
});

it('tells a moment in local time', () => {
  expect(momentText(NOON + 1234, -60, 3)).toBe('23 Nov 13:00:01.234');
  expect(momentText(NOON + 1234, 0)).toBe('23 Nov 12:00:01');
  expect(momentText(Number.NaN, 0)).toBe('unknown');
});
