/** Storage in memory, which ends with the process. */
import { SortedKeys } from '@lockstep/kube/runtime/memory/sorted-keys.ts';
import type { Storage, StoredPair, StoredValue } from '../ports/storage.ts';

/** Values are kept by reference, so their bytes must not be changed after a read or write. */
export class MemoryStorage implements Storage {
  readonly #pairs = new Map<string, StoredPair>();
  readonly #keys = new SortedKeys();
  #revision = 0;
  #isClosed = false;

  revision(): number {
    return this.#revision;
  }

  async get(key: string): Promise<StoredValue | undefined> {
    this.#requireOpen();
    return this.#pairs.get(key);
  }

  async list(
    prefix: string,
    options: { readonly after?: string; readonly limit?: number } = {},
  ): Promise<readonly StoredPair[]> {
    this.#requireOpen();
    const { after = '', limit = 0 } = options;
    const found: StoredPair[] = [];
    for (const key of this.#keys.from(after > prefix ? after : prefix)) {
      if (!key.startsWith(prefix)) break;
      const pair = this.#pairs.get(key);
      if (pair === undefined || key === options.after) continue;
      found.push(pair);
      if (found.length === limit) break;
    }
    return found;
  }

  async put(key: string, value: Uint8Array, expected: number): Promise<number | undefined> {
    this.#requireOpen();
    const current = this.#pairs.get(key);
    if ((current?.modRevision ?? 0) !== expected) return undefined;
    if (current === undefined) this.#keys.add(key);
    this.#pairs.set(key, { key, value, modRevision: ++this.#revision });
    return this.#revision;
  }

  async delete(key: string, expected: number): Promise<number | undefined> {
    this.#requireOpen();
    const current = this.#pairs.get(key);
    if (current === undefined || current.modRevision !== expected) return undefined;
    this.#pairs.delete(key);
    this.#keys.remove(key);
    return ++this.#revision;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#pairs.clear();
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new Error('the storage is closed');
  }
}
