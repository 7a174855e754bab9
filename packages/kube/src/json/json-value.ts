/**
 * JSON values from outside. Names of members are data, so `__proto__` and `constructor` are members
 * like any other. Read them with `ownMember` and write them with `setMember`, which never reach a
 * prototype.
 */
export type JsonObject = Readonly<Record<string, unknown>>;

export type JsonType = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object';

/** Go's decoder reads numbers beyond int64 as floats. */
const INTEGER_LIMIT = 2 ** 63;

/** The JSON Schema type of `value`; a number without a fraction is an `integer`. */
export function jsonTypeOf(value: unknown): JsonType {
  if (typeof value === 'string') return 'string';
  if (typeof value === 'number') {
    return Number.isInteger(value) && Math.abs(value) < INTEGER_LIMIT ? 'integer' : 'number';
  }
  if (typeof value === 'boolean') return 'boolean';
  if (value === null || value === undefined) return 'null';
  return Array.isArray(value) ? 'array' : 'object';
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The member `key` of `object` itself, never one of its prototype. */
export function ownMember<T>(object: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Sets a member of `object` itself, even if its name is `__proto__`. */
export function setMember(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  } else {
    object[key] = value;
  }
}
