import { setMember } from './json-value.ts';

/** Makes a deep copy of a JSON value, several times as fast as the general ways. */
export function clone<T>(value: T): T {
  return copied(value) as T;
}

function copied(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copied);
  const from = value as Readonly<Record<string, unknown>>;
  const object: Record<string, unknown> = {};
  for (const key of Object.keys(from)) setMember(object, key, copied(from[key]));
  return object;
}
