import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it, test } from 'vitest';
import { PatternCache } from './pattern-cache.ts';
import { patternWeight } from './pattern-weight.ts';

const atom = fc.constantFrom('a', '.', '\\d', '\\pL', '[a-z]', '[^]x]', '[[:alpha:]]', 'é', '\\.');
const { pattern } = fc.letrec<{ pattern: string; item: string }>((tie) => ({
  pattern: fc.array(tie('item'), { minLength: 1, maxLength: 4 }).map((items) => items.join('')),
  item: fc.oneof(
    { depthSize: 'small' },
    atom,
    fc
      .tuple(atom, fc.constantFrom('*', '+?', '{3}', '{2,7}', '{5,}', '{0,9}'))
      .map((two) => two.join('')),
    fc
      .tuple(tie('pattern'), fc.constantFrom('', '?', '{2}', '{1,3}', '|x'))
      .map(([inner, after]) => `(${inner})${after}`),
    fc.tuple(tie('pattern'), tie('pattern')).map(([left, right]) => `(?i:${left}|${right})`),
  ),
}));

test('a pattern weighs at least as much as its program', () => {
  fc.assert(
    fc.property(pattern, (text) => {
      expect(patternWeight(text)).toBeGreaterThanOrEqual(RE2JS.compile(text).programSize());
    }),
  );
});

test.each([
  ['OOMKilled', 20],
  ['exit code (137|139)', 40],
  ['^Job has reached the specified backoff limit.*$', 60],
  ['a{1000}', 2_100],
])('%s weighs at most %i', (text, most) => {
  expect(patternWeight(text)).toBeLessThanOrEqual(most);
});

test.each([
  ['((a{30}){30})', 900],
  ['(?i)\\p{L}'.repeat(100), 4_000],
])('%s weighs at least %i', (text, least) => {
  expect(patternWeight(text)).toBeGreaterThanOrEqual(least);
});

describe('a cache of patterns', () => {
  it('holds as much as it may, by weight', () => {
    const cache = new PatternCache(100);
    const first = cache.compiled('abc');
    expect(cache.compiled('abc')).toBe(first);
    for (let i = 0; i < 50; i++) cache.compiled(`x{10}${i}`);
    expect(cache.compiled('abc')).not.toBe(first);
    expect(cache.weight).toBeLessThanOrEqual(100);
  });

  it('compiles patterns that are too heavy to keep, and keeps the others', () => {
    const cache = new PatternCache(100);
    const light = cache.compiled('abc');
    expect(cache.compiled('x{200}')).toHaveProperty('pattern');
    expect(cache.compiled('abc')).toBe(light);
  });

  it('tells why a pattern is none', () => {
    expect(new PatternCache(100).compiled('(')).toEqual({
      defect: 'error parsing regexp: missing closing ): `(`',
    });
  });
});
