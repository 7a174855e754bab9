import { expect, test } from 'vitest';
import { anything, atomicList, int32, map, object, preserveUnknown, string } from './builders.ts';
import type { JsonSchema } from './json-schema.ts';
import { prune } from './prune.ts';

const SCHEMA = object({
  name: string(),
  labels: map(string()),
  items: atomicList(object({ size: int32() })),
  free: preserveUnknown(),
  any: anything(),
  partly: {
    ...object({ known: object({ a: string() }) }),
    'x-kubernetes-preserve-unknown-fields': true,
  },
  byName: map(object({ a: string() })),
});

test.each<[name: string, value: unknown, kept: unknown, pruned: string[]]>([
  ['an unknown field', { name: 'a', nam: 'b' }, { name: 'a' }, ['nam']],
  [
    'an unknown field in a list',
    { items: [{ size: 1 }, { siz: 2 }] },
    { items: [{ size: 1 }, {}] },
    ['items[1].siz'],
  ],
  ['an unknown field in a map', { byName: { x: { b: 1 } } }, { byName: { x: {} } }, ['byName.x.b']],
  ['fields of what should be a text', { name: { a: 1 } }, { name: {} }, ['name.a']],
  [
    'a known field below one that keeps the unknown',
    { partly: { other: 1, known: { b: 1 } } },
    { partly: { other: 1, known: {} } },
    ['partly.known.b'],
  ],
  [
    'a field called like a prototype',
    JSON.parse('{"__proto__":{"a":1},"constructor":1}'),
    {},
    ['__proto__', 'constructor'],
  ],
])('drops and names %s', (_name, value, kept, pruned) => {
  expect(prune(SCHEMA, value)).toEqual({ value: kept, pruned });
});

test.each<[name: string, value: unknown]>([
  ['entries of a map', { labels: { a: 'b', 'x/y': 'z' } }],
  ['anything below a free object', { free: { a: { b: [1, { c: null }] } } }],
  ['any value at all', { any: [{ a: 1 }] }],
  ['a value of another type', 5],
  ['a null', { name: null, items: null }],
])('keeps %s, and the very same value', (_name, value) => {
  const { value: kept, pruned } = prune(SCHEMA, value);
  expect(kept).toBe(value);
  expect(pruned).toEqual([]);
});

test('input is never changed', () => {
  const value = { name: 'a', items: [{ size: 1, other: 2 }], extra: true };
  const before = structuredClone(value);
  prune(SCHEMA, value);
  expect(value).toEqual(before);
});

test('a map may be called __proto__ and still holds what it holds', () => {
  const schema: JsonSchema = object({ byName: map(object({ a: string() })) });
  const { value } = prune(schema, JSON.parse('{"byName":{"__proto__":{"a":"x","b":1}}}'));
  expect(JSON.stringify(value)).toBe('{"byName":{"__proto__":{"a":"x"}}}');
});
