/**
 * Freezes a value and all that it holds, Maps and Sets too: a later change of any of it throws a
 * TypeError. Tests use it to show that a function leaves its input alone.
 */
export function deepFrozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (value instanceof Map || value instanceof Set) {
    for (const change of ['set', 'add', 'delete', 'clear']) {
      if (change in value) Object.defineProperty(value, change, { value: refuse });
    }
    for (const item of value instanceof Map ? value.values() : value) deepFrozen(item);
  }
  Object.freeze(value);
  for (const item of Object.values(value)) deepFrozen(item);
  return value;
}

function refuse(): never {
  throw new TypeError('it is frozen');
}
