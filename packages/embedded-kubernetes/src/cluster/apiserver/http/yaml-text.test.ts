import { expect, test } from 'vitest';
import { readYamlText } from './yaml-text.ts';

test('the first of several documents is read, with its aliases', () => {
  expect(readYamlText('a: &x [1]\nb: *x\n---\nc: 2\n').json.value).toEqual({ a: [1], b: [1] });
});

test.each([
  ['a value that contains itself', 'a: &a [*a]', 'an alias contains itself'],
  [
    'a value that is too deep',
    '{"a":'.repeat(2_000) + 1 + '}'.repeat(2_000),
    'exceeded max depth of 1000',
  ],
  ['a value that overflows the stack', '['.repeat(50_000), 'exceeded max depth of 1000'],
])('%s is refused in words about the text', (_, text, why) => {
  expect(() => readYamlText(text)).toThrow(why);
});
