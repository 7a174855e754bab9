/**
 * A local copy of a collection that follows the server, as its readers see it: a store and its
 * changes. `create-informer.ts` makes one.
 */
import type { KubeObject, Stored } from '../../meta.ts';

/**
 * The store is replaced atomically after a relist, so a reader never sees a half-loaded collection.
 * Objects that vanished meanwhile are reported as deleted.
 */
export interface Informer<T extends KubeObject> {
  readonly store: Store<T>;
  /** True once the first complete collection is in the store. */
  hasSynced(): boolean;
  /** Resolves when `hasSynced`; rejects with the signal's reason. */
  whenSynced(signal?: AbortSignal): Promise<void>;
  /**
   * Calls the handler for every change after this call, and with `added` for what the store holds
   * now, until the signal aborts. Handlers are called in order, synchronously, after the store has
   * changed; they must not throw.
   */
  subscribe(handler: ResourceEventHandler<T>, until?: AbortSignal): void;
  /**
   * Continues over a new connection at once. A connection that died silently shows no changes for
   * minutes, and after failures the next try may be as far away.
   */
  reconnect(): void;
  /** Ends the requests. The store keeps its last state. */
  stop(): Promise<void>;
}

/** Read access to an informer's objects. They are shared: never change one. */
export interface Store<T extends KubeObject> {
  /** By `namespace/name`, or `name` for cluster-scoped objects. */
  get(key: string): Stored<T> | undefined;
  values(): Iterable<Stored<T>>;
  readonly size: number;
  /** Objects to which the named index function gave `value`, unordered. O(1) plus the result. */
  byIndex(index: string, value: string): Iterable<Stored<T>>;
  /**
   * Version of the collection: the store has every change up to it. Empty before the first sync.
   */
  readonly resourceVersion: string;
}

export interface ResourceEventHandler<T extends KubeObject> {
  added?(object: Stored<T>): void;
  updated?(object: Stored<T>, old: Stored<T>): void;
  deleted?(object: Stored<T>): void;
}

/** Index name to the values under which an object is found. */
export type Indexes<T extends KubeObject> = Readonly<
  Record<string, (object: Stored<T>) => readonly string[]>
>;

/** `namespace/name`, or `name` for a cluster-scoped object. */
export function keyOf(object: KubeObject): string {
  const { namespace, name } = object.metadata;
  return namespace === undefined || namespace === '' ? (name ?? '') : `${namespace}/${name ?? ''}`;
}
