import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyMergePatch } from './merge-patch.ts';

describe('applyMergePatch', () => {
  // The table of RFC 7396, appendix A.
  it.each<[unknown, unknown, unknown]>([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])('%j with %j is %j', (target, patch, expected) => {
    const before = JSON.stringify([target, patch]);
    expect(applyMergePatch(target, patch)).toEqual(expected);
    expect(JSON.stringify([target, patch])).toBe(before);
  });

  it('changes nothing the second time, and leaves no null of its own', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (target, patch) => {
        const once = applyMergePatch(target, patch);
        expect(applyMergePatch(once, patch)).toEqual(once);
      }),
    );
  });

  it('reaches no prototype', () => {
    const patch: unknown = JSON.parse('{"__proto__":{"polluted":true}}');
    const result = applyMergePatch({}, patch);
    expect(JSON.stringify(result)).toBe('{"__proto__":{"polluted":true}}');
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    const removed = applyMergePatch({ kept: 1, ...Object(patch) }, { ['__proto__']: null });
    expect(JSON.stringify(removed)).toBe('{"kept":1}');
    expect(Object.getPrototypeOf(removed)).toBe(Object.prototype);
  });

  it('refuses a patch that is too deep', () => {
    const deep: unknown = JSON.parse(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`);
    expect(() => applyMergePatch({}, deep)).toThrow(expect.objectContaining({ code: 400 }));
  });
});
