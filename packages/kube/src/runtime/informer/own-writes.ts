/**
 * What this process has written or read and its cache does not show yet, so that no decision is made
 * on a world without it: a second Job is never created because the first has not arrived. Losing it
 * loses nothing; the API server refuses what a stale cache would make us do. Where versions have no
 * order the cache is believed.
 */
import type { KubeObject, Stored } from '../../meta.ts';
import { isOlder } from '../../resource-version.ts';
import { keyOf, type Store } from './informer.ts';

export class OwnWrites<T extends KubeObject> {
  readonly #store: Store<T>;
  readonly #newer = new Map<string, Stored<T>>();

  constructor(store: Store<T>) {
    this.#store = store;
  }

  /** Remembers an object as the API server returned it. */
  note(object: Stored<T>): void {
    const known = this.#newer.get(object.metadata.uid);
    if (known === undefined || !isOlderObject(object, known)) {
      this.#newer.set(object.metadata.uid, object);
    }
  }

  /** The newest version of a cached object that is known. */
  newest(cached: Stored<T>): Stored<T> {
    const known = this.#newer.get(cached.metadata.uid);
    return known !== undefined && isOlderObject(cached, known) ? known : cached;
  }

  /** Objects that the cache does not hold yet, of those that `isWanted`. */
  *missing(cachedUids: ReadonlySet<string>, isWanted: (object: T) => boolean): Iterable<Stored<T>> {
    for (const [uid, object] of this.#newer) {
      if (!cachedUids.has(uid) && isWanted(object) && !this.#hasPassed(object)) yield object;
    }
  }

  /** Whether the cache lacks any of it. */
  isAhead(): boolean {
    this.forgetShown();
    return this.#newer.size > 0;
  }

  /** Looks up each object that the cache lacked the last time. */
  forgetShown(): void {
    for (const [uid, object] of this.#newer) {
      const cached = this.#store.get(keyOf(object));
      const isShown =
        cached?.metadata.uid === uid ? !isOlderObject(cached, object) : this.#hasPassed(object);
      if (isShown) this.#newer.delete(uid);
    }
  }

  /** The object has arrived in the cache, or is gone. True if it was the last that the cache lacked. */
  forget(uid: string): boolean {
    return this.#newer.delete(uid) && this.#newer.size === 0;
  }

  /** If the cache has got as far as this version and does not hold the object, it came and went. */
  #hasPassed({ metadata }: Stored<T>): boolean {
    return !isOlder(this.#store.resourceVersion, metadata.resourceVersion);
  }
}

function isOlderObject(object: Stored<KubeObject>, than: Stored<KubeObject>): boolean {
  return isOlder(object.metadata.resourceVersion, than.metadata.resourceVersion);
}
