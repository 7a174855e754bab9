import { expect, test } from 'vitest';
import { formatFieldError } from '../field-error.ts';
import {
  atomicList,
  boolean,
  bytes,
  int32,
  intOrString,
  limited,
  listMap,
  map,
  nullable,
  number,
  object,
  oneOf,
  set,
  string,
  time,
} from './builders.ts';
import type { JsonSchema } from './json-schema.ts';
import { validateListTypes } from './list-types.ts';
import { validate } from './validate.ts';

const SPEC = object(
  {
    name: limited({ minLength: 2, maxLength: 5, pattern: '^[a-z]+$' }, string()),
    replicas: limited({ minimum: 0, maximum: 10 }, int32()),
    ratio: number(),
    suspend: boolean(),
    mode: oneOf(['A', 'B']),
    port: intOrString(),
    at: time(),
    data: map(bytes()),
    tags: limited({ minItems: 1, maxItems: 2 }, atomicList(string())),
    code: nullable(int32()),
    jobs: listMap(['name'], object({ name: string() }, { required: ['name'] })),
    choice: {
      type: 'object',
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
      properties: { a: string(), b: string() },
    },
    odd: { ...int32(), not: { multipleOf: 2 } },
    few: limited({ maxProperties: 1 }, map(string())),
    above: { type: 'number', minimum: 0, exclusiveMinimum: true },
  },
  { required: ['name'] },
);
const SCHEMA: JsonSchema = object({ spec: SPEC });

function problems(spec: unknown): string[] {
  return validate(SCHEMA, { spec }).map(formatFieldError);
}

