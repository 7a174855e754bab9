import { Ajv } from 'ajv';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { structuralErrors } from '../../api-machinery/definitions/structural.ts';
import { isJsonObject } from '../json/json-value.ts';
import { applyDefaults } from './defaults.ts';
import type { JsonSchema } from './json-schema.ts';
import { validateListTypes } from './list-types.ts';
import { prune } from './prune.ts';
import { validate } from './validate.ts';

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

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    objectOf(tie('value')),
  ),
}));

/** Structural schemas; `withDefaults` adds defaults that are valid by themselves. */
function schemas(withDefaults: boolean): fc.Arbitrary<JsonSchema> {
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

test('pruning twice prunes once, and never changes what it was given', () => {
  fc.assert(
    fc.property(schemas(true), value, (schema, given) => {
      const before = JSON.stringify(given);
      const { value: kept } = prune(schema, given);
      expect(prune(schema, kept)).toEqual({ value: kept, pruned: [] });
      expect(prune(schema, kept).value).toBe(kept);
      expect(JSON.stringify(given)).toBe(before);
    }),
  );
});

test('filling in twice fills in once, and never changes what it was given', () => {
  fc.assert(
    fc.property(schemas(true), value, (schema, given) => {
      const before = JSON.stringify(given);
      const filled = applyDefaults(schema, given);
      expect(applyDefaults(schema, filled)).toBe(filled);
      expect(JSON.stringify(given)).toBe(before);
    }),
  );
});

test('keeps a valid value valid when its unknown fields are pruned', () => {
  fc.assert(
    fc.property(schemas(false), value, (schema, given) => {
      fc.pre(validate(schema, given).length === 0);
      expect(validate(schema, prune(schema, given).value)).toEqual([]);
    }),
  );
});

test('no value and no schema of any shape makes the engine throw', () => {
  fc.assert(
    fc.property(schemas(true), fc.jsonValue(), (schema, given) => {
      const { value: kept } = prune(schema, given);
      const filled = applyDefaults(schema, kept);
      validate(schema, filled);
      validateListTypes(schema, filled);
      structuralErrors(schema, 'S');
    }),
  );
});

test('an independent validator agrees on which values are valid', () => {
  const ajv = new Ajv({ strict: false, validateFormats: false });
  fc.assert(
    fc.property(schemas(false), value, (schema, given) => {
      // The reference validator does not guard against prototypes.
      fc.pre(!JSON.stringify([schema, given]).includes('__proto__'));
      fc.pre(!mentionsConstructor(schema) && !mentionsConstructor(given));
      const isValid = validate(schema, given).length === 0;
      expect(isValid).toBe(ajv.compile(schema)(given));
    }),
    { numRuns: 300 },
  );
});

function mentionsConstructor(of: unknown): boolean {
  if (Array.isArray(of)) return of.some(mentionsConstructor);
  if (!isJsonObject(of)) return false;
  return Object.hasOwn(of, 'constructor') || Object.values(of).some(mentionsConstructor);
}
