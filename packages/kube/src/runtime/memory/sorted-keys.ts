/**
 * A sorted set of strings (by UTF-16 code units), kept as a list of sorted chunks. Adding, removing
 * and finding a place cost a bisection and a short move, at any size that fits in memory.
 */
export class SortedKeys {
  /** Never empty except for the first one; each sorted, and all in order. */
  readonly #chunks: string[][] = [[]];

  /** Adds a key that is not in the set. */
  add(key: string): void {
    const at = this.#chunkFor(key);
    const chunk = this.#chunks[at] ?? [];
    chunk.splice(lowerBound(chunk, key), 0, key);
    if (chunk.length > MAX_CHUNK_KEYS)
      this.#chunks.splice(at + 1, 0, chunk.splice(chunk.length / 2));
  }

  /** Removes a key that is in the set. */
  remove(key: string): void {
    const at = this.#chunkFor(key);
    const chunk = this.#chunks[at] ?? [];
    chunk.splice(lowerBound(chunk, key), 1);
    if (chunk.length === 0 && this.#chunks.length > 1) this.#chunks.splice(at, 1);
  }

  /**
   * The keys from the first that is not below `start`, in order. The set must not change meanwhile.
   */
  *from(start: string): Generator<string, void> {
    let at = this.#chunkFor(start);
    let within = lowerBound(this.#chunks[at] ?? [], start);
    for (let chunk = this.#chunks[at]; chunk !== undefined; chunk = this.#chunks[++at]) {
      for (; within < chunk.length; within++) yield chunk[within] ?? '';
      within = 0;
    }
  }

  /** Index of the last chunk that begins at or before `key`, or of the first one. */
  #chunkFor(key: string): number {
    let low = 0;
    let high = this.#chunks.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#chunks[middle]?.[0] ?? '') <= key) low = middle;
      else high = middle;
    }
    return low;
  }
}

/** Moving this many references takes less than a microsecond. */
const MAX_CHUNK_KEYS = 1_024;

/** Index of the first element that is not below `key`. */
function lowerBound(sorted: readonly string[], key: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? '') < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
