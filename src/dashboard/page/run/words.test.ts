import { expect, it } from 'vitest';
import { counted, exact, percent, rateText, rough } from './words.ts';

it.each([
  [0, '0 ms', '0 ms'],
  [412.4, '412 ms', '412 ms'],
  [12_345, '12.345 s', '12.3 s'],
  [61_000, '61.0 s', '61.0 s'],
  [245_000, '4m5s', '4m5s'],
  [183_600_000, '2d3h', '2d3h'],
])('tells %d ms', (ms, precise, rounded) => {
  expect(exact(ms)).toBe(precise);
  expect(rough(ms)).toBe(rounded);
});

it.each([
  [0, 0, '0 %'],
  [1, 100_000, '<0.1 %'],
  [1, 3, '33.3 %'],
])('tells %d of %d as a share', (part, whole, text) => {
  expect(percent(part, whole)).toBe(text);
});

it.each([
  [0, '0 steps/s'],
  [12.345, '12.3 steps/s'],
  [1.5, '1.50 steps/s'],
  [0.5, '30.0 steps/min'],
  [1 / 1800, '2.00 steps/h'],
  [1234.5, '1235 steps/s'],
])('tells %d steps a second', (rate, text) => {
  expect(rateText(rate)).toBe(text);
});

it('counts things', () => {
  expect([counted(1, 'restart'), counted(5000, 'member')]).toEqual(['1 restart', '5,000 members']);
});
