/** Writes whose decision takes time. */
import type { Collection, Write } from '../resources/collection.ts';
import type { Entry } from '../resources/entry.ts';

/** How often API servers retry a patch before they leave that to the client. */
const MAX_ATTEMPTS = 5;

/**
 * Like `Collection.write`, but does not hold other writes to the key back while `decide` runs. If
 * one came first, it decides again on the new state, up to `MAX_ATTEMPTS` times.
 */
export async function writeOptimistically<T>(
  collection: Collection,
  key: string,
  decide: (current: Entry | undefined) => Promise<Write<T>>,
  conflict: () => Error,
): Promise<T> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const seen = collection.get(key);
    const decision = await decide(seen);
    const outcome = await collection.write<{ readonly value: T } | undefined>(key, (current) => {
      if (current !== seen) return { change: undefined, result: () => undefined };
      const { change, result } = decision;
      return { change, result: (entry) => ({ value: result(entry) }) };
    });
    if (outcome !== undefined) return outcome.value;
  }
  throw conflict();
}
