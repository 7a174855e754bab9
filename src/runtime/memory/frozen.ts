/**
 * Freezes a value with all that it holds. As an informer's `transform` in tests, it makes every
 * write to a shared object fail.
 */
export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) frozen(member);
  }
  return value;
}
