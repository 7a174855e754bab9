import { isJsonObject, setMember } from '../json/json-value.ts';

/** The directives of a strategic merge patch, which say how to merge. */
export const DIRECTIVE = '$patch';
export const RETAIN_KEYS = '$retainKeys';
/** Followed by `/` and the name of a field. */
export const ELEMENT_ORDER = '$setElementOrder';
export const DELETE_FROM_LIST = '$deleteFromPrimitiveList';

/**
 * Prepares a part of a patch that has no counterpart to merge with. Its nulls delete nothing and
 * are left out, and so is every object with nothing but an order in it. Undefined if nothing is
 * left.
 */
export function cleaned(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(cleaned).filter((element) => element !== undefined);
  }
  if (!isJsonObject(value)) return value;
  if (Object.hasOwn(value, DIRECTIVE)) return undefined;
  const object: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    const isOrder = key.startsWith(ELEMENT_ORDER) || key.startsWith(DELETE_FROM_LIST);
    if (member === null || isOrder || key === RETAIN_KEYS) continue;
    const kept = cleaned(member);
    if (kept !== undefined) setMember(object, key, kept);
  }
  return object;
}
