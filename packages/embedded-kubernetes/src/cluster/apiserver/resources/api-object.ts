/** Objects as the API server handles them, and helpers to read and change plain JSON. */
import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import type { KubeObject, Stored } from '@lockstep/kube/meta.ts';

/**
 * An object with typed metadata; only the kind's schema and strategy know the rest, which is plain
 * JSON. Objects are never changed after they were stored.
 */
export interface ApiObject extends KubeObject {
  readonly [field: string]: unknown;
}

export type StoredObject = Stored<ApiObject>;

/** The value at a path of member names, or undefined where the path ends early. */
export function valueAt(object: unknown, ...path: readonly string[]): unknown {
  let value = object;
  for (const member of path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, member)) return undefined;
    value = value[member];
  }
  return value;
}

/** The object at a path, or an empty one. */
export function objectAt(object: unknown, ...path: readonly string[]): JsonObject {
  const value = valueAt(object, ...path);
  return isJsonObject(value) ? value : {};
}

/** The list at a path, or an empty one. */
export function listAt(object: unknown, ...path: readonly string[]): readonly unknown[] {
  const value = valueAt(object, ...path);
  return Array.isArray(value) ? value : [];
}

/** The text at a path, or an empty one: how Go reads an absent string. */
export function textAt(object: unknown, ...path: readonly string[]): string {
  const value = valueAt(object, ...path);
  return typeof value === 'string' ? value : '';
}

/** The number at a path, or 0: how Go reads an absent integer. */
export function numberAt(object: unknown, ...path: readonly string[]): number {
  const value = valueAt(object, ...path);
  return typeof value === 'number' ? value : 0;
}

/** The object as the type of its kind, once its schema has been enforced. */
export function typed<T extends KubeObject>(object: ApiObject): T {
  return object as unknown as T;
}

/** `object` with some members replaced; a member given as undefined is removed. */
export function withMembers<T extends object>(object: T, members: JsonObject): T {
  const result = { ...object } as Record<string, unknown>;
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) delete result[name];
    else result[name] = value;
  }
  return result as T;
}
