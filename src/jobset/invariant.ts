/**
 * Thrown where the state of this process contradicts itself, so that a decision made from it could
 * release or charge wrongly. It is a mistake in Lockstep, never in what users or agents send.
 */
export class BrokenInvariant extends Error {
  override readonly name = 'BrokenInvariant';
}

/** `problem` is called only if the invariant does not hold, because it may be checked often. */
export function invariant(holds: boolean, problem: () => string): asserts holds {
  if (!holds) throw new BrokenInvariant(`internal error, please report it: ${problem()}`);
}
