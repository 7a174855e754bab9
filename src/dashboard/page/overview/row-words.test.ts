import { expect, it } from 'vitest';
import { budgetWords, readyText } from './row-words.ts';

it.each([
  [0, 10, '10 of 10 left', false],
  [9, 10, '1 of 10 left', false],
  [10, 10, 'none of 10 left', true],
  [12, 10, 'none of 10 left', true],
  [0, 0, 'none allowed', false],
  [7, 2147483647, 'no limit', false],
])('%i of %i restarts are spent: %s', (countedRestarts, maxRestarts, text, isSpent) => {
  const budget = { countedRestarts, maxRestarts, extraRestarts: 0, restartsWithoutProgress: 0 };
  expect(budgetWords({ budget })).toEqual({ text, isSpent });
});

it('says that it does not know how many are ready', () => {
  expect(readyText({ ready: null, size: 8 })).toBe('? of 8');
  expect(readyText({ ready: 0, size: 8 })).toBe('0 of 8');
});
