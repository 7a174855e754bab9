/**
 * The objects of an informer, with their indexes. It takes what a reflector reads and reports what
 * really changed. Repeated events, in any order, change nothing. An object that was deleted and
 * created again under its name counts as two objects.
 */
import type { KubeObject, Stored } from '../../meta.ts';
import { mayBeNewer } from '../../resource-version.ts';
import type { WatchEvent } from '../client/client.ts';
import { type Indexes, keyOf, type Store } from './informer.ts';

export type StoreChange<T extends KubeObject> =
  | { readonly type: 'added' | 'deleted'; readonly object: Stored<T> }
  | { readonly type: 'updated'; readonly object: Stored<T>; readonly old: Stored<T> };

export type ObjectEvent<T extends KubeObject> = Exclude<
  WatchEvent<Stored<T>>,
  { type: 'BOOKMARK' }
>;

export class ObjectStore<T extends KubeObject> implements Store<T> {
  #objects = new Map<string, Stored<T>>();
  #index: ObjectIndex<T>;
  #resourceVersion = '';

  constructor(indexes: Indexes<T> = {}) {
    this.#index = new ObjectIndex(indexes);
  }

  get(key: string): Stored<T> | undefined {
    return this.#objects.get(key);
  }

  values(): Iterable<Stored<T>> {
    return this.#objects.values();
  }

  get size(): number {
    return this.#objects.size;
  }

  byIndex(index: string, value: string): Iterable<Stored<T>> {
    return this.#index.find(index, value);
  }

  get resourceVersion(): string {
    return this.#resourceVersion;
  }

  /** Sets everything that exists at `resourceVersion`: objects that are missing were deleted. */
  replace(objects: readonly Stored<T>[], resourceVersion: string): readonly StoreChange<T>[] {
    const before = this.#objects;
    const after = new Map(objects.map((object) => [keyOf(object), object]));
    const changes: StoreChange<T>[] = [];
    for (const [key, old] of before) {
      const object = after.get(key);
      if (object?.metadata.uid !== old.metadata.uid) changes.push({ type: 'deleted', object: old });
    }
    const index = this.#index.emptied();
    for (const [key, object] of after) {
      index.add(key, object);
      changes.push(...changesTo(before.get(key), object));
    }
    this.#objects = after;
    this.#index = index;
    this.#resourceVersion = resourceVersion;
    return changes;
  }

  /** Takes one event of a watch that began at this store's version. */
  apply({ type, object }: ObjectEvent<T>): readonly StoreChange<T>[] {
    if (!this.advance(object.metadata.resourceVersion)) return [];
    const key = keyOf(object);
    const old = this.#objects.get(key);
    if (type === 'DELETED') {
      if (old === undefined) return [];
      this.#objects.delete(key);
      this.#index.remove(key, old);
      // The last state may be newer than ours: it shows the object at its deletion.
      const isSame = old.metadata.uid === object.metadata.uid;
      return [{ type: 'deleted', object: isSame ? object : old }];
    }
    this.#objects.set(key, object);
    this.#index.update(key, old, object);
    if (old === undefined || old.metadata.uid === object.metadata.uid)
      return changesTo(old, object);
    return [
      { type: 'deleted', object: old },
      { type: 'added', object },
    ];
  }

  /** Moves the store to `resourceVersion`. False if it already was there. */
  advance(resourceVersion: string): boolean {
    if (!mayBeNewer(resourceVersion, this.#resourceVersion)) return false;
    this.#resourceVersion = resourceVersion;
    return true;
  }
}

function changesTo<T extends KubeObject>(
  old: Stored<T> | undefined,
  object: Stored<T>,
): readonly StoreChange<T>[] {
  if (old === undefined || old.metadata.uid !== object.metadata.uid) {
    return [{ type: 'added', object }];
  }
  if (old.metadata.resourceVersion === object.metadata.resourceVersion) return [];
  return [{ type: 'updated', object, old }];
}

/** The objects by index function and value; an update costs only the values of its object. */
class ObjectIndex<T extends KubeObject> {
  readonly #indexes: Indexes<T>;
  readonly #buckets = new Map<string, Map<string, Map<string, Stored<T>>>>();

  constructor(indexes: Indexes<T>) {
    this.#indexes = indexes;
    for (const name of Object.keys(indexes)) this.#buckets.set(name, new Map());
  }

  emptied(): ObjectIndex<T> {
    return new ObjectIndex(this.#indexes);
  }

  find(name: string, value: string): Iterable<Stored<T>> {
    const values = this.#buckets.get(name);
    if (values === undefined) throw new RangeError(`there is no index ${JSON.stringify(name)}`);
    return values.get(value)?.values() ?? [];
  }

  update(key: string, old: Stored<T> | undefined, object: Stored<T>): void {
    if (old !== undefined) this.remove(key, old);
    this.add(key, object);
  }

  add(key: string, object: Stored<T>): void {
    for (const [name, values] of this.#buckets) {
      for (const value of this.#indexes[name]?.(object) ?? []) {
        const bucket = values.get(value);
        if (bucket === undefined) values.set(value, new Map([[key, object]]));
        else bucket.set(key, object);
      }
    }
  }

  remove(key: string, object: Stored<T>): void {
    for (const [name, values] of this.#buckets) {
      for (const value of this.#indexes[name]?.(object) ?? []) {
        const bucket = values.get(value);
        bucket?.delete(key);
        if (bucket?.size === 0) values.delete(value);
      }
    }
  }
}
