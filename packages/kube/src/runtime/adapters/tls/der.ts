/**
 * The few parts of DER (ITU-T X.690) of which certificates are made. Every function returns one
 * complete element: tag, length, content.
 */
export function sequence(...elements: readonly Uint8Array[]): Buffer {
  return element(TAG.sequence, ...elements);
}

/** A set of one element; sets of more would have to be sorted. */
export function setOf(member: Uint8Array): Buffer {
  return element(TAG.set, member);
}

export function boolean(value: boolean): Buffer {
  return element(TAG.boolean, Buffer.from([value ? 0xff : 0]));
}

/** A non-negative number, from its bytes, the highest first. */
export function integer(bytes: Uint8Array): Buffer {
  // A leading one bit would be a minus sign.
  const isNegative = ((bytes[0] ?? 0) & 0x80) !== 0;
  return element(TAG.integer, Buffer.from(isNegative ? [0] : []), bytes);
}

/** Whole bytes, without the last `unusedBits` bits. */
export function bitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return element(TAG.bitString, Buffer.from([unusedBits]), bytes);
}

export function octetString(bytes: Uint8Array): Buffer {
  return element(TAG.octetString, bytes);
}

/** For example `2.5.4.3`. */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(
    TAG.objectIdentifier,
    Buffer.from([first * 40 + second, ...rest.flatMap(base128)]),
  );
}

export function utf8String(text: string): Buffer {
  return element(TAG.utf8String, Buffer.from(text));
}

/**
 * A time to the second, with a two-digit year until 2049 and a four-digit one after that, as RFC
 * 5280 requires.
 */
export function time(ms: number): Buffer {
  const text = `${new Date(ms).toISOString().replace(/\.\d+|[-:T]/g, '')}`;
  return text < '2050'
    ? element(TAG.utcTime, Buffer.from(text.slice(2)))
    : element(TAG.generalizedTime, Buffer.from(text));
}

/** `[number]` around whole elements. */
export function explicit(number: number, ...elements: readonly Uint8Array[]): Buffer {
  return element(CONTEXT | CONSTRUCTED | number, ...elements);
}

/** `[number]` in place of the tag of a primitive element. */
export function implicit(number: number, content: Uint8Array): Buffer {
  return element(CONTEXT | number, content);
}

/** The elements within a constructed element. Throws `RangeError` for invalid DER. */
export function childrenOf(der: Uint8Array): readonly Buffer[] {
  const whole = Buffer.from(der);
  const { start, end } = contentOf(whole, 0);
  const children: Buffer[] = [];
  for (let at = start; at < end; ) {
    const next = contentOf(whole, at).end;
    children.push(whole.subarray(at, next));
    at = next;
  }
  return children;
}

const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;
const CONTEXT = 0x80;
const CONSTRUCTED = 0x20;

function element(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content.length)]), content]);
}

function lengthOf(length: number): readonly number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest >>>= 8) bytes.unshift(rest & 0xff);
  return [0x80 | bytes.length, ...bytes];
}

function contentOf(der: Buffer, at: number): { readonly start: number; readonly end: number } {
  const first = der.readUInt8(at + 1);
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  const length = lengthBytes === 0 ? first : der.readUIntBE(at + 2, lengthBytes);
  const start = at + 2 + lengthBytes;
  if (start + length > der.length) throw new RangeError('the element ends before its content');
  return { start, end: start + length };
}

/** Seven bits per byte, with a mark on all but the last. */
function base128(value: number): readonly number[] {
  const bytes = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes.unshift((rest & 0x7f) | 0x80);
  return bytes;
}
