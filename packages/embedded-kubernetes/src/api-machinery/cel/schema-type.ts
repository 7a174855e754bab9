/**
 * The type that a structural schema declares, as Kubernetes derives it for its rules: maps from
 * `additionalProperties`, times and durations from formats, sizes from limits. An open schema
 * (`x-kubernetes-preserve-unknown-fields` without a type) has no type, so rules cannot name its
 * values.
 */
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { escapedFieldName } from './field-name.ts';
import { MAX_REQUEST_BYTES } from './limits.ts';
import {
  BOOL_TYPE,
  type CelType,
  DOUBLE_TYPE,
  DURATION_TYPE,
  DYN_TYPE,
  INT_TYPE,
  STRING_TYPE,
  TIMESTAMP_TYPE,
} from './type.ts';

/** The type of values of `schema`, the same object at each call; undefined if there is none. */
export function schemaType(schema: JsonSchema): CelType | undefined {
  if (TYPES.has(schema)) return TYPES.get(schema);
  const type = typeOf(schema);
  TYPES.set(schema, type);
  return type;
}

/** The schema of a whole object. Rules can name its kind and name, but no other metadata. */
export function resourceRuleSchema(schema: JsonSchema): JsonSchema {
  const known = RESOURCES.get(schema);
  if (known !== undefined) return known;
  const whole: JsonSchema = {
    ...schema,
    properties: {
      ...schema.properties,
      apiVersion: TEXT,
      kind: TEXT,
      metadata: { type: 'object', properties: { name: TEXT, generateName: TEXT } },
    },
  };
  RESOURCES.set(schema, whole);
  return whole;
}

/** The largest number of values of `schema` that fit into one request. */
export function mostInRequest(schema: JsonSchema): number {
  return Math.floor(MAX_REQUEST_BYTES / (leastBytes(schema) + 1));
}

const TEXT: JsonSchema = { type: 'string' };
const TYPES = new WeakMap<JsonSchema, CelType | undefined>();
const RESOURCES = new WeakMap<JsonSchema, JsonSchema>();

function typeOf(schema: JsonSchema): CelType | undefined {
  if (schema['x-kubernetes-int-or-string'] === true) return DYN_TYPE;
  switch (schema.type) {
    case 'boolean':
      return BOOL_TYPE;
    case 'integer':
      return INT_TYPE;
    case 'number':
      return DOUBLE_TYPE;
    case 'string':
      return stringType(schema);
    case 'array':
      return listType(schema);
    case 'object':
      return objectType(schema);
    case undefined:
      break;
  }
  return undefined;
}

function stringType({ format, maxLength, enum: values }: JsonSchema): CelType {
  if (format === 'byte') return { kind: 'bytes', maxSize: maxLength ?? MAX_TEXT_BYTES };
  if (format === 'duration') return DURATION_TYPE;
  if (format === 'date' || format === 'date-time') return TIMESTAMP_TYPE;
  if (maxLength !== undefined) return { kind: 'string', maxSize: maxLength * BYTES_OF_CHARACTER };
  const longest = values?.map((value) => (typeof value === 'string' ? value.length : 0));
  return {
    kind: 'string',
    maxSize: longest === undefined ? MAX_TEXT_BYTES : Math.max(0, ...longest),
  };
}

/** A code point takes up to four bytes of a request. */
const BYTES_OF_CHARACTER = 4;
/** A request without the quotes of one string. */
const MAX_TEXT_BYTES = MAX_REQUEST_BYTES - 2;

function listType({ items, maxItems }: JsonSchema): CelType | undefined {
  const element = items === undefined ? undefined : schemaType(items);
  if (items === undefined || element === undefined) return undefined;
  const most = Math.floor((MAX_REQUEST_BYTES - 2) / (leastBytes(items) + 1));
  return { kind: 'list', element, maxSize: maxItems ?? most };
}

function objectType(schema: JsonSchema): CelType | undefined {
  const { additionalProperties, maxProperties } = schema;
  if (typeof additionalProperties === 'object') {
    const value = schemaType(additionalProperties);
    if (value === undefined) return undefined;
    const most = Math.floor((MAX_REQUEST_BYTES - 2) / (leastBytes(additionalProperties) + 6));
    return { kind: 'map', key: STRING_TYPE, value, maxSize: maxProperties ?? most };
  }
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  const { properties = {} } = isEmbedded ? resourceRuleSchema(schema) : schema;
  const fields = new Map<string, CelType>();
  for (const [name, property] of Object.entries(properties)) {
    const escaped = escapedFieldName(name);
    const type = schemaType(property);
    if (escaped === undefined || type === undefined) continue;
    fields.set(escaped, type);
    // After a dot a reserved word is a name like any other, as in `metadata.namespace`.
    if (escaped === `__${name}__`) fields.set(name, type);
  }
  return { kind: 'object', fields };
}

/** The bytes of the shortest JSON of a value, which bounds how many fit into a request. */
function leastBytes(schema: JsonSchema): number {
  switch (schema.type) {
    case 'boolean':
      return 4;
    case 'integer':
    case 'number':
      return 1;
    case 'object':
      return 2 + leastMemberBytes(schema);
    case 'string':
      return LEAST_TEXT_BYTES.get(schema.format ?? '') ?? 2;
    case 'array':
      return 2;
    case undefined:
      break;
  }
  return 1;
}

const LEAST_TEXT_BYTES: ReadonlyMap<string, number> = new Map([
  ['date', 12],
  ['date-time', 22],
  ['duration', 4],
]);

/** The bytes of the required members, each with its name in quotes, a colon and a comma. */
function leastMemberBytes({ properties = {}, required = [] }: JsonSchema): number {
  let bytes = 0;
  for (const [name, property] of Object.entries(properties)) {
    if (!required.includes(name) || property.default !== undefined) continue;
    bytes += name.length + leastBytes(property) + 4;
  }
  return bytes;
}
