/**
 * Values of expressions. Null, booleans and strings are JavaScript's, ints are `bigint`, doubles
 * are `number`, bytes are `Uint8Array`; everything else is one of the classes below. JSON becomes a
 * value lazily, when a member is read (`json-value.ts`).
 */
import type { Quantity } from '@lockstep/kube/quantity.ts';

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

/** The result of an evaluation. Errors are values: `true || error` is true. */
export type CelResult = CelValue | CelError;

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

/** How equality treats the items: in order, or like Kubernetes' lists of type set and map. */
export type ListKind =
  | { readonly by: 'Order' | 'Item' }
  | { readonly by: 'Key'; readonly keys: readonly string[] };

export const IN_ORDER: ListKind = { by: 'Order' };

export abstract class CelList {
  abstract readonly size: number;
  readonly kind: ListKind = IN_ORDER;

  abstract at(index: number): CelResult;

  static of(items: readonly CelResult[]): CelList {
    return new MadeList(items);
  }
}

class MadeList extends CelList {
  readonly #items: readonly CelResult[];

  constructor(items: readonly CelResult[]) {
    super();
    this.#items = items;
  }

  override get size(): number {
    return this.#items.length;
  }

  override at(index: number): CelResult {
    return this.#items[index] ?? null;
  }
}

/** A map, or an object with declared fields. */
export abstract class CelMap {
  abstract readonly size: number;
  abstract keys(): readonly CelValue[];
  /** Undefined if there is no such key. */
  abstract get(key: CelValue): CelResult | undefined;
  /** The member that `.name` selects: names of declared fields are escaped. */
  abstract select(name: string): CelResult | undefined;

  /** Entries by `keyText` of their keys. */
  static of(entries: ReadonlyMap<string, readonly [key: CelValue, value: CelValue]>): CelMap {
    return new MadeMap(entries);
  }
}

class MadeMap extends CelMap {
  readonly #entries: ReadonlyMap<string, readonly [key: CelValue, value: CelValue]>;

  constructor(entries: ReadonlyMap<string, readonly [key: CelValue, value: CelValue]>) {
    super();
    this.#entries = entries;
  }

  override get size(): number {
    return this.#entries.size;
  }

  override keys(): readonly CelValue[] {
    return [...this.#entries.values()].map(([key]) => key);
  }

  override get(key: CelValue): CelResult | undefined {
    const text = keyText(key);
    return text === undefined ? undefined : this.#entries.get(text)?.[1];
  }

  override select(name: string): CelResult | undefined {
    return this.get(name);
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

/** A type as a value: the result of `type(x)` and of names such as `int`. */
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

/** A named format such as `dns1123Label`, which reports what is wrong with a text. */
export class FormatValue {
  readonly name: string;
  readonly validate: (text: string) => readonly string[];

  constructor(name: string, validate: (text: string) => readonly string[]) {
    this.name = name;
    this.validate = validate;
  }
}

/** The name that `type(value)` returns and errors show. */
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

/** The size of a value in characters, bytes or items; 1 for anything else. */
export function sizeOf(value: CelValue): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  if (value instanceof Uint8Array) return value.length;
  return value instanceof CelList || value instanceof CelMap ? value.size : 1;
}
