import { tooMany } from '../field-error.ts';
import { isJsonObject, ownMember } from '../json-value.ts';
import type { FieldError } from '../status.ts';
import type { JsonSchema } from './json-schema.ts';

/**
 * The lists that have more items than their schema lets them. What is in those is not looked at, so that
 * this takes no longer than the value deserves; whoever goes on only if there are none works on lists of
 * bounded length.
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
