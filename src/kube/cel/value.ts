/**
 * Values of expressions. Null, booleans and strings are those of JavaScript, ints are `bigint`,
 * doubles are `number`, bytes are `Uint8Array`; everything else is one of the classes below. JSON
 * becomes a value lazily, at the member that is read (`json-value.ts` beside this file).
 */
import type { Quantity } from '../quantity.ts';

export type CelValue =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | Uint
  | Timestamp
  | Duration
  | CelList
  | CelMap
  | Optional
  | TypeValue
  | QuantityValue
  | UrlValue
  | IpValue
  | CidrValue
  | FormatValue;

/** What an evaluation comes to. Errors are values: `true || error` is true. */
export type Outcome = CelValue | CelError;

export class CelError {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

export const NO_SUCH_OVERLOAD: CelError = new CelError('no such overload');

export class Uint {
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }
}

export class Timestamp {
  /** Since 1970, UTC. */
  readonly nanoseconds: bigint;

  constructor(nanoseconds: bigint) {
    this.nanoseconds = nanoseconds;
  }
}

export class Duration {
  readonly nanoseconds: bigint;

  constructor(nanoseconds: bigint) {
    this.nanoseconds = nanoseconds;
  }
}

/** How equality treats the items: in order, or as Kubernetes' sets and maps that are lists. */
export type ListKind =
  | { readonly by: 'Order' | 'Item' }
  | { readonly by: 'Key'; readonly keys: readonly string[] };

export const IN_ORDER: ListKind = { by: 'Order' };

/** A list of `size` items; `at` makes the value of one. */
export class CelList {
  readonly size: number;
  readonly at: (index: number) => Outcome;
  readonly kind: ListKind;

  constructor(size: number, at: (index: number) => Outcome, kind: ListKind = IN_ORDER) {
    this.size = size;
    this.at = at;
    this.kind = kind;
  }

  static of(items: readonly CelValue[]): CelList {
    return new CelList(items.length, (index) => items[index] ?? null);
  }
}

/** A map, or an object with declared fields. */
export interface MapContent {
  readonly size: number;
  keys(): readonly CelValue[];
  /** Undefined if there is no such key. */
  get(key: CelValue): Outcome | undefined;
  /** The member that `.name` selects: names of declared fields are escaped. */
  select(name: string): Outcome | undefined;
}

export class CelMap {
  readonly content: MapContent;

  constructor(content: MapContent) {
    this.content = content;
  }

  static of(entries: ReadonlyMap<string, readonly [key: CelValue, value: CelValue]>): CelMap {
    const get = (key: CelValue) => {
      const text = keyText(key);
      return text === undefined ? undefined : entries.get(text)?.[1];
    };
    return new CelMap({
      size: entries.size,
      keys: () => [...entries.values()].map(([key]) => key),
      get,
      select: get,
    });
  }
}

/** One text for keys that are equal: ints, uints and whole doubles are the same key. */
export function keyText(key: CelValue): string | undefined {
  if (typeof key === 'string') return `s${key}`;
  if (typeof key === 'boolean') return `b${key}`;
  if (typeof key === 'bigint') return `n${key}`;
  if (key instanceof Uint) return `n${key.value}`;
  if (typeof key === 'number' && Number.isInteger(key)) return `n${BigInt(key)}`;
  return undefined;
}

export class Optional {
  /** Undefined if there is none. */
  readonly value: CelValue | undefined;

  constructor(value: CelValue | undefined) {
    this.value = value;
  }
}

export const NONE: Optional = new Optional(undefined);

/** A type as a value: what `type(x)` and names such as `int` are. */
export class TypeValue {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

export class QuantityValue {
  readonly quantity: Quantity;

  constructor(quantity: Quantity) {
    this.quantity = quantity;
  }
}

export class UrlValue {
  readonly url: URL;
  readonly text: string;

  constructor(url: URL, text: string) {
    this.url = url;
    this.text = text;
  }
}

export class IpValue {
  readonly family: 4 | 6;
  readonly address: bigint;

  constructor(family: 4 | 6, address: bigint) {
    this.family = family;
    this.address = address;
  }
}

export class CidrValue {
  readonly ip: IpValue;
  readonly prefixLength: number;

  constructor(ip: IpValue, prefixLength: number) {
    this.ip = ip;
    this.prefixLength = prefixLength;
  }
}

/** A named format such as `dns1123Label`, which tells what is wrong with a text. */
export class FormatValue {
  readonly name: string;
  readonly validate: (text: string) => readonly string[];

  constructor(name: string, validate: (text: string) => readonly string[]) {
    this.name = name;
    this.validate = validate;
  }
}

/** What `type(value)` is called, and what errors call it. */
export function typeNameOf(value: CelValue): string {
  if (value === null) return 'null_type';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint') return 'int';
  if (typeof value === 'number') return 'double';
  if (typeof value === 'string') return 'string';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof Uint) return 'uint';
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp';
  if (value instanceof Duration) return 'google.protobuf.Duration';
  if (value instanceof CelList) return 'list';
  if (value instanceof CelMap) return 'map';
  if (value instanceof Optional) return 'optional_type';
  if (value instanceof TypeValue) return 'type';
  if (value instanceof QuantityValue) return 'kubernetes.Quantity';
  if (value instanceof UrlValue) return 'kubernetes.URL';
  if (value instanceof IpValue) return 'net.IP';
  if (value instanceof CidrValue) return 'net.CIDR';
  return 'kubernetes.NamedFormat';
}

/** How much there is to look at: characters, bytes, items; 1 for anything else. */
export function sizeOf(value: CelValue): number {
  if (typeof value === 'string') return value.length;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof CelList) return value.size;
  if (value instanceof CelMap) return value.content.size;
  return 1;
}
