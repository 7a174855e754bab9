import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { beginning, encodedBytes, lastLines } from './limited-text.ts';

test.each([
  ['where', 9, 'where'],
  ['a😀b', 5, 'a😀'],
  ['a😀b', 4, 'a'],
  ['\u001b!', 5, ''],
])('the beginning of %j in %i bytes is %j', (text, limit, kept) => {
  expect(beginning(text, limit)).toBe(kept);
});

describe('the last lines of a text', () => {
  test.each([
    ['one\ntwo\nthree', 9, 'three'],
    ['one\ntwo', 100, 'one\ntwo'],
    ['without end', 3, 'end'],
    ['one\nlonger\n', 8, 'longer\n'],
    ['a😀', 4, '😀'],
    ['', 0, ''],
  ])('%j in %i bytes are %j', (text, limit, kept) => expect(lastLines(text, limit)).toBe(kept));

  test('fit', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(60), (text, limit) => {
        const kept = lastLines(text, limit);
        expect(encodedBytes(kept)).toBeLessThanOrEqual(limit);
        expect(text.endsWith(kept)).toBe(true);
      }),
    );
  });
});
