import type { Collection, Write } from '../resources/collection.ts';
import type { Entry } from '../resources/entry.ts';

/** As often as API servers apply a patch anew before they tell the client to. */
const MAX_ATTEMPTS = 5;

/**
 * Like `Collection.write`, but other writes to the key go on while `decide` is at work. If one came
 * first, the decision is worth nothing and is taken anew on the new state, some times.
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
