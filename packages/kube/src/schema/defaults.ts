/**
 * Defaulting as the API server does it. A null where the schema is not nullable counts as absent;
 * then absent fields with a default are filled in, at every depth. Input is never changed; if
 * nothing is filled in, the same value comes back.
 */
import { isJsonObject, type JsonObject, ownMember, setMember } from '../json/json-value.ts';
import type { JsonSchema } from './json-schema.ts';

export function applyDefaults(schema: JsonSchema, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (isJsonObject(value)) return defaultMembers(schema, value);
  return Array.isArray(value) ? defaultItems(schema, value) : value;
}

/**
 * Nulls in lists stay unless the items have a default, because dropping one would move the others.
 */
function defaultItems(schema: JsonSchema, value: readonly unknown[]): readonly unknown[] {
  const { items } = schema;
  if (items === undefined) return value;
  let copy: unknown[] | undefined;
  for (let index = 0; index < value.length; index += 1) {
    const item = value[index];
    const filled = applyDefaults(items, isUnwantedNull(items, item) ? freshDefault(items) : item);
    if (filled === item || (filled === undefined && item === null)) continue;
    copy ??= [...value];
    copy[index] = filled;
  }
  return copy ?? value;
}

function defaultMembers(schema: JsonSchema, value: JsonObject): JsonObject {
  const { properties, additionalProperties } = schema;
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(value)) {
    const known = properties === undefined ? undefined : ownMember(properties, key);
    const below =
      known ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
    if (below === undefined) continue;
    const member = value[key];
    const present = isUnwantedNull(below, member) ? freshDefault(below) : member;
    const filled = applyDefaults(below, present);
    if (filled === member) continue;
    copy ??= { ...value };
    if (filled === undefined) delete copy[key];
    else setMember(copy, key, filled);
  }
  if (properties === undefined) return copy ?? value;
  for (const key of defaultedKeys(properties)) {
    const below = ownMember(properties, key);
    if (below === undefined || Object.hasOwn(value, key)) continue;
    copy ??= { ...value };
    setMember(copy, key, applyDefaults(below, freshDefault(below)));
  }
  return copy ?? value;
}

function isUnwantedNull(schema: JsonSchema, value: unknown): boolean {
  return value === null && schema.nullable !== true;
}

/** Copies the default, so that no two objects share one that may be edited later. */
function freshDefault(schema: JsonSchema): unknown {
  const { default: value } = schema;
  return typeof value === 'object' && value !== null
    ? structuredClone(value)
    : (value ?? undefined);
}

/** Caches the defaulted properties of a schema, because most have few. */
const KEYS_WITH_DEFAULT = new WeakMap<object, readonly string[]>();

function defaultedKeys(properties: Readonly<Record<string, JsonSchema>>): readonly string[] {
  const known = KEYS_WITH_DEFAULT.get(properties);
  if (known !== undefined) return known;
  const keys = Object.keys(properties).filter((key) => {
    const value = ownMember(properties, key)?.default;
    return value !== undefined && value !== null;
  });
  KEYS_WITH_DEFAULT.set(properties, keys);
  return keys;
}
