import { expect, it } from 'vitest';
import { ageText, clockText, dateText, shareText, zoneText } from './time-text.ts';

it.each([
  [1, '100 %'],
  [0.9999, '99.9 %'],
  [0.934, '93.4 %'],
  [0.5, '50 %'],
  [0.0004, '0 %'],
  [0, '0 %'],
])('the share %d is %s', (share, text) => {
  expect(shareText(share)).toBe(text);
});

it('writes times in the zone of the reader', () => {
  const ms = new Date(2026, 0, 2, 3, 4, 5).getTime();
  expect(clockText(ms)).toBe('03:04:05');
  const zone = zoneText(new Date(ms).getTimezoneOffset());
  expect(dateText(ms)).toBe(`2026-01-02 03:04:05 ${zone}`);
  expect(dateText(Number.NaN)).toBe('unknown');
});

it.each([
  [0, 5000, '5s'],
  [0, 90_061_000, '25h'],
  [5000, 0, '0s'],
  [Number.NaN, 0, 'unknown'],
])('an age from %d to %d is %s', (sinceMs, nowMs, text) => {
  expect(ageText(sinceMs, nowMs)).toBe(text);
});

it.each([
  [0, 'UTC'],
  [-60, 'UTC+1'],
  [-330, 'UTC+5:30'],
  [210, 'UTC−3:30'],
  [720, 'UTC−12'],
  [Number.NaN, 'UTC'],
])('the zone of %d minutes is %s', (offset, text) => {
  expect(zoneText(offset)).toBe(text);
});
