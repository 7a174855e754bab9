import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  countMembers,
  formatIndexSet,
  hasIndex,
  indexesBelow,
  indexesOf,
  parseIndexSet,
  sizeOfSet,
} from './index-set.ts';

test.each([
  ['', []],
  ['1,3-5,7', [1, 3, 4, 5, 7]],
  ['0,1', [0, 1]],
  ['0-2', [0, 1, 2]],
])('%o is the canonical text of %j', (text, indexes) => {
  expect(formatIndexSet([...indexes].reverse())).toBe(text);
  expect(indexesBelow(parseIndexSet(text) ?? [], 100)).toEqual(indexes);
});

test.each(['a', '1,', ',1', '1-', '-1', '3-1', '2,1', '1,1', '1-3,2', ' 1', '1.0', '99999999999'])(
  '%o is no index set',
  (text) => expect(parseIndexSet(text)).toBeUndefined(),
);

test('a huge range is a small set', () => {
  const set = parseIndexSet('0-2147483647') ?? [];
  expect([hasIndex(set, 2147483647), hasIndex(set, 2147483648)]).toEqual([true, false]);
  expect(indexesBelow(set, 3)).toEqual([0, 1, 2]);
  expect(sizeOfSet(set)).toBe(2 ** 31);
  expect(countMembers(set, [7, 0, 2 ** 31])).toBe(2);
});

test('parses formatted sets to the same members', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(60)), (indexes) => {
      const set = parseIndexSet(formatIndexSet(indexes)) ?? [];
      expect(indexesBelow(set, 100)).toEqual([...indexes].sort((a, b) => a - b));
      expect(sizeOfSet(set)).toBe(indexes.length);
      for (let index = 0; index < 62; index++) {
        expect(hasIndex(set, index)).toBe(indexes.includes(index));
      }
    }),
  );
});

test('members are counted as they are looked up', () => {
  const indexes = fc.uniqueArray(fc.nat(60));
  fc.assert(
    fc.property(indexes, indexes, (members, asked) => {
      const set = parseIndexSet(formatIndexSet(members)) ?? [];
      const found = asked.filter((index) => hasIndex(set, index));
      expect(countMembers(set, asked)).toBe(found.length);
    }),
  );
});

test('returns the members in order, none for an invalid text, and never without end', () => {
  expect(indexesOf('1,3-5')).toEqual([1, 3, 4, 5]);
  expect(indexesOf('5-3')).toEqual([]);
  expect(indexesOf('0-2147483647')).toHaveLength(1_000_000);
});
