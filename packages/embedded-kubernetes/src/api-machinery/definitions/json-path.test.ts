import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findAll, parseJsonPath } from './json-path.ts';

const OBJECT = {
  metadata: { name: 'n', labels: { 'example.com/a': 'x' }, annotations: {} },
  spec: { replicas: 0, list: [{ n: 1 }, { n: 2, on: true }, { n: 3 }] },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Done', status: 'False' },
    ],
  },
};

describe('json paths', () => {
  it.each([
    ['.metadata.name', ['n']],
    ['{.metadata.name}', ['n']],
    ['$.metadata.name', ['n']],
    ['.spec.replicas', [0]],
    ['.spec.absent.deeper', []],
    ['.metadata.constructor', []],
    ['.metadata.labels.example\\.com/a', ['x']],
    [".metadata.labels['example.com/a']", ['x']],
    ['.spec.list[0].n', [1]],
    ['.spec.list[-1].n', [3]],
    ['.spec.list[9].n', []],
    ['.spec.list[*].n', [1, 2, 3]],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    [".status.conditions[?(@.type == 'Done')].status", ['False']],
    ['.status.conditions[?(@.type!="Done")].type', ['Ready']],
    ['.spec.list[?(@.n==2)].on', [true]],
    ['.spec.list[?(@.on==true)].n', [2]],
    ['.spec.list[?(@.on)].n', [2]],
    ['.metadata.labels.*', ['x']],
    ['.', [OBJECT]],
  ])('%s', (text, expected) => {
    const parsed = parseJsonPath(text);
    if (parsed.error !== undefined) throw new Error(parsed.error);
    expect(findAll(OBJECT, parsed.path)).toEqual(expected);
  });

  it.each([
    'metadata',
    '.a..b',
    '.a[',
    '.a[?(@.b==)]',
    '.a[x]',
    '..a',
    '.a[0',
    '.a{',
    `.${'a'.repeat(5000)}`,
  ])('says what is wrong with %.20s', (text) => {
    expect(parseJsonPath(text)).toEqual({ error: expect.any(String) });
  });

  it('survives any text and any value', () => {
    const part = fc.constantFrom(
      '.',
      'a',
      '[',
      ']',
      '*',
      '0',
      '?(',
      '@',
      '==',
      '"',
      "'",
      ')',
      '\\',
      '{',
    );
    fc.assert(
      fc.property(fc.array(part), fc.jsonValue(), (parts, value) => {
        const parsed = parseJsonPath(parts.join(''));
        if (parsed.error === undefined) findAll(value, parsed.path);
      }),
    );
  });
});
