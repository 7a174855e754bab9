import { expect, test } from 'vitest';
import { memoryWeight } from './memory-weight.ts';

test.each([
  ['a long text', 'x'.repeat(1_000), 1_000, 1_100],
  ['a long text beyond Latin-1', 'я'.repeat(1_000), 2_000, 2_100],
  ['empty objects, which are short as JSON', Array(1_000).fill({}), 56_000, 80_000],
  ['texts in a list', Array(1_000).fill('ab'), 24_000, 60_000],
  ['long names', { ['k'.repeat(1_000)]: 1 }, 1_000, 1_100],
  ['nothing', null, 0, 0],
])('weighs %s', (_, value, least, most) => {
  const weight = memoryWeight(value);
  expect(weight).toBeGreaterThanOrEqual(least);
  expect(weight).toBeLessThanOrEqual(most);
});

test('weighs a value of any depth', () => {
  let deep: object = {};
  for (let depth = 0; depth < 100_000; depth++) deep = { deep };
  expect(memoryWeight(deep)).toBeGreaterThan(2_000_000);
});
