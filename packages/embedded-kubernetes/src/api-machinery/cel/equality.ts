/** Equality and order of values. A comparison pays for each part that it looks at. */
import { compareQuantities } from '@lockstep/kube/quantity.ts';
import { type Budget, COST_EXCEEDED } from './budget.ts';
import { CHARACTER_COST } from './limits.ts';
import {
  CelError,
  CelList,
  CelMap,
  type CelResult,
  type CelValue,
  CidrValue,
  Duration,
  FormatValue,
  IpValue,
  keyText,
  Optional,
  QuantityValue,
  sizeOf,
  Timestamp,
  TypeValue,
  Uint,
  UrlValue,
} from './value.ts';

/** Whether two values are equal; numbers of different types are compared by value. */
export function equal(a: CelValue, b: CelValue, budget: Budget): boolean | CelError {
  if (!budget.spend(equalityCost(a, b))) return COST_EXCEEDED;
  const order = compareNumbers(a, b);
  if (order !== undefined) return order === 0;
  if (a instanceof CelList) return b instanceof CelList && equalLists(a, b, budget);
  if (a instanceof CelMap) return b instanceof CelMap && equalMaps(a, b, budget);
  if (a instanceof Uint8Array) return b instanceof Uint8Array && compareBytes(a, b) === 0;
  if (a instanceof Optional) return b instanceof Optional && equalOptionals(a, b, budget);
  return a === b || equalScalars(a, b);
}

/** Negative, zero or positive; undefined for values that have no order, such as NaN. */
export function compare(a: CelValue, b: CelValue): number | undefined {
  const numbers = compareNumbers(a, b);
  if (numbers !== undefined) return Number.isNaN(numbers) ? undefined : numbers;
  if (typeof a === 'string') return typeof b === 'string' ? compareText(a, b) : undefined;
  if (typeof a === 'boolean') return typeof b === 'boolean' ? Number(a) - Number(b) : undefined;
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? compareBytes(a, b) : undefined;
  if (
    (a instanceof Timestamp && b instanceof Timestamp) ||
    (a instanceof Duration && b instanceof Duration)
  ) {
    return sign(a.nanoseconds - b.nanoseconds);
  }
  if (a instanceof QuantityValue && b instanceof QuantityValue) {
    return compareQuantities(a.quantity, b.quantity);
  }
  return undefined;
}

/** `compare` with the cost already paid, for callers that compare often. */
export function paidOrder(a: CelValue, b: CelValue, budget: Budget): number | CelError | undefined {
  return budget.spend(equalityCost(a, b)) ? compare(a, b) : COST_EXCEEDED;
}

/** Whether `value` is among the items of `list`. */
export function includes(list: CelList, value: CelValue, budget: Budget): CelResult {
  for (let index = 0; index < list.size; index++) {
    const item = list.at(index);
    if (item instanceof CelError) return item;
    const same = equal(item, value, budget);
    if (same !== false) return same;
  }
  return false;
}

function equalityCost(a: CelValue, b: CelValue): number {
  if (typeof a === 'string' && typeof b === 'string') {
    return 1 + Math.min(a.length, b.length) * CHARACTER_COST;
  }
  const isLarge = a instanceof CelMap || b instanceof CelMap || hasKeys(b) || isBytes(a);
  return isLarge ? 1 + (sizeOf(a) + sizeOf(b)) * CHARACTER_COST : 1;
}

function hasKeys(value: CelValue): boolean {
  return value instanceof CelList && value.kind.by === 'Key';
}

function isBytes(value: CelValue): boolean {
  return value instanceof Uint8Array;
}

/** NaN if one of the two numbers is; undefined unless both are numbers. */
function compareNumbers(a: CelValue, b: CelValue): number | undefined {
  const left = a instanceof Uint ? a.value : a;
  const right = b instanceof Uint ? b.value : b;
  if (typeof left !== 'bigint' && typeof left !== 'number') return undefined;
  if (typeof right !== 'bigint' && typeof right !== 'number') return undefined;
  if (left < right) return -1;
  if (left > right) return 1;
  // biome-ignore lint/suspicious/noDoubleEquals: an int and a double are equal if their values are.
  return left == right ? 0 : Number.NaN;
}

function equalScalars(a: CelValue, b: CelValue): boolean {
  if (a instanceof Timestamp || a instanceof Duration || a instanceof QuantityValue) {
    return compare(a, b) === 0;
  }
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name;
  if (a instanceof UrlValue) return b instanceof UrlValue && a.text === b.text;
  if (a instanceof IpValue) return b instanceof IpValue && equalAddresses(a, b);
  if (a instanceof FormatValue) return b instanceof FormatValue && a.name === b.name;
  if (!(a instanceof CidrValue) || !(b instanceof CidrValue)) return false;
  return a.prefixLength === b.prefixLength && equalAddresses(a.ip, b.ip);
}

function equalAddresses(a: IpValue, b: IpValue): boolean {
  return a.family === b.family && a.address === b.address;
}

function equalOptionals(a: Optional, b: Optional, budget: Budget): boolean | CelError {
  if (a.value === undefined || b.value === undefined) return a.value === b.value;
  return equal(a.value, b.value, budget);
}

function equalMaps(a: CelMap, b: CelMap, budget: Budget): boolean | CelError {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const key of a.keys()) {
    const left = a.get(key);
    const right = b.get(key);
    if (left instanceof CelError) return left;
    if (right instanceof CelError) return right;
    if (left === undefined || right === undefined) return false;
    const same = equal(left, right, budget);
    if (same !== true) return same;
  }
  return true;
}

/** Sets, and maps that are lists, are equal in any order. */
function equalLists(a: CelList, b: CelList, budget: Budget): boolean | CelError {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  const { kind } = a;
  const found = kind.by === 'Key' && b.kind.by === 'Key' ? indexByKey(b, kind.keys) : undefined;
  for (let index = 0; index < a.size; index++) {
    const left = a.at(index);
    if (left instanceof CelError) return left;
    const at = found === undefined || kind.by !== 'Key' ? index : found.get(keyOf(left, kind.keys));
    if (at === undefined) return false;
    const right = b.at(at);
    if (right instanceof CelError) return right;
    const same =
      kind.by === 'Item' && b.kind.by === 'Item'
        ? includes(b, left, budget)
        : equal(left, right, budget);
    if (same instanceof CelError) return same;
    if (same !== true) return false;
  }
  return true;
}

function indexByKey(list: CelList, keys: readonly string[]): ReadonlyMap<string, number> {
  const indexes = new Map<string, number>();
  for (let index = 0; index < list.size; index++) indexes.set(keyOf(list.at(index), keys), index);
  return indexes;
}

/** The keys of one item of a map that is a list, as one text. */
export function keyOf(item: CelResult, keys: readonly string[]): string {
  if (!(item instanceof CelMap)) return '';
  return JSON.stringify(
    keys.map((key) => {
      const value = item.get(key);
      return value === undefined || value instanceof CelError ? '' : (keyText(value) ?? '');
    }),
  );
}

function sign(difference: bigint): number {
  if (difference === 0n) return 0;
  return difference < 0n ? -1 : 1;
}

/** Compares by code points, as Go compares the bytes of UTF-8; JavaScript compares UTF-16. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  let at = 0;
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  const left = a.charCodeAt(at);
  const right = b.charCodeAt(at);
  if (Number.isNaN(left) || Number.isNaN(right)) return a.length - b.length;
  return isSurrogate(left) === isSurrogate(right) ? left - right : isSurrogate(left) ? 1 : -1;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return Buffer.compare(a, b);
}
