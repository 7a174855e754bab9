/** Random schemas and values for property tests. */
import fc from 'fast-check';
import { isJsonObject } from '../json/json-value.ts';
import type { JsonSchema } from './json-schema.ts';

const KEYS = ['a', 'b', 'c', '__proto__', 'constructor'];
const key = fc.constantFrom(...KEYS);

/** Objects with own members only, `__proto__` included. */
function objectOf<T>(values: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> {
  return fc
    .uniqueArray(fc.tuple(key, values), { selector: ([name]) => name, maxLength: 4 })
    .map((entries) => Object.fromEntries(entries));
}

const scalar = fc.oneof(
  fc.constantFrom('', 'a', 'ab', 'äöü', '1', 'TCP'),
  fc.integer({ min: -3, max: 12 }),
  fc.constantFrom(0.5, 1.5, 2 ** 40),
  fc.boolean(),
  fc.constant(null),
);

export const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    objectOf(tie('value')),
  ),
}));

/** Structural schemas; `withDefaults` adds defaults that are valid by themselves. */
export function schemas(withDefaults: boolean): fc.Arbitrary<JsonSchema> {
  const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
  const texts = fc.record({
    type: fc.constant('string' as const),
    nullable: maybe(fc.boolean()),
    minLength: maybe(fc.nat(2)),
    maxLength: maybe(fc.integer({ min: 1, max: 3 })),
    pattern: maybe(fc.constantFrom('^a', 'b$', '^[a-z]*$')),
    enum: maybe(fc.constant(['a', 'TCP'])),
    default: withDefaults ? maybe(fc.constant('ab')) : fc.constant(undefined),
  });
  const numbers = fc.record({
    type: fc.constantFrom('integer' as const, 'number' as const),
    minimum: maybe(fc.integer({ min: -1, max: 3 })),
    maximum: maybe(fc.integer({ min: 2, max: 9 })),
    default: withDefaults ? maybe(fc.constant(2)) : fc.constant(undefined),
  });
  const plain = fc.record({ type: fc.constant('boolean' as const), nullable: maybe(fc.boolean()) });
  const { schema } = fc.letrec<{ schema: JsonSchema }>((tie) => ({
    schema: fc
      .oneof(
        { maxDepth: 3, depthSize: 'small' },
        fc.oneof(texts, numbers, plain),
        fc.record({
          type: fc.constant('array' as const),
          items: tie('schema'),
          minItems: maybe(fc.nat(1)),
          maxItems: maybe(fc.integer({ min: 1, max: 3 })),
        }),
        fc.record({
          type: fc.constant('object' as const),
          properties: objectOf(tie('schema')),
          required: fc.subarray(['a', 'b']),
          'x-kubernetes-preserve-unknown-fields': maybe(fc.constant(true)),
          default: withDefaults ? maybe(fc.constant({})) : fc.constant(undefined),
        }),
        fc.record({
          type: fc.constant('object' as const),
          additionalProperties: tie('schema'),
          maxProperties: maybe(fc.nat(2)),
        }),
      )
      .map(tidy),
  }));
  return schema;
}

/** Drops undefined members, and requires only declared fields, as real schemas do. */
function tidy(drawn: Readonly<Record<string, unknown>>): JsonSchema {
  const { properties, required } = drawn;
  const members = { ...drawn };
  if (isJsonObject(properties) && Array.isArray(required)) {
    members['required'] = required.filter((name: string) => Object.hasOwn(properties, name));
  }
  return Object.fromEntries(Object.entries(members).filter(([, member]) => member !== undefined));
}
