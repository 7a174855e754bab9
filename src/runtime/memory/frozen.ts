/**
 * The value, frozen with all that it holds: an informer's `transform` in tests, where whoever changes
 * an object that it shares with others then fails.
 */
export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) frozen(member);
  }
  return value;
}
