/**
 * Validates a value against a structural schema, with the paths and texts of the API server
 * (`apiextensions` over `kube-openapi`). It interprets the schema and compiles only patterns.
 * `prune` handles unknown fields, and `validateListTypes` the uniqueness in lists, for custom
 * resources only; CEL rules are not evaluated. Recursion follows the schema, so a value can be
 * arbitrarily deep.
 */
import { invalidValue, required as requiredField } from '../field-error.ts';
import { isJsonObject, type JsonObject, jsonTypeOf, ownMember } from '../json/json-value.ts';
import type { FieldError } from '../status.ts';
import type { JsonSchema } from './json-schema.ts';
import { checkLimits } from './limits.ts';
import { checkType } from './type-check.ts';

/** All problems of `value`; none means that it is valid. */
export function validate(schema: JsonSchema, value: unknown): FieldError[] {
  const errors: FieldError[] = [];
  validateValue(schema, value, '', errors);
  return errors;
}

/** Stands in place of a field if the API server cannot tie the problem to one. */
const NO_FIELD = '<nil>';

function validateValue(
  schema: JsonSchema,
  value: unknown,
  path: string,
  errors: FieldError[],
): void {
  const mistyped = checkType(schema, value, path);
  if (mistyped !== undefined) errors.push(mistyped);
  if (value === null || value === undefined) {
    checkEnum(schema, value, path, errors);
    return;
  }
  checkAlternatives(schema, value, path, errors);
  errors.push(...checkLimits(schema, value, path));
  checkEnum(schema, value, path, errors);
  if (Array.isArray(value)) validateItems(schema, value, path, errors);
  else if (isJsonObject(value)) validateMembers(schema, value, path, errors);
}

function validateItems(
  schema: JsonSchema,
  value: readonly unknown[],
  path: string,
  errors: FieldError[],
): void {
  const { items } = schema;
  if (items === undefined) return;
  value.forEach((item, index) => {
    validateValue(items, item, `${path}[${index}]`, errors);
  });
}

function validateMembers(
  schema: JsonSchema,
  value: JsonObject,
  path: string,
  errors: FieldError[],
): void {
  const { properties, additionalProperties, required } = schema;
  for (const key of Object.keys(value)) {
    const known = properties === undefined ? undefined : ownMember(properties, key);
    const below =
      known ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
    if (below !== undefined) validateValue(below, value[key], childPath(path, key), errors);
    else if (additionalProperties === false) {
      const detail = `${path}.${key} in body is a forbidden property`;
      errors.push(invalidValue(path === '' ? NO_FIELD : path, '', detail));
    }
  }
  for (const key of required ?? []) {
    if (!Object.hasOwn(value, key)) errors.push(requiredField(childPath(path, key)));
  }
}

function childPath(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

function checkEnum(schema: JsonSchema, value: unknown, path: string, errors: FieldError[]): void {
  const { enum: allowed } = schema;
  if (allowed === undefined || allowed.length === 0) return;
  if (allowed.some((candidate) => isSame(candidate, value))) return;
  const names = allowed.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
  errors.push({
    type: 'FieldValueNotSupported',
    field: path === '' ? NO_FIELD : path,
    badValue: value ?? null,
    detail: `supported values: ${names.map((name) => JSON.stringify(name)).join(', ')}`,
  });
}

function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  const type = jsonTypeOf(left);
  return (
    (type === 'object' || type === 'array') &&
    type === jsonTypeOf(right) &&
    JSON.stringify(left) === JSON.stringify(right)
  );
}

/**
 * Checks `anyOf`, `oneOf`, `allOf` and `not`. If all alternatives fail, the nearest one explains
 * why.
 */
function checkAlternatives(
  schema: JsonSchema,
  value: unknown,
  path: string,
  errors: FieldError[],
): void {
  const { anyOf, oneOf, allOf, not } = schema;
  if (anyOf !== undefined && anyOf.length > 0) {
    const outcomes = validateEach(anyOf, value, path);
    if (!outcomes.some((outcome) => outcome.length === 0)) {
      errors.push(unfielded(path, 'must validate at least one schema (anyOf)'));
      errors.push(...nearest(outcomes));
    }
  }
  if (oneOf !== undefined && oneOf.length > 0) {
    const outcomes = validateEach(oneOf, value, path);
    const valid = outcomes.filter((outcome) => outcome.length === 0).length;
    if (valid !== 1) {
      const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
      errors.push(unfielded(path, `must validate one and only one schema (oneOf). ${found}`));
      if (valid === 0) errors.push(...nearest(outcomes));
    }
  }
  if (allOf !== undefined && allOf.length > 0) {
    const outcomes = validateEach(allOf, value, path);
    const failed = outcomes.filter((outcome) => outcome.length > 0);
    errors.push(...failed.flat());
    if (failed.length > 0) {
      const none = failed.length === allOf.length ? '. None validated' : '';
      errors.push(unfielded(path, `must validate all the schemas (allOf)${none}`));
    }
  }
  if (not !== undefined && validateEach([not], value, path)[0]?.length === 0) {
    errors.push(unfielded(path, 'must not validate the schema (not)'));
  }
}

function validateEach(
  schemas: readonly JsonSchema[],
  value: unknown,
  path: string,
): FieldError[][] {
  return schemas.map((schema) => {
    const errors: FieldError[] = [];
    validateValue(schema, value, path, errors);
    return errors;
  });
}

/** The first alternative with the fewest errors that name a field. */
function nearest(outcomes: readonly FieldError[][]): readonly FieldError[] {
  const weight = (errors: readonly FieldError[]): number =>
    errors.filter(({ field }) => field !== NO_FIELD).length;
  return outcomes.reduce((best, next) => (weight(next) < weight(best) ? next : best));
}

function unfielded(path: string, detail: string): FieldError {
  return invalidValue(NO_FIELD, '', `${JSON.stringify(path)} ${detail}`);
}
