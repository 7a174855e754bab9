import type { KubeObject, Stored } from '../../kube/meta.ts';
import { compareResourceVersions } from '../../kube/resource-version.ts';
import type { Store } from '../../runtime/informer/informer.ts';

/**
 * What this process has written or read and its cache does not show yet, so that no decision is made
 * on a world without it: a second Job is never created because the first has not arrived. Losing it
 * loses nothing; the API server refuses what a stale cache would make us do.
 */
export class OwnWrites<T extends KubeObject> {
  readonly #store: Store<T>;
  readonly #newer = new Map<string, Stored<T>>();

  constructor(store: Store<T>) {
    this.#store = store;
  }

  /** Remembers an object as the API server returned it. */
  note(object: Stored<T>): void {
    const known = this.#newer.get(object.metadata.uid);
    if (known === undefined || !isOlder(object, known)) {
      this.#newer.set(object.metadata.uid, object);
    }
  }

  /** The newest version of a cached object that is known. */
  newest(cached: Stored<T>): Stored<T> {
    const known = this.#newer.get(cached.metadata.uid);
    if (known === undefined) return cached;
    if (isOlder(cached, known)) return known;
    this.#newer.delete(cached.metadata.uid);
    return cached;
  }

  /** Objects that the cache does not hold yet, of those that `isWanted`. */
  *missing(cachedUids: ReadonlySet<string>, isWanted: (object: T) => boolean): Iterable<Stored<T>> {
    for (const [uid, object] of this.#newer) {
      if (cachedUids.has(uid) || !isWanted(object)) continue;
      // The cache has got as far as this version and does not hold the object: it came and went.
      if (this.#hasPassed(object)) this.#newer.delete(uid);
      else yield object;
    }
  }

  forget(uid: string): void {
    this.#newer.delete(uid);
  }

  #hasPassed({ metadata }: Stored<T>): boolean {
    const order = compareResourceVersions(this.#store.resourceVersion, metadata.resourceVersion);
    return order === undefined || order >= 0;
  }
}

/** False too if the versions have no order: then the cache is all there is to believe. */
function isOlder(a: Stored<KubeObject>, b: Stored<KubeObject>): boolean {
  const order = compareResourceVersions(a.metadata.resourceVersion, b.metadata.resourceVersion);
  return order !== undefined && order < 0;
}
