import type { KubeObject, Stored } from '../../meta.ts';
import { isOlder } from '../../resource-version.ts';
import type { Informer, ResourceEventHandler, Store } from './informer.ts';

/**
 * Several namespaces of one resource as one collection, for a client that may not read them all.
 */
export function joinedInformer<T extends KubeObject>(
  parts: ReadonlyMap<string, Informer<T>>,
): Informer<T> {
  const all = [...parts.values()];
  return {
    store: new JoinedStore(parts),
    hasSynced: () => all.every((part) => part.hasSynced()),
    whenSynced: async (signal) => {
      await Promise.all(all.map((part) => part.whenSynced(signal)));
    },
    subscribe: (handler: ResourceEventHandler<T>, until?: AbortSignal) => {
      for (const part of all) part.subscribe(handler, until);
    },
    reconnect: () => {
      for (const part of all) part.reconnect();
    },
    stop: async () => {
      await Promise.all(all.map((part) => part.stop()));
    },
  };
}

class JoinedStore<T extends KubeObject> implements Store<T> {
  readonly #parts: ReadonlyMap<string, Informer<T>>;

  constructor(parts: ReadonlyMap<string, Informer<T>>) {
    this.#parts = parts;
  }

  get(key: string): Stored<T> | undefined {
    const [namespace = ''] = key.split('/', 1);
    return this.#parts.get(namespace)?.store.get(key);
  }

  *values(): Iterable<Stored<T>> {
    for (const { store } of this.#parts.values()) yield* store.values();
  }

  get size(): number {
    return this.#stores().reduce((sum, { size }) => sum + size, 0);
  }

  *byIndex(index: string, value: string): Iterable<Stored<T>> {
    for (const { store } of this.#parts.values()) yield* store.byIndex(index, value);
  }

  /** The oldest version of all, so that the store has every change up to it in every namespace. */
  get resourceVersion(): string {
    const versions = this.#stores().map(({ resourceVersion }) => resourceVersion);
    if (versions.includes('')) return '';
    return versions.reduce((oldest, version) => (isOlder(version, oldest) ? version : oldest));
  }

  #stores(): readonly Store<T>[] {
    return Array.from(this.#parts.values(), ({ store }) => store);
  }
}
