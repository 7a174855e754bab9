import { tooMany } from '../field-error.ts';
import { isJsonObject, ownMember } from '../json/json-value.ts';
import type { FieldError } from '../status.ts';
import type { JsonSchema } from './json-schema.ts';

/**
 * The lists that have more items than their schema allows. Their items are not looked at, so this takes
 * little time for any value. Where it finds none, all lists are of bounded length.
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
