/** One check for what must hold and the types cannot say. It stays on in production. */

/** A bug of Lockstep: something that must hold does not. Bad input has errors of its own. */
class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/** Throws `InvariantError` unless `condition` holds; `what` says what must hold. */
export function assert(condition: boolean, what: string): asserts condition {
  if (!condition) throw new InvariantError(`this must hold: ${what}`);
}
