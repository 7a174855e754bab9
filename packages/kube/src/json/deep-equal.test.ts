import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clone } from './clone.ts';
import { deepEqual } from './deep-equal.ts';
import { isDeeperThan } from './json-depth.ts';

describe('deepEqual', () => {
  it.each([
    [{ a: 1, b: [2] }, { b: [2], a: 1 }, true],
    [{ a: 1 }, { a: 1, b: null }, false],
    [{ a: null }, {}, false],
    [[1, 2], [2, 1], false],
    [[], {}, false],
    [{ constructor: 1 }, { a: 1 }, false],
    [JSON.parse('{"__proto__":1}'), {}, false],
    ['1', 1, false],
    [null, undefined, false],
  ])('%j and %j: %j', (a: unknown, b: unknown, expected) => {
    expect(deepEqual(a, b)).toBe(expected);
    expect(deepEqual(b, a)).toBe(expected);
  });

  it('agrees with the canonical text of values', () => {
    const value = fc.jsonValue({ maxDepth: 3 });
    fc.assert(
      fc.property(value, value, (a, b) => {
        expect(deepEqual(a, b)).toBe(canonical(a) === canonical(b));
      }),
    );
  });
});

describe('clone', () => {
  it('is equal and shares nothing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const before = JSON.stringify(value);
        const copy = clone(value);
        expect(JSON.stringify(copy)).toBe(before);
        scribble(copy);
        expect(JSON.stringify(value)).toBe(before);
      }),
    );
  });

  it('copies a member called __proto__ as the member that it is', () => {
    const copy = clone(JSON.parse('{"__proto__":{"a":1}}') as object);
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"a":1}}');
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  });
});

describe('isDeeperThan', () => {
  it('counts levels of lists and objects, at any depth', () => {
    expect([isDeeperThan('x', 0), isDeeperThan([], 0), isDeeperThan([], 1)]).toEqual([
      false,
      true,
      false,
    ]);
    expect(isDeeperThan({ a: [{}] }, 2)).toBe(true);
    expect(isDeeperThan({ a: [{}] }, 3)).toBe(false);
    const deep: unknown = JSON.parse(`${'['.repeat(200_000)}${']'.repeat(200_000)}`);
    expect(isDeeperThan(deep, 1_000)).toBe(true);
    expect(isDeeperThan(deep, 200_000)).toBe(false);
  });
});

/** Two values are equal if their canonical texts are, except for -0, which JSON writes as 0. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? { members: Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)) }
      : member,
  );
}

/** Changes every list and object inside the value. */
function scribble(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const member of Object.values(value)) scribble(member);
  if (Array.isArray(value)) value.push('changed');
  else Object.assign(value, { changed: true });
}
