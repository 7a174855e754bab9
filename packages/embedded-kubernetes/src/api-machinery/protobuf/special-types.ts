/**
 * Decodes messages whose JSON is not an object of their fields: quantities, times, IntOrString, bytes
 * and raw JSON.
 */
import { microTimeText, timeText } from '@lockstep/kube/time.ts';
import type { SpecialType } from './message-field.ts';
import { readFields, WireError } from './wire.ts';

/** The JSON value of a message that JSON writes as a plain value; undefined for a time that is zero. */
export function decodeSpecial(type: SpecialType, message: Uint8Array): unknown {
  switch (type) {
    case 'Quantity':
      return text(partOf(message, 1)) || '0';
    case 'Time':
      return time(message, timeText);
    case 'MicroTime':
      return time(message, microTimeText);
    case 'IntOrString':
      return numberIn(message, 1) === 0 ? numberIn(message, 2) : text(partOf(message, 3));
    case 'Bytes':
      return Buffer.from(message).toString('base64');
    case 'RawJson':
      return rawJson(partOf(message, 1));
    case 'ExtraValue':
      return partsOf(message, 1).map(text);
    default:
      return type satisfies never;
  }
}

export function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** A varint as the signed number that it stands for. */
export function signed(value: bigint): number {
  return Number(BigInt.asIntN(64, value));
}

function time(message: Uint8Array, format: (ms: number) => string): string | undefined {
  if (message.byteLength === 0) return undefined;
  const ms = numberIn(message, 1) * 1_000 + Math.floor(numberIn(message, 2) / 1_000_000);
  if (Math.abs(ms) > LAST_TIME_MS) throw new WireError('a time is out of range');
  return format(ms);
}

/** The end of the year 9999, after which RFC 3339 has no times. */
const LAST_TIME_MS = Date.parse('9999-12-31T23:59:59Z');

function rawJson(bytes: Uint8Array): unknown {
  try {
    return bytes.byteLength === 0 ? undefined : JSON.parse(text(bytes));
  } catch (cause) {
    throw new WireError('an embedded object is no JSON', { cause });
  }
}

function partsOf(message: Uint8Array, wanted: number): readonly Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (const { number, value } of readFields(message)) {
    if (number === wanted && typeof value !== 'bigint') parts.push(value);
  }
  return parts;
}

function partOf(message: Uint8Array, wanted: number): Uint8Array {
  return partsOf(message, wanted).at(-1) ?? new Uint8Array();
}

function numberIn(message: Uint8Array, wanted: number): number {
  let found = 0;
  for (const { number, value } of readFields(message)) {
    if (number === wanted && typeof value === 'bigint') found = signed(value);
  }
  return found;
}
