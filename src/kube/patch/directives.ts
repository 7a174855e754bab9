import { isJsonObject, setMember } from '../json/json-value.ts';

/** The members of a strategic merge patch that say how, not what. */
export const DIRECTIVE = '$patch';
export const RETAIN_KEYS = '$retainKeys';
/** Followed by `/` and the name of a field. */
export const ELEMENT_ORDER = '$setElementOrder';
export const DELETE_FROM_LIST = '$deleteFromPrimitiveList';

/**
 * A part of a patch that meets nothing to be merged with: its nulls delete nothing and are left out,
 * and so is every object that only carries an order about what is not there. Undefined if nothing
 * is left.
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
