import { expect, test } from 'vitest';
import { hasMoreValuesThan } from './json-size.ts';

test.each<[string, number]>([
  ['[]', 2],
  ['[1,2,3]', 4],
  ['{"a":{},"b":[{}]}', 6],
  ['["a,b,[{",1]', 3],
  [String.raw`["\",\\",1]`, 3],
])('%s has %i values at most', (text, values) => {
  const bytes = Buffer.from(text);
  expect(hasMoreValuesThan(bytes, values)).toBe(false);
  expect(hasMoreValuesThan(bytes, values - 1)).toBe(true);
});