/** The texts come from a real API server, version 1.36. */
test.each<[spec: unknown, problems: string[]]>([
  [5, ['spec: Invalid value: "integer": spec in body must be of type object: "integer"']],
  [null, ['spec: Invalid value: "null": spec in body must be of type object: "null"']],
  [{}, ['spec.name: Required value']],
  [
    { name: 5 },
    ['spec.name: Invalid value: "integer": spec.name in body must be of type string: "integer"'],
  ],
  [
    { name: 'a' },
    ['spec.name: Invalid value: "a": spec.name in body should be at least 2 chars long'],
  ],
  [{ name: 'abcdef' }, ['spec.name: Too long: may not be more than 5 bytes']],
  [
    { name: 'äöü' },
    ['spec.name: Invalid value: "äöü": spec.name in body should match \'^[a-z]+$\''],
  ],
  [
    { name: 'ab', replicas: '3' },
    [
      'spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string"',
    ],
  ],
  [
    { name: 'ab', replicas: 1.5 },
    [
      'spec.replicas: Invalid value: "float64": spec.replicas in body must be of type int32: "float64"',
      '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.replicas',
    ],
  ],
  [
    { name: 'ab', replicas: true },
    ['spec.replicas: Invalid value: "": spec.replicas in body must be of type int32: ""'],
  ],
  [
    { name: 'ab', replicas: -1 },
    [
      'spec.replicas: Invalid value: -1: spec.replicas in body should be greater than or equal to 0',
    ],
  ],
  [
    { name: 'ab', replicas: 11 },
    ['spec.replicas: Invalid value: 11: spec.replicas in body should be less than or equal to 10'],
  ],
  [
    { name: 'ab', code: 2 ** 31 },
    [
      '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.code',
    ],
  ],
  [
    { name: 'ab', suspend: 'no' },
    [
      'spec.suspend: Invalid value: "string": spec.suspend in body must be of type boolean: "string"',
    ],
  ],
  [{ name: 'ab', mode: 'C' }, ['spec.mode: Unsupported value: "C": supported values: "A", "B"']],
  [
    { name: 'ab', port: 1.5 },
    [
      'spec.port: Invalid value: "number": spec.port in body must be of type integer,string: "number"',
    ],
  ],
  [
    { name: 'ab', at: 'noon' },
    ['spec.at: Invalid value: "noon": spec.at in body must be of type date-time: "noon"'],
  ],
  [
    { name: 'ab', data: { k: '%' } },
    ['spec.data.k: Invalid value: "%": spec.data.k in body must be of type byte: "%"'],
  ],
  [
    { name: 'ab', tags: [] },
    ['spec.tags: Invalid value: 0: spec.tags in body should have at least 1 items'],
  ],
  [
    { name: 'ab', tags: ['a', 5, 'c'] },
    [
      'spec.tags: Too many: 3: must have at most 2 items',
      'spec.tags[1]: Invalid value: "integer": spec.tags[1] in body must be of type string: "integer"',
    ],
  ],
  [{ name: 'ab', jobs: [{ name: 'a' }, {}] }, ['spec.jobs[1].name: Required value']],
  [
    { name: 'ab', choice: {} },
    [
      '<nil>: Invalid value: "": "spec.choice" must validate one and only one schema (oneOf). Found none valid',
      'spec.choice.a: Required value',
    ],
  ],
  [
    { name: 'ab', choice: { a: '', b: '' } },
    [
      '<nil>: Invalid value: "": "spec.choice" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ],
  ],
  [
    { name: 'ab', odd: 2 },
    ['<nil>: Invalid value: "": "spec.odd" must not validate the schema (not)'],
  ],
  [{ name: 'ab', few: { a: '', b: '' } }, ['spec.few: Too many: 2: must have at most 1 item']],
  [
    { name: 'ab', above: 0 },
    ['spec.above: Invalid value: 0: spec.above in body should be greater than 0'],
  ],
])('%j is reported in the words of the API server', (spec, expected) => {
  expect(problems(spec)).toEqual(expected);
});

test.each<[spec: unknown]>([
  [{ name: 'ab', replicas: 0, ratio: 1, suspend: false, mode: 'A', port: 80 }],
  [{ name: 'ab', port: 'http', ratio: 0.5, code: null, tags: ['x'] }],
  [{ name: 'ab', at: '2026-01-02T03:04:05.123456Z', data: { k: 'aGk=' }, choice: { b: '' } }],
  [{ name: 'ab', at: '2026-01-02T03:04:05+02:00', odd: 3, unknown: { fields: 'are pruned' } }],
])('%j is valid', (spec) => expect(problems(spec)).toEqual([]));

const LISTS = object({
  jobs: listMap(['name'], object({ name: string() })),
  ports: listMap(['port', 'protocol'], object({ port: int32(), protocol: string() })),
  finalizers: set(string()),
  names: atomicList(string()),
});

test.each<[value: unknown, problems: string[]]>([
  [
    { jobs: [{ name: 'a' }, { name: 'b' }, { name: 'a' }, { name: 'a' }] },
    ['jobs[2]: Duplicate value: {"name":"a"}'],
  ],
  [{ jobs: [{}, {}] }, ['jobs[1]: Duplicate value: {}']],
  [
    { jobs: [{ name: 'a' }, 5] },
    ['jobs[1]: Invalid value: 5: must be an object for an array of list-type map'],
  ],
  [
    {
      ports: [
        { port: 1, protocol: 'TCP' },
        { port: 1, protocol: 'UDP' },
      ],
    },
    [],
  ],
  [
    {
      ports: [
        { port: 1, protocol: 'TCP' },
        { protocol: 'TCP', port: 1 },
      ],
    },
    ['ports[1]: Duplicate value: {"port":1,"protocol":"TCP"}'],
  ],
  [{ finalizers: ['a', 'b', 'b'] }, ['finalizers[2]: Duplicate value: "b"']],
  [{ names: ['a', 'a'] }, []],
])('items of %j are distinguished', (value, expected) => {
  expect(validateListTypes(LISTS, value).map(formatFieldError)).toEqual(expected);
});

test('a pattern that would take a backtracking matcher for ever takes no time', () => {
  const schema = limited({ pattern: '^(a+)+$' }, string());
  expect(validate(schema, `${'a'.repeat(5_000)}b`)).toHaveLength(1);
});

test('a least length of none lets the empty text in', () => {
  expect(validate({ type: 'string', minLength: 0 }, '')).toEqual([]);
});
