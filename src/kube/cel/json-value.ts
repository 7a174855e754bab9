/**
 * JSON as values of expressions, led by its schema: an `integer` is an int and a `number` a double
 * however they are written, formats become times, durations and bytes. Without a schema every safe
 * integer is an int. Nothing is converted before it is read, so a rule over one field of a large
 * object costs one field.
 */
import { isJsonObject, type JsonObject, ownMember } from '../json-value.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import { parseDuration } from './duration.ts';
import { escapedFieldName } from './field-name.ts';
import { resourceRuleSchema } from './schema-type.ts';
import { parseTimestamp } from './timestamp.ts';
import { CelError, CelList, CelMap, IN_ORDER, type ListKind, type Outcome } from './value.ts';

/** The value of `json`, which its schema has accepted already. */
export function fromJson(json: unknown, schema: JsonSchema | undefined): Outcome {
  if (json === null || json === undefined) return null;
  if (typeof json === 'boolean' || typeof json === 'bigint') return json;
  if (typeof json === 'number') return numberOf(json, schema);
  if (typeof json === 'string') return stringOf(json, schema);
  if (Array.isArray(json)) return listFrom(json, schema);
  if (json instanceof Uint8Array) return json;
  if (isJsonObject(json)) return mapFrom(json, schema);
  return new CelError(`invalid data, got ${typeof json}`);
}

function numberOf(json: number, schema: JsonSchema | undefined): Outcome {
  if (schema?.type === 'number') return json;
  const isInt = schema?.type === 'integer' ? Number.isInteger(json) : Number.isSafeInteger(json);
  return isInt ? BigInt(json) : json;
}

function stringOf(json: string, schema: JsonSchema | undefined): Outcome {
  if (schema?.type !== 'string') return json;
  const { format } = schema;
  const wrong = (): CelError => new CelError(`invalid data, expected ${format}, got ${json}`);
  if (format === 'byte') return Uint8Array.from(Buffer.from(json, 'base64'));
  if (format === 'duration') return parseDuration(json) ?? wrong();
  if (format === 'date') return parseTimestamp(`${json}T00:00:00Z`) ?? wrong();
  return format === 'date-time' ? (parseTimestamp(json) ?? wrong()) : json;
}

function listFrom(json: readonly unknown[], schema: JsonSchema | undefined): CelList {
  const items = schema?.items;
  return new CelList(json.length, (index) => fromJson(json[index], items), listKind(schema));
}

function listKind(schema: JsonSchema | undefined): ListKind {
  switch (schema?.['x-kubernetes-list-type']) {
    case 'set':
      return { by: 'Item' };
    case 'map':
      return { by: 'Key', keys: schema['x-kubernetes-list-map-keys'] ?? [] };
    case 'atomic':
    case undefined:
      return IN_ORDER;
  }
}

function mapFrom(json: JsonObject, schema: JsonSchema | undefined): CelMap {
  const { additionalProperties } = schema ?? {};
  const values = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  const fields = values === undefined && schema !== undefined ? fieldsOf(schema) : undefined;
  const member = (name: string): Outcome | undefined => {
    if (!Object.hasOwn(json, name)) return undefined;
    const declared = fields === undefined ? values : fields.schemas[name];
    return fromJson(json[name], declared);
  };
  return new CelMap({
    get size() {
      return Object.keys(json).length;
    },
    keys: () => Object.keys(json),
    get: (key) => (typeof key === 'string' ? member(key) : undefined),
    select: (name) => {
      const value = member(fields?.names.get(name) ?? name);
      // A declared field that is null counts as absent; a member of a map does not.
      return value === null && fields !== undefined ? undefined : value;
    },
  });
}

interface Fields {
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  /** By their escaped form, where that is another one. */
  readonly names: ReadonlyMap<string, string>;
}

const FIELDS = new WeakMap<JsonSchema, Fields>();

function fieldsOf(schema: JsonSchema): Fields {
  const known = FIELDS.get(schema);
  if (known !== undefined) return known;
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  const { properties = {} } = isEmbedded ? resourceRuleSchema(schema) : schema;
  const names = new Map<string, string>();
  const schemas: Record<string, JsonSchema> = Object.create(null);
  for (const name of Object.keys(properties)) {
    const property = ownMember(properties, name);
    if (property !== undefined) schemas[name] = property;
    const escaped = escapedFieldName(name);
    if (escaped !== undefined && escaped !== name) names.set(escaped, name);
  }
  const fields = { schemas, names };
  FIELDS.set(schema, fields);
  return fields;
}
