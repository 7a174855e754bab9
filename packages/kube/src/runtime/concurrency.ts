/**
 * Calls `work` for every item, at most `limit` at a time, and waits for all of them, including
 * those after a failure. Rejects with the first failure, if there was one.
 */
export async function forEachConcurrently<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  const waiting = items[Symbol.iterator]();
  const takeTurns = async (): Promise<void> => {
    for (let next = waiting.next(); next.done !== true; next = waiting.next()) {
      try {
        await work(next.value);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: limit }, takeTurns));
  if (failures.length > 0) throw failures[0];
}
