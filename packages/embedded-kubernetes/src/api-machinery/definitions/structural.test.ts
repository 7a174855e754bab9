import { formatFieldError } from '@lockstep/kube/field-error.ts';
import { schemas } from '@lockstep/kube/schema/drawn-schemas.fixture.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { structuralErrors } from './structural.ts';

function problems(schema: JsonSchema): string[] {
  return structuralErrors(schema, 'S').map(formatFieldError).sort();
}

function field(a: object): JsonSchema {
  return { type: 'object', properties: { a } };
}

const NAMED = { type: 'object', properties: { n: { type: 'string' } } };

/** The texts come from a real API server, version 1.36. */
test.each<[schema: JsonSchema, problems: string[]]>([
  [{}, ['S.type: Required value: must not be empty at the root']],
  [{ type: 'string' }, ['S.type: Invalid value: "string": must be object at the root']],
  [
    field({}),
    ['S.properties[a].type: Required value: must not be empty for specified object fields'],
  ],
  [
    field({ type: 'nul' }),
    [
      'S.properties[a].type: Unsupported value: "nul": supported values: "array", "boolean", "integer", "number", "object", "string"',
    ],
  ],
  [field({ type: 'array' }), ['S.properties[a].items: Required value: must be specified']],
  [
    field({ type: 'array', items: {} }),
    ['S.properties[a].items.type: Required value: must not be empty for specified array items'],
  ],
  [
    { type: 'object', additionalProperties: { type: 'string' } },
    ['S.additionalProperties: Forbidden: must not be used at the root'],
  ],
  [
    field({ ...NAMED, additionalProperties: { type: 'string' } }),
    [
      'S.properties[a].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive',
    ],
  ],
  [
    field({ type: 'string', anyOf: [{ type: 'string' }] }),
    ['S.properties[a].anyOf[0].type: Forbidden: must be empty to be structural'],
  ],
  [
    { ...field({ type: 'string' }), oneOf: [{ properties: { b: { minLength: 1 } } }] },
    ['S.properties[b]: Required value: because it is defined in S.oneOf[0].properties[b]'],
  ],
  [
    field({ type: 'string', pattern: '(' }),
    [
      'S.properties[a].pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `(`',
    ],
  ],
  [
    field({
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['n'],
      items: NAMED,
    }),
    [
      'S.properties[a].items.properties[n].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
    ],
  ],
  [
    field({
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['m'],
      items: NAMED,
    }),
    [
      'S.properties[a].x-kubernetes-list-map-keys: Invalid value: ["m"]: entries must all be names of item properties',
    ],
  ],
  [
    field({ type: 'array', 'x-kubernetes-list-type': 'set', items: NAMED }),
    [
      'S.properties[a].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set',
    ],
  ],
  [
    field({ type: 'object', 'x-kubernetes-embedded-resource': true }),
    [
      'S.properties[a].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
    ],
  ],
  [
    {
      type: 'object',
      properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } },
    },
    [
      'S.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
    ],
  ],
  [
    { type: 'object', properties: { kind: { type: 'integer' } } },
    ['S.properties[kind].type: Invalid value: "integer": must be string'],
  ],
  [
    field({ type: 'integer', default: 'x' }),
    [
      'S.properties[a].default: Invalid value: "string":  in body must be of type integer: "string"',
    ],
  ],
  [
    field({ ...NAMED, default: { c: 1 } }),
    ['S.properties[a].default: Invalid value: {"c":1}: must not have unknown fields'],
  ],
  [
    field({ type: 'object', $ref: '#/x' }),
    ['S.properties[a].$ref: Forbidden: $ref is not supported'],
  ],
])('%j is not structural, for the reason that the API server gives', (schema, expected) => {
  expect(problems(schema)).toEqual(expected);
});

test.each<[schema: JsonSchema]>([
  [{ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }],
  [field({ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] })],
  [field({ 'x-kubernetes-preserve-unknown-fields': true })],
  [field({ ...NAMED, oneOf: [{ required: ['n'] }, { required: ['m'] }] })],
  [field({ type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } })],
  [
    field({
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    }),
  ],
  [
    {
      type: 'object',
      properties: {
        metadata: { type: 'object', properties: { name: { type: 'string', pattern: '^a' } } },
      },
    },
  ],
  [
    field({
      type: 'array',
      items: { type: 'object', properties: { b: { type: 'integer', default: 1 } } },
      default: [{}],
    }),
  ],
])('%j is structural', (schema) => expect(problems(schema)).toEqual([]));

test('no schema of any shape makes the check throw', () => {
  fc.assert(
    fc.property(schemas(true), (schema) => {
      structuralErrors(schema, 'S');
    }),
  );
});
