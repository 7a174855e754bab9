import { expect, test } from 'vitest';
import { map, object, string } from '../schema/builders.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import { prune } from '../schema/prune.ts';
import { validate } from '../schema/validate.ts';
import { resourceSchema } from './resource-schema.ts';

const EMBEDDED: JsonSchema = {
  ...object({ spec: object({ a: string() }) }),
  'x-kubernetes-embedded-resource': true,
};
const SCHEMA = resourceSchema(
  object({
    metadata: object({ name: { type: 'string', maxLength: 3 } }),
    spec: object({ one: EMBEDDED, many: map(EMBEDDED) }),
  }),
);

const METADATA = { name: 'abc', labels: { a: 'b' }, finalizers: ['x/y'] };
const INNER = { apiVersion: 'v1', kind: 'Thing', metadata: METADATA, spec: { a: 'b' } };

test('metadata of an object and of what it embeds is known without being declared', () => {
  const value = { ...INNER, spec: { one: INNER, many: { x: INNER } } };
  expect(prune(SCHEMA, value)).toEqual({ value, pruned: [] });
  expect(validate(SCHEMA, value)).toEqual([]);
});

test('unknown metadata is named, wherever it is', () => {
  const bad = { ...INNER, metadata: { ...METADATA, nam: 'x' } };
  const { pruned } = prune(SCHEMA, { metadata: { label: {} }, spec: { many: { x: bad } } });
  expect(pruned).toEqual(['metadata.label', 'spec.many.x.metadata.nam']);
});

test('a name is restricted as the schema says, and an embedded object says what it is', () => {
  const fields = validate(SCHEMA, { metadata: { name: 'abcd' }, spec: { one: {} } });
  expect(fields.map(({ field, type }) => [field, type])).toEqual([
    ['metadata.name', 'FieldValueTooLong'],
    ['spec.one.apiVersion', 'FieldValueRequired'],
    ['spec.one.kind', 'FieldValueRequired'],
  ]);
});
