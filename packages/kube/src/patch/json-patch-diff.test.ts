import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyJsonPatch, type JsonPatchOperation, parseJsonPatch } from './json-patch.ts';
import { jsonPatchDiff } from './json-patch-diff.ts';

const TABLE: readonly (readonly [string, unknown, unknown, readonly JsonPatchOperation[]])[] = [
  ['nothing', { a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
  ['another order of members', { a: 1, b: 2 }, { b: 2, a: 1 }, []],
  ['a changed member', { a: { b: 1, c: 2 } }, { a: { b: 3, c: 2 } }, [replace('/a/b', 3)]],
  ['a new member', { a: {} }, { a: { b: { c: 1 } } }, [add('/a/b', { c: 1 })]],
  ['a member that is gone', { a: 1, b: 2 }, { a: 1 }, [{ op: 'remove', path: '/b' }]],
  ['null is a value', { a: 1 }, { a: null }, [replace('/a', null)]],
  ['undefined is none', { a: 1, b: undefined }, { a: undefined }, [{ op: 'remove', path: '/a' }]],
  ['names with / and ~', { 'a/b': 1 }, { 'a/b': 1, 'm~n/o': 2 }, [add('/m~0n~1o', 2)]],
  ['an item changed', [{ a: 1, b: 1 }, 2], [{ a: 1, b: 2 }, 2], [replace('/0/b', 2)]],
  ['an item at the end', [1, 2], [1, 2, 3], [add('/2', 3)]],
  ['an item at the front', [1, 2], [0, 1, 2], [add('/0', 0)]],
  ['an item out of the middle', [1, 2, 3], [1, 3], [{ op: 'remove', path: '/1' }]],
  [
    'two equal items less',
    [1, 1, 1],
    [1],
    [
      { op: 'remove', path: '/2' },
      { op: 'remove', path: '/1' },
    ],
  ],
  ['another kind of value', { a: [1] }, { a: { 0: 1 } }, [replace('/a', { 0: 1 })]],
  ['another root', 1, [1], [replace('', [1])]],
  [
    'names of prototypes',
    {},
    JSON.parse('{"__proto__":1,"constructor":{}}'),
    [add('/__proto__', 1), add('/constructor', {})],
  ],
];

function add(path: string, value: unknown): JsonPatchOperation {
  return { op: 'add', path, value };
}

function replace(path: string, value: unknown): JsonPatchOperation {
  return { op: 'replace', path, value };
}

/** Few names and values, so that two documents have much in common. */
const documents = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<unknown>(null, true, 0, 1, 'a', 'b', ''),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(fc.constantFrom('a', 'b', '/', '~', '~1', '', '0', '__proto__'), tie('value'), {
      maxKeys: 4,
    }),
  ),
})).value;

describe('jsonPatchDiff', () => {
  it.each(TABLE)('writes %s', (_what, from, to, expected) => {
    expect(jsonPatchDiff(from, to)).toEqual(expected);
  });

  it('gives a patch that the strict parser takes and that makes the one of the other', () => {
    fc.assert(
      fc.property(documents, documents, (from, to) => {
        const operations = jsonPatchDiff(from, to);
        expect(parseJsonPatch(JSON.parse(JSON.stringify(operations)))).toEqual(operations);
        expect(applyJsonPatch(from, operations)).toEqual(to);
      }),
      { numRuns: 1_000 },
    );
  });

  it('gives no operation that could be left out', () => {
    fc.assert(
      fc.property(documents, documents, (from, to) => {
        const operations = jsonPatchDiff(from, to);
        for (const left of operations.keys()) {
          const fewer = operations.filter((_, at) => at !== left);
          expect(outcome(from, fewer)).not.toEqual(to);
        }
      }),
      { numRuns: 300 },
    );
  });
});

function outcome(from: unknown, operations: readonly JsonPatchOperation[]): unknown {
  try {
    return applyJsonPatch(from, operations);
  } catch (error) {
    return error;
  }
}
