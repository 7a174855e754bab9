/**
 * Presents JSON as values of expressions, led by its schema. An `integer` becomes an int and a
 * `number` a double, however they are written; formats become times, durations and bytes. Without a
 * schema, every safe integer becomes an int. Values are converted only when read, so a rule about
 * one field of a large object costs one field. How to read by a schema is worked out once.
 */
import { isJsonObject, type JsonObject, ownMember } from '@lockstep/kube/json/json-value.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { parseDuration } from './duration.ts';
import { escapedFieldName } from './field-name.ts';
import { resourceRuleSchema } from './schema-type.ts';
import { parseTimestamp } from './timestamp.ts';
import { CelError, CelList, CelMap, type CelResult, IN_ORDER, type ListKind } from './value.ts';

/** The value of `json`, which its schema has already accepted. */
export function fromJson(json: unknown, schema: JsonSchema | undefined): CelResult {
  return schema === undefined ? readAnything(json) : readerOf(schema)(json);
}

type Reader = (json: unknown) => CelResult;

const READERS = new WeakMap<JsonSchema, Reader>();

function readerOf(schema: JsonSchema): Reader {
  const known = READERS.get(schema);
  if (known !== undefined) return known;
  const reader = makeReader(schema);
  READERS.set(schema, reader);
  return reader;
}

function makeReader(schema: JsonSchema): Reader {
  if (schema['x-kubernetes-int-or-string'] === true) return readAnything;
  switch (schema.type) {
    case 'integer':
      return (json) => (Number.isInteger(json) ? BigInt(Number(json)) : readAnything(json));
    case 'number':
      return (json) => (typeof json === 'number' ? json : readAnything(json));
    case 'string':
      return formatReader(schema.format);
    case 'array':
      return listReader(schema);
    case 'object':
      return mapReader(schema);
    case 'boolean':
    case undefined:
      break;
  }
  return readAnything;
}

function readAnything(json: unknown): CelResult {
  if (json === null || json === undefined) return null;
  if (typeof json === 'string' || typeof json === 'boolean' || typeof json === 'bigint') {
    return json;
  }
  if (typeof json === 'number') return Number.isSafeInteger(json) ? BigInt(json) : json;
  if (json instanceof Uint8Array) return json;
  if (Array.isArray(json)) return new JsonList(json, readAnything, IN_ORDER);
  if (isJsonObject(json)) return new JsonMap(json, ANY_MEMBERS);
  return new CelError(`invalid data, got ${typeof json}`);
}

function formatReader(format: string | undefined): Reader {
  const parsed = (parse: (text: string) => CelResult | undefined): Reader => {
    const wrong = (text: string) => new CelError(`invalid data, expected ${format}, got ${text}`);
    return (json) => (typeof json === 'string' ? (parse(json) ?? wrong(json)) : readAnything(json));
  };
  if (format === 'byte') return parsed((text) => Uint8Array.from(Buffer.from(text, 'base64')));
  if (format === 'duration') return parsed(parseDuration);
  if (format === 'date') return parsed((text) => parseTimestamp(`${text}T00:00:00Z`));
  return format === 'date-time' ? parsed(parseTimestamp) : readAnything;
}

function listReader(schema: JsonSchema): Reader {
  const kind = listKind(schema);
  const item = schema.items === undefined ? readAnything : readerOf(schema.items);
  return (json) => (Array.isArray(json) ? new JsonList(json, item, kind) : readAnything(json));
}

function listKind(schema: JsonSchema): ListKind {
  const listType = schema['x-kubernetes-list-type'];
  if (listType === 'set') return { by: 'Item' };
  if (listType !== 'map') return IN_ORDER;
  return { by: 'Key', keys: schema['x-kubernetes-list-map-keys'] ?? [] };
}

class JsonList extends CelList {
  readonly #json: readonly unknown[];
  readonly #read: Reader;
  override readonly kind: ListKind;

  constructor(json: readonly unknown[], read: Reader, kind: ListKind) {
    super();
    this.#json = json;
    this.#read = read;
    this.kind = kind;
  }

  override get size(): number {
    return this.#json.length;
  }

  override at(index: number): CelResult {
    return this.#read(this.#json[index]);
  }
}

/** How the members of an object are found and read. */
interface Members {
  /** Declared fields by their names, and by their escaped names. */
  readonly fields: ReadonlyMap<string, Field>;
  readonly selected: ReadonlyMap<string, Field>;
  /** Reads members that are not declared. */
  readonly others: Reader;
}

interface Field {
  readonly name: string;
  readonly read: Reader;
}

const ANY_MEMBERS: Members = { fields: new Map(), selected: new Map(), others: readAnything };

function mapReader(schema: JsonSchema): Reader {
  const members = membersOf(schema);
  return (json) => (isJsonObject(json) ? new JsonMap(json, members) : readAnything(json));
}

function membersOf(schema: JsonSchema): Members {
  const { additionalProperties } = schema;
  if (typeof additionalProperties === 'object') {
    return { ...ANY_MEMBERS, others: readerOf(additionalProperties) };
  }
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  const { properties = {} } = isEmbedded ? resourceRuleSchema(schema) : schema;
  const fields = new Map<string, Field>();
  const selected = new Map<string, Field>();
  for (const name of Object.keys(properties)) {
    const property = ownMember(properties, name);
    const escaped = escapedFieldName(name);
    if (property === undefined) continue;
    const field = { name, read: readerOf(property) };
    fields.set(name, field);
    selected.set(name, field);
    if (escaped !== undefined) selected.set(escaped, field);
  }
  return { fields, selected, others: readAnything };
}

class JsonMap extends CelMap {
  readonly #json: JsonObject;
  readonly #members: Members;

  constructor(json: JsonObject, members: Members) {
    super();
    this.#json = json;
    this.#members = members;
  }

  override get size(): number {
    return Object.keys(this.#json).length;
  }

  override keys(): readonly string[] {
    return Object.keys(this.#json);
  }

  override get(key: unknown): CelResult | undefined {
    if (typeof key !== 'string' || !Object.hasOwn(this.#json, key)) return undefined;
    const { fields, others } = this.#members;
    return (fields.get(key)?.read ?? others)(this.#json[key]);
  }

  override select(name: string): CelResult | undefined {
    const field = this.#members.selected.get(name);
    if (field === undefined) return this.get(name);
    if (!Object.hasOwn(this.#json, field.name)) return undefined;
    // A declared field that is null counts as absent; a member of a map does not.
    return field.read(this.#json[field.name]) ?? undefined;
  }
}
