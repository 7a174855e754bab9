import { expect, it } from 'vitest';
import { isSilent, stepLag } from './silence.ts';

it.each([
  [4, 12, 0],
  [61, 12, 0],
  [62, 12, 62],
  [400, undefined, 0],
])(
  'of %s steps between the first and the last at a rate of %s, %s are reported',
  (lag, rate, told) => {
    const group = { lowestStep: 100, highestStep: 100 + lag };
    expect(stepLag(rate === undefined ? group : { ...group, stepsPerSecond: rate })).toBe(told);
  },
);

it.each([
  [5000, undefined, false],
  [5001, undefined, true],
  [7500, 0.5, false],
  [9500, 0.5, true],
])('a silence of %s ms at a rate of %s is reported: %s', (silentMs, rate, isTold) => {
  expect(isSilent(rate === undefined ? { silentMs } : { silentMs, stepsPerSecond: rate })).toBe(
    isTold,
  );
});
