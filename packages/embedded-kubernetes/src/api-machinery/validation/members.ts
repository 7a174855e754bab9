/**
 * Fills in members of JSON objects, for the defaults of built-in kinds. Nothing is changed in
 * place, and unrelated members are never touched.
 */
import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';

/** `object` with `defaults` for members that are missing or an empty text. */
export function withDefaults<T extends JsonObject>(object: T, defaults: JsonObject): T {
  const missing = Object.entries(defaults).filter(
    ([name]) => object[name] === undefined || object[name] === '',
  );
  return missing.length === 0 ? object : { ...object, ...Object.fromEntries(missing) };
}

/** `object` with its member `name`, if that is an object, replaced by the result of `change`. */
export function withMember<T extends JsonObject>(
  object: T,
  name: string,
  change: (member: JsonObject) => JsonObject,
): T {
  const member = object[name];
  return isJsonObject(member) ? { ...object, [name]: change(member) } : object;
}

/** `object` with each object in its list `name` replaced by the result of `change`. */
export function withItems<T extends JsonObject>(
  object: T,
  name: string,
  change: (item: JsonObject) => JsonObject,
): T {
  const list: unknown = object[name];
  if (!Array.isArray(list)) return object;
  const items = list.map((item: unknown) => (isJsonObject(item) ? change(item) : item));
  return { ...object, [name]: items };
}

/** `object` without its member `name`, which must be optional in its type. */
export function withoutMember<T extends JsonObject>(object: T, name: string): T {
  const copy: Record<string, unknown> = { ...object };
  delete copy[name];
  return copy as T;
}
