/**
 * Decides by its schema how a value is merged: as a whole, member by member, or element by element.
 * A value that the schema does not know is merged by its form: objects member by member, everything
 * else as a whole.
 */
import { isJsonObject, type JsonObject, ownMember } from '@lockstep/kube/json/json-value.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { keyElement, type PathElement, valueElement } from './path-element.ts';

export type MergeType = 'Leaf' | 'List' | 'Map';

/** Null counts as an empty list or object where the schema has one. */
export function mergeTypeOf(schema: JsonSchema | undefined, value: unknown): MergeType {
  if (Array.isArray(value)) return isAssociative(schema) ? 'List' : 'Leaf';
  if (isJsonObject(value)) return isAtomicMap(schema) ? 'Leaf' : 'Map';
  if (value !== null) return 'Leaf';
  if (isAssociative(schema)) return 'List';
  const isObject = schema === undefined || schema.type === 'object';
  return isObject && !isAtomicMap(schema) ? 'Map' : 'Leaf';
}

function isAssociative(schema: JsonSchema | undefined): boolean {
  const type = schema?.['x-kubernetes-list-type'];
  return type === 'map' || type === 'set';
}

/** An untyped schema says nothing of members, so its value is merged as a whole. */
function isAtomicMap(schema: JsonSchema | undefined): boolean {
  if (schema === undefined) return false;
  if (schema['x-kubernetes-map-type'] === 'atomic') return true;
  return schema.type === undefined && schema['x-kubernetes-preserve-unknown-fields'] !== true;
}

/** Whether objects of the schema have this field by name, so that it is not an entry of a map. */
export function isNamedField(schema: JsonSchema | undefined, name: string): boolean {
  return schema?.properties !== undefined && ownMember(schema.properties, name) !== undefined;
}

/** The schema of a member; undefined for one that is merged by its form. */
export function memberSchema(schema: JsonSchema | undefined, name: string): JsonSchema | undefined {
  const known = schema?.properties && ownMember(schema.properties, name);
  if (known !== undefined) return known;
  const additional = schema?.additionalProperties;
  return typeof additional === 'object' ? additional : undefined;
}

/** Whether a schema allows a member that it does not name. */
export function isOpen(schema: JsonSchema | undefined): boolean {
  if (schema === undefined || schema['x-kubernetes-preserve-unknown-fields'] === true) return true;
  const { properties, additionalProperties } = schema;
  if (additionalProperties !== undefined) return additionalProperties !== false;
  return properties === undefined || Object.keys(properties).length === 0;
}

/** The key that identifies an element of a list; a text says why there is none. */
export function listElement(
  schema: JsonSchema | undefined,
  item: unknown,
): { readonly element: PathElement } | { readonly problem: string } {
  if (schema?.['x-kubernetes-list-type'] === 'map') return keyedElement(schema, item);
  if (isJsonObject(item)) {
    return { problem: "associative list without keys has an element that's a map type" };
  }
  if (Array.isArray(item)) {
    return { problem: 'not supported: associative list with lists as elements' };
  }
  if (item === null) {
    return { problem: "associative list without keys has an element that's an explicit null" };
  }
  return { element: valueElement(item) };
}

function keyedElement(
  schema: JsonSchema,
  item: unknown,
): { readonly element: PathElement } | { readonly problem: string } {
  if (item === null) {
    return { problem: 'associative list with keys may not have a null element' };
  }
  if (!isJsonObject(item)) {
    return { problem: 'associative list with keys may not have non-map elements' };
  }
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const fields = keyFields(schema, keys, item);
  if (Object.keys(fields).length > 0) return { element: keyElement(fields) };
  const names = keys.map((key) => JSON.stringify(key)).join(' ');
  const omitted = `omits all key fields [${names}]`;
  return {
    problem: `associative list with keys has an element that ${omitted} (and doesn't have default values for any key fields)`,
  };
}

function keyFields(schema: JsonSchema, keys: readonly string[], item: JsonObject): JsonObject {
  const fields: Record<string, unknown> = {};
  for (const key of keys) {
    const value = ownMember(item, key) ?? defaultKey(schema.items, key);
    if (value !== undefined) fields[key] = value;
  }
  return fields;
}

/** Built-in kinds, whose schemas have titles, take a missing required key as empty, as Go does. */
function defaultKey(items: JsonSchema | undefined, key: string): unknown {
  const schema = memberSchema(items, key);
  if (schema?.default !== undefined) return schema.default;
  if (items?.title === undefined || items.required?.includes(key) !== true) return undefined;
  return schema?.type === 'integer' ? 0 : '';
}
