import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonSyntaxError, readJson } from './json-reader.ts';

/** Characters with a meaning in JSON, and some without. */
const PIECES = '{}[]:,"\\ue-+.0123tfnul /\n\u0001';

describe('the JSON reader', () => {
  it('reads what JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.boolean(), (text, isSpaced) => {
        const spaced = isSpaced ? JSON.stringify(JSON.parse(text), null, '\t') : text;
        expect(readJson(spaced).value).toEqual(JSON.parse(text));
      }),
    );
  });

  it('refuses what JSON.parse refuses, and nothing else', () => {
    const piece = fc.constantFrom(...PIECES.split(''));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12, size: 'max' }), (pieces) => {
        const text = pieces.join('');
        expect(isRead(() => readJson(text))).toBe(isRead(() => JSON.parse(text)));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['', 'unexpected end of JSON input'],
    ['{"a":1', 'unexpected end of JSON input'],
    ['{a', "invalid character 'a' looking for beginning of object key string"],
    ['{"a"1', "invalid character '1' after object key"],
    ['{"a":1 2', "invalid character '2' after object key:value pair"],
    ['[1 2', "invalid character '2' after array element"],
    ['1 2', "invalid character '2' after top-level value"],
    ['tru3', "invalid character '3' in literal true (expecting 'e')"],
    ['-x', "invalid character 'x' in numeric literal"],
    ['"\n"', "invalid character '\\n' in string literal"],
    ['"\\x"', "invalid character 'x' in string escape code"],
  ])('says of %j what Go says', (text, message) => {
    expect(() => readJson(text)).toThrow(new JsonSyntaxError(message));
  });

  it('names members that are given twice, and keeps the last', () => {
    const text = '{"a":{"b":1,"b":2},"list":[{"c":1,"c":1}],"a":3}';
    expect(readJson(text)).toEqual({
      value: { a: 3, list: [{ c: 1 }] },
      duplicates: ['a.b', 'list[0].c', 'a'],
    });
  });

  it('reads names of prototypes as names', () => {
    const { value } = readJson('{"__proto__":{"x":1},"constructor":2}');
    expect(Object.entries(value as object)).toEqual([
      ['__proto__', { x: 1 }],
      ['constructor', 2],
    ]);
  });

  it('bounds the depth', () => {
    const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
    expect(isRead(() => readJson(deep(900)))).toBe(true);
    expect(() => readJson(deep(100_000))).toThrow('exceeded max depth');
  });
});

function isRead(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
