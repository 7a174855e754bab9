/**
 * The port for the embedded cluster's storage: an ordered map of keys to bytes with one revision
 * counter, like etcd to an API server. A durable implementation must have made a write durable when
 * its promise resolves.
 */
export interface Storage {
  /** The revision of the newest write; 0 if nothing was ever written. */
  revision(): number;
  get(key: string): Promise<StoredValue | undefined>;
  /**
   * Pairs whose key begins with `prefix`, in key order, `after` excluded. At most `limit`; 0 means
   * all.
   */
  list(
    prefix: string,
    options?: { readonly after?: string; readonly limit?: number },
  ): Promise<readonly StoredPair[]>;
  /**
   * Writes if the key is still at `expected` (a `modRevision`; 0: the key must not exist) and
   * returns the new revision. Otherwise changes nothing and returns undefined.
   */
  put(key: string, value: Uint8Array, expected: number): Promise<number | undefined>;
  /** Deletes under the same condition; a deletion takes a revision too. */
  delete(key: string, expected: number): Promise<number | undefined>;
  /** Releases files and locks. Later calls reject. */
  close(): Promise<void>;
}

export interface StoredValue {
  readonly value: Uint8Array;
  /** The storage's revision when this value was written. */
  readonly modRevision: number;
}

export interface StoredPair extends StoredValue {
  readonly key: string;
}
