/**
 * Checks that items of a `set` and keys of a `map` are unique. The API server does so for custom
 * resources; the validation of each built-in kind does it for that kind.
 */
import { duplicate, invalidValue } from '../field-error.ts';
import { isJsonObject, ownMember, setMember } from '../json/json-value.ts';
import type { FieldError } from '../status.ts';
import type { JsonSchema } from './json-schema.ts';

/** One error for each value that occurs more than once, at its second occurrence. */
export function validateListTypes(schema: JsonSchema, value: unknown): FieldError[] {
  const errors: FieldError[] = [];
  visit(schema, value, '', errors);
  return errors;
}

function visit(schema: JsonSchema, value: unknown, path: string, errors: FieldError[]): void {
  if (Array.isArray(value)) {
    visitList(schema, value, path, errors);
  } else if (isJsonObject(value)) {
    const { properties, additionalProperties } = schema;
    for (const key of Object.keys(value)) {
      const known = properties === undefined ? undefined : ownMember(properties, key);
      if (known !== undefined)
        visit(known, value[key], path === '' ? key : `${path}.${key}`, errors);
      else if (typeof additionalProperties === 'object') {
        visit(additionalProperties, value[key], `${path}[${key}]`, errors);
      }
    }
  }
}

function visitList(
  schema: JsonSchema,
  value: readonly unknown[],
  path: string,
  errors: FieldError[],
): void {
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      reportRepeated(value, path, errors);
      break;
    case 'map': {
      const stranger = value.findIndex((item) => item !== null && !isJsonObject(item));
      if (stranger >= 0) {
        const detail = 'must be an object for an array of list-type map';
        errors.push(invalidValue(`${path}[${stranger}]`, value[stranger], detail));
        return;
      }
      const keys = schema['x-kubernetes-list-map-keys'] ?? [];
      reportRepeated(
        value.map((item) => keyOf(item, keys)),
        path,
        errors,
      );
      break;
    }
    case 'atomic':
    case undefined:
      break;
  }
  const { items } = schema;
  if (items === undefined) return;
  value.forEach((item, index) => {
    visit(items, item, `${path}[${index}]`, errors);
  });
}

function keyOf(item: unknown, keys: readonly string[]): unknown {
  const key: Record<string, unknown> = {};
  if (!isJsonObject(item)) return key;
  for (const name of keys) {
    if (Object.hasOwn(item, name)) setMember(key, name, item[name]);
  }
  return key;
}

function reportRepeated(values: readonly unknown[], path: string, errors: FieldError[]): void {
  if (values.length <= 1) return;
  const timesSeen = new Map<string, number>();
  values.forEach((value, index) => {
    const text = JSON.stringify(value);
    const times = timesSeen.get(text) ?? 0;
    timesSeen.set(text, times + 1);
    if (times === 1) errors.push(duplicate(`${path}[${index}]`, value));
  });
}
