/** Bounds of one value: lengths, sizes, numbers, patterns. Texts are the API server's. */
import { invalidValue, tooMany } from '../field-error.ts';
import { isJsonObject, jsonTypeOf, ownMember } from '../json/json-value.ts';
import { type CompiledPattern, compilePattern } from '../pattern-cache.ts';
import type { FieldError } from '../status.ts';
import type { JsonSchema } from './json-schema.ts';

/** Problems of `value` itself with the bounds of `schema`. */
export function checkLimits(schema: JsonSchema, value: unknown, path: string): FieldError[] {
  if (typeof value === 'string') return checkString(schema, value, path);
  if (typeof value === 'number') return checkNumber(schema, value, path);
  if (Array.isArray(value)) return checkArray(schema, value, path);
  return isJsonObject(value) ? checkMembers(schema, Object.keys(value).length, path) : [];
}

/** Reports only the first problem of a string. */
function checkString(schema: JsonSchema, value: string, path: string): FieldError[] {
  const { minLength, maxLength, pattern } = schema;
  if (maxLength !== undefined && exceedsCharacters(value, maxLength)) {
    const unit = maxLength === 1 ? 'byte' : 'bytes';
    return [
      {
        type: 'FieldValueTooLong',
        field: path,
        badValue: '<value omitted>',
        detail: `may not be more than ${maxLength} ${unit}`,
      },
    ];
  }
  if (minLength !== undefined && minLength > 0 && !exceedsCharacters(value, minLength - 1)) {
    return [invalid(path, value, `should be at least ${minLength} chars long`)];
  }
  if (pattern === undefined || pattern === '') return [];
  switch (matchesPattern(schema, pattern, value)) {
    case 'matches':
      return [];
    case 'differs':
      return [invalid(path, value, `should match '${pattern}'`)];
    case 'malformed':
      return [invalid(path, value, `should match '${pattern}, but pattern is invalid'`)];
  }
}

/** Counts characters in code points, not in UTF-16 units. */
function exceedsCharacters(value: string, limit: number): boolean {
  if (value.length <= limit) return false;
  let count = 0;
  for (const _ of value) {
    count += 1;
    if (count > limit) return true;
  }
  return false;
}

const INT32_MAX = 2_147_483_647;
const INT32_MIN = -2_147_483_648;

function checkNumber(schema: JsonSchema, value: number, path: string): FieldError[] {
  const { type, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const errors: FieldError[] = [];
  if (type === 'integer' && !isInRange(schema.format, value)) {
    const isNamed = schema.format === 'int32' || schema.format === 'int64';
    const format = isNamed ? `with format ${schema.format}` : '(default format)';
    const detail = `Checked value must be of type integer ${format} in ${path}`;
    errors.push(invalidValue('<nil>', '', detail));
  }
  if (multipleOf !== undefined && !Number.isInteger(value / multipleOf)) {
    errors.push(invalid(path, value, `should be a multiple of ${multipleOf}`));
  }
  if (maximum !== undefined && (exclusiveMaximum === true ? value >= maximum : value > maximum)) {
    const bound = exclusiveMaximum === true ? 'less than' : 'less than or equal to';
    errors.push(invalid(path, value, `should be ${bound} ${maximum}`));
  }
  if (minimum !== undefined && (exclusiveMinimum === true ? value <= minimum : value < minimum)) {
    const bound = exclusiveMinimum === true ? 'greater than' : 'greater than or equal to';
    errors.push(invalid(path, value, `should be ${bound} ${minimum}`));
  }
  return errors;
}

function isInRange(format: string | undefined, value: number): boolean {
  if (jsonTypeOf(value) !== 'integer') return false;
  return format !== 'int32' || (value <= INT32_MAX && value >= INT32_MIN);
}

function checkArray(schema: JsonSchema, value: readonly unknown[], path: string): FieldError[] {
  const { minItems, maxItems, uniqueItems } = schema;
  const errors: FieldError[] = [];
  if (minItems !== undefined && value.length < minItems) {
    errors.push(invalid(path, value.length, `should have at least ${minItems} items`));
  }
  if (maxItems !== undefined && value.length > maxItems) {
    errors.push(tooMany(path, value.length, maxItems));
  }
  if (
    uniqueItems === true &&
    new Set(value.map((item) => JSON.stringify(item))).size < value.length
  ) {
    errors.push(invalid(path, '', "shouldn't contain duplicates"));
  }
  return errors;
}

function checkMembers(schema: JsonSchema, size: number, path: string): FieldError[] {
  const { minProperties, maxProperties } = schema;
  const errors: FieldError[] = [];
  if (minProperties !== undefined && size < minProperties) {
    errors.push(invalid(path, size, `should have at least ${minProperties} properties`));
  }
  if (maxProperties !== undefined && size > maxProperties) {
    errors.push(tooMany(path, size, maxProperties));
  }
  return errors;
}

function invalid(path: string, badValue: unknown, problem: string): FieldError {
  return invalidValue(path, badValue, `${path} in body ${problem}`);
}

/** A pattern is compiled when it is first needed and lives as long as the schema that holds it. */
const COMPILED = new WeakMap<object, CompiledPattern>();

/**
 * Whether `value` holds a match of `pattern`, which belongs to `schema`. RE2JS
 * matches in linear time, so no schema and no value can stall the caller.
 */
function matchesPattern(
  schema: object,
  pattern: string,
  value: string,
): 'matches' | 'differs' | 'malformed' {
  let compiled = COMPILED.get(schema);
  if (compiled === undefined) {
    compiled = compilePattern(pattern);
    COMPILED.set(schema, compiled);
  }
  if ('defect' in compiled) return 'malformed';
  return compiled.pattern.test(value) ? 'matches' : 'differs';
}

/**
 * Finds the lists that have more items than their schema allows. It never looks at the items of such
 * a list, so it takes little time for any value; after it, every list has a bounded length.
 */
export function overlongLists(schema: JsonSchema, value: unknown, path = ''): FieldError[] {
  if (Array.isArray(value)) {
    const { items, maxItems = Number.POSITIVE_INFINITY } = schema;
    if (value.length > maxItems) return [tooMany(path, value.length, maxItems)];
    if (items === undefined) return [];
    return value.flatMap((item, index) => overlongLists(items, item, `${path}[${index}]`));
  }
  const { properties } = schema;
  if (properties === undefined || !isJsonObject(value)) return [];
  return Object.keys(value).flatMap((key) => {
    const known = ownMember(properties, key);
    if (known === undefined) return [];
    return overlongLists(known, value[key], path === '' ? key : `${path}.${key}`);
  });
}
