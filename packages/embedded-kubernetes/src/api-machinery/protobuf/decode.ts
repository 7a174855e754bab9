/**
 * Decodes objects of built-in kinds from protocol buffers, which typed clients prefer to JSON. The
 * schema of a kind says what each member is, and `messageFields` what it is called. The result is the
 * JSON that the same client would have sent.
 */
import {
  isJsonObject,
  type JsonObject,
  ownMember,
  setMember,
} from '@lockstep/kube/json/json-value.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { type MessageField, messageFields } from './message-field.ts';
import { decodeSpecial, signed, text } from './special-types.ts';
import { readFields, readVarints, WireError, type WireField } from './wire.ts';

export function decodeObject(schema: JsonSchema, message: Uint8Array): JsonObject {
  return decodeMessage(schema, schema.title ?? '', message, 0);
}

/** What precedes an object: its kind, and how the object itself is written. */
export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  readonly object: Uint8Array;
}

/** `runtime.Unknown` behind the four bytes that mark the format. */
export function openEnvelope(body: Uint8Array): Envelope {
  if (!MAGIC.every((byte, at) => body[at] === byte)) {
    throw new WireError(
      `provided data does not appear to be a protobuf message, expected prefix [${MAGIC.join(' ')}]`,
    );
  }
  const parts = byNumber(body.subarray(MAGIC.length));
  const type = byNumber(parts.get(1) ?? NOTHING);
  return {
    apiVersion: text(type.get(1) ?? NOTHING),
    kind: text(type.get(2) ?? NOTHING),
    object: parts.get(2) ?? NOTHING,
  };
}

/** `k8s` and a zero. */
const MAGIC: readonly number[] = [0x6b, 0x38, 0x73, 0x00];
/** Messages are as deep as schemas, which are not: only `JSONSchemaProps` could nest for ever. */
const MAX_DEPTH = 64;

const NOTHING = new Uint8Array();

function byNumber(message: Uint8Array): ReadonlyMap<number, Uint8Array> {
  const fields = new Map<number, Uint8Array>();
  for (const { number, value } of readFields(message)) {
    if (typeof value !== 'bigint') fields.set(number, value);
  }
  return fields;
}

function decodeMessage(
  schema: JsonSchema,
  title: string,
  message: Uint8Array,
  depth: number,
): Record<string, unknown> {
  if (depth > MAX_DEPTH) throw new WireError(`messages nest deeper than ${MAX_DEPTH}`);
  const fields = messageFields(title);
  if (fields === undefined) throw new WireError(`message ${title} is not known`);
  const object: Record<string, unknown> = {};
  for (const wire of readFields(message)) {
    const field = fields.get(wire.number);
    if (field === undefined) continue;
    if (field.inlined !== undefined) {
      Object.assign(object, decodeMessage(schema, field.inlined, bytesOf(wire), depth + 1));
    } else {
      const member = ownMember(schema.properties ?? {}, field.name);
      if (member !== undefined) addMember(object, member, field, wire, depth);
    }
  }
  return object;
}

function addMember(
  object: Record<string, unknown>,
  schema: JsonSchema,
  field: MessageField,
  wire: WireField,
  depth: number,
): void {
  const { name, isOptional } = field;
  if (schema.type === 'array') {
    const before = ownMember(object, name);
    const items: unknown[] = Array.isArray(before) ? before : [];
    items.push(...decodeItems(schema.items ?? {}, field, wire, depth));
    setMember(object, name, items);
  } else if (isMap(schema)) {
    const before = ownMember(object, name);
    const members: Record<string, unknown> = isJsonObject(before) ? { ...before } : {};
    const [key, value] = decodeEntry(schema, field, wire, depth);
    setMember(members, key, value);
    setMember(object, name, members);
  } else {
    const value = decodeValue(schema, field, wire, depth);
    if (value !== undefined && !(isOptional && isZero(value))) setMember(object, name, value);
  }
}

function isMap(schema: JsonSchema): boolean {
  return typeof schema.additionalProperties === 'object';
}

/** Numbers of a list may be packed into one field. */
function decodeItems(
  items: JsonSchema,
  field: MessageField,
  wire: WireField,
  depth: number,
): readonly unknown[] {
  if (items.type === 'integer' && typeof wire.value !== 'bigint') {
    return [...readVarints(wire.value)].map(signed);
  }
  return [decodeValue(items, field, wire, depth)];
}

/** An entry of a map is a message of a key and a value. */
function decodeEntry(
  schema: JsonSchema,
  field: MessageField,
  wire: WireField,
  depth: number,
): readonly [string, unknown] {
  const values = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : {};
  let key = '';
  let value: unknown;
  for (const part of readFields(bytesOf(wire))) {
    if (part.number === 1) key = text(bytesOf(part));
    if (part.number === 2) value = decodeValue(values, field, part, depth);
  }
  return [key, value ?? ''];
}

function decodeValue(
  schema: JsonSchema,
  field: MessageField,
  wire: WireField,
  depth: number,
): unknown {
  if (field.type !== undefined) return decodeSpecial(field.type, bytesOf(wire));
  switch (schema.type) {
    case 'boolean':
      return numberOf(wire) !== 0n;
    case 'integer':
    case 'number':
      return signed(numberOf(wire));
    case 'object':
      return decodeMessage(schema, schema.title ?? '', bytesOf(wire), depth + 1);
    case 'string':
      return text(bytesOf(wire));
    case 'array':
    case undefined:
      throw new WireError(`field ${field.name} cannot be read`);
    default:
      return schema.type satisfies never;
  }
}

function isZero(value: unknown): boolean {
  return value === '' || value === 0 || value === false;
}

function bytesOf({ number, value }: WireField): Uint8Array {
  if (typeof value === 'bigint') throw new WireError(`wrong wireType = 0 for field ${number}`);
  return value;
}

function numberOf({ number, value }: WireField): bigint {
  if (typeof value !== 'bigint') throw new WireError(`wrong wireType = 2 for field ${number}`);
  return value;
}
