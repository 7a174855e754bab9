/**
 * Bounds the depth of JSON values from outside, because recursive functions over deeper ones would
 * overflow the stack. Objects of the API are some twenty levels deep, schemas of CRDs a hundred.
 */
export const MAX_JSON_DEPTH = 1_000;

/** Whether `value` has more than `limit` levels of lists and objects. Does not recurse. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  let level: object[] = [];
  collect(value, level);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= limit) return true;
    const below: object[] = [];
    for (const container of level) {
      for (const member of Array.isArray(container) ? container : Object.values(container)) {
        collect(member, below);
      }
    }
    level = below;
  }
  return false;
}

function collect(value: unknown, containers: object[]): void {
  if (typeof value === 'object' && value !== null) containers.push(value);
}
