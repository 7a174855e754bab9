/**
 * Turns a built-in schema into the form that a CustomResourceDefinition may hold and that Go's
 * generators write: no titles, no patch metadata, object metadata reduced to the fields of a
 * template, quantities as int-or-string, and keys of list maps always present.
 */

import { isJsonObject } from '../json/json-value.ts';
import { map, object, set, string } from './builders.ts';
import { OBJECT_META_TITLE, QUANTITY } from './definitions.ts';
import type { JsonSchema } from './json-schema.ts';

/** `schema` in the form that `spec.versions[].schema.openAPIV3Schema` of a CRD takes. */
export function customResourceSchema(schema: JsonSchema): JsonSchema {
  if (schema.title === QUANTITY.title) return reworded(schema, CUSTOM_RESOURCE_QUANTITY);
  if (schema.title === OBJECT_META_TITLE) return reworded(schema, TEMPLATE_METADATA);
  const {
    title: _title,
    'x-kubernetes-patch-strategy': _strategy,
    'x-kubernetes-patch-merge-key': _mergeKey,
    ...kept
  } = schema;
  const { properties, items, additionalProperties } = kept;
  return {
    ...kept,
    ...(properties === undefined ? {} : objectMembers(properties, kept.required ?? [])),
    ...(items === undefined
      ? {}
      : { items: withKeys(customResourceSchema(items), kept['x-kubernetes-list-map-keys'] ?? []) }),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: customResourceSchema(additionalProperties) }
      : {}),
  };
}

/** In custom resources a quantity is a whole number or a text; a fraction must be a text. */
const CUSTOM_RESOURCE_QUANTITY: JsonSchema = {
  'x-kubernetes-int-or-string': true,
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  pattern:
    '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
};

export function isQuantity({ pattern }: JsonSchema): boolean {
  return pattern === CUSTOM_RESOURCE_QUANTITY.pattern;
}

/** Metadata of a template: fields that its author may set, without those that only a server can. */
const TEMPLATE_METADATA = object({
  name: string(),
  namespace: string(),
  labels: map(string()),
  annotations: map(string()),
  finalizers: set(string()),
});

function reworded({ description }: JsonSchema, replacement: JsonSchema): JsonSchema {
  return description === undefined ? replacement : { ...replacement, description };
}

/**
 * A server of built-in kinds reads a missing object as an empty one, and then reports its missing
 * members. An empty default would be invalid here, so the object itself is required.
 */
function objectMembers(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
): Pick<JsonSchema, 'properties' | 'required'> {
  const entries = Object.entries(properties);
  const missed = entries.filter(([, { default: value }]) => isEmptyObject(value));
  const names = new Set([...required, ...missed.map(([name]) => name)]);
  const members = entries.map(([name, property]) => {
    const { default: value, ...rest } = property;
    return [name, customResourceSchema(isEmptyObject(value) ? rest : property)] as const;
  });
  return {
    properties: Object.fromEntries(members),
    ...(names.size === 0 ? {} : { required: [...names] }),
  };
}

function isEmptyObject(value: unknown): boolean {
  return isJsonObject(value) && Object.keys(value).length === 0;
}

/**
 * Keys of a list map must be required or have a default; otherwise a real server refuses the
 * schema.
 */
function withKeys(items: JsonSchema, keys: readonly string[]): JsonSchema {
  const { properties, required = [] } = items;
  const open = keys.filter(
    (key) => !required.includes(key) && properties?.[key]?.default === undefined,
  );
  if (open.length === 0 || properties === undefined) return items;
  const keyed = open.map((key) => [key, { ...properties[key], default: '' }] as const);
  return { ...items, properties: { ...properties, ...Object.fromEntries(keyed) } };
}
