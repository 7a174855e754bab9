import { Ajv } from 'ajv';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isJsonObject } from '../json/json-value.ts';
import { applyDefaults } from './defaults.ts';
import { schemas, value } from './drawn-schemas.fixture.ts';
import { validateListTypes } from './list-types.ts';
import { prune } from './prune.ts';
import { validate } from './validate.ts';

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
