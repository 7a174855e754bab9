/**
 * Makes informers: each reflects a collection into a store and reports changes to its subscribers.
 * For a client that may not read all namespaces, it joins the collections of several.
 */

import { defined } from '../../json/defined.ts';
import type { KubeList, KubeObject, PartialObjectMetadata, Stored } from '../../meta.ts';
import { groupResourceOf, type Resource } from '../../resource.ts';
import type { Logger } from '../ports/logger.ts';
import type { ClientPorts } from '../ports/runtime-ports.ts';
import type { Indexes, Informer, ResourceEventHandler } from './informer.ts';
import { joinedInformer } from './joined-informer.ts';
import { ObjectStore, type StoreChange } from './object-store.ts';
import { Reflector, type ReflectorSink, type ReflectorSource } from './reflector.ts';

export interface InformerOptions<T extends KubeObject> extends ClientPorts {
  readonly resource: Resource<T>;
  /** All namespaces when absent. */
  readonly namespace?: string | undefined;
  /**
   * Several namespaces instead, for a client that may not read all: at least one, each with its own
   * watch.
   */
  readonly namespaces?: readonly string[] | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Whether to load the collection in pages (the default) or as the beginning of the watch. */
  readonly load?: 'pages' | 'stream' | undefined;
  readonly indexes?: Indexes<T> | undefined;
  /** The part of an object to keep. `withoutManagedFields` by default. */
  readonly transform?: ((object: Stored<T>) => Stored<T>) | undefined;
  /** Whether an object counts, for a choice that no selector can make. All do by default. */
  readonly keeps?: ((object: Stored<T>) => boolean) | undefined;
  /** Stands between the server and the store. One is made for each watched namespace, or for all. */
  readonly through?: ((source: ReflectorSource<T>) => ReflectorSource<T>) | undefined;
  /** Called for every failed request, so that a waiting caller can report why. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
}

/** Starts to follow the collection at once, and continues through every failure until `stop`. */
export function createInformer<T extends KubeObject>(
  options: InformerOptions<T> & { readonly metadataOnly?: false | undefined },
): Informer<T>;
/** An informer of `PartialObjectMetadata` for any resource: the server sends nothing else. */
export function createInformer(
  options: InformerOptions<PartialObjectMetadata> & { readonly metadataOnly: true },
): Informer<PartialObjectMetadata>;
export function createInformer<T extends KubeObject>(
  options: InformerOptions<T> & { readonly metadataOnly?: boolean | undefined },
): Informer<T> {
  const { namespace: one, namespaces, through = (source) => source } = options;
  const within = (namespace: string | undefined): ReflectedInformer<T> =>
    new ReflectedInformer(options, through(sourceOf(options, namespace)));
  if (namespaces === undefined) return within(one);
  const parts = new Map(namespaces.map((namespace) => [namespace, within(namespace)]));
  const [only] = parts.values();
  return parts.size === 1 && only !== undefined ? only : joinedInformer(parts);
}

/**
 * A view of the informer whose subscriptions end with the signal, for a part that ends before it.
 */
export function subscribedUntil<T extends KubeObject>(
  informer: Informer<T>,
  until: AbortSignal,
): Informer<T> {
  return {
    store: informer.store,
    hasSynced: () => informer.hasSynced(),
    whenSynced: (signal) => informer.whenSynced(signal),
    subscribe: (handler) => informer.subscribe(handler, until),
    reconnect: () => informer.reconnect(),
    stop: () => informer.stop(),
  };
}

/** Drops `managedFields`, which are most of many objects and only the server needs. */
export function withoutManagedFields<T extends KubeObject>(object: Stored<T>): Stored<T> {
  if (!('managedFields' in object.metadata)) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function sourceOf<T extends KubeObject>(
  options: InformerOptions<T> & { readonly metadataOnly?: boolean | undefined },
  namespace: string | undefined,
): ReflectorSource<T> {
  const { client, resource, labelSelector, fieldSelector, metadataOnly } = options;
  const collection = {
    ...defined({ namespace, labelSelector, fieldSelector }),
  };
  if (metadataOnly !== true) {
    return {
      list: (page) => client.list(resource, { ...collection, ...page }),
      watch: (from) => client.watch(resource, { ...collection, ...from }),
    };
  }
  return {
    // With `metadataOnly`, `T` is `PartialObjectMetadata`: the overloads ensure that.
    list: (page) =>
      client.listMetadata(resource, { ...collection, ...page }) as Promise<KubeList<Stored<T>>>,
    watch: (from) => client.watch(resource, { ...collection, ...from, metadataOnly: true }),
  };
}

class ReflectedInformer<T extends KubeObject> implements Informer<T> {
  readonly store: ObjectStore<T>;
  readonly #handlers = new Set<ResourceEventHandler<T>>();
  readonly #reflector: Reflector<T>;
  readonly #logger: Logger;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #hasSynced = false;
  #whenSynced = new Set<() => void>();

  constructor(options: InformerOptions<T>, source: ReflectorSource<T>) {
    this.store = new ObjectStore(options.indexes);
    this.#logger = options.logger.with({ resource: groupResourceOf(options.resource) });
    const { clock, random, onFailure, load = 'pages' } = options;
    this.#reflector = new Reflector<T>({
      source,
      sink: this.#sink(options.keeps ?? (() => true)),
      transform: options.transform ?? withoutManagedFields,
      load,
      clock,
      random,
      logger: this.#logger,
      onFailure,
    });
    this.#running = this.#reflector.run(this.#stopping.signal);
  }

  hasSynced(): boolean {
    return this.#hasSynced;
  }

  whenSynced(signal?: AbortSignal): Promise<void> {
    if (this.#hasSynced) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        this.#whenSynced.delete(settle);
        signal?.removeEventListener('abort', settle);
        if (this.#hasSynced) resolve();
        else reject(signal?.reason as Error);
      };
      this.#whenSynced.add(settle);
      signal?.addEventListener('abort', settle, { once: true });
      if (signal?.aborted) settle();
    });
  }

  subscribe(handler: ResourceEventHandler<T>, until?: AbortSignal): void {
    if (until?.aborted) return;
    this.#handlers.add(handler);
    until?.addEventListener('abort', () => this.#handlers.delete(handler), { once: true });
    for (const object of this.store.values()) this.#call(handler, { type: 'added', object });
  }

  reconnect(): void {
    this.#reflector.reconnect();
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the informer was stopped'));
    await this.#running;
  }

  #sink(keeps: (object: Stored<T>) => boolean): ReflectorSink<T> {
    const { store } = this;
    return {
      get resourceVersion() {
        return store.resourceVersion;
      },
      replace: (objects, resourceVersion) => {
        const changes = store.replace(objects.filter(keeps), resourceVersion);
        this.#hasSynced = true;
        this.#deliver(changes);
        for (const settle of this.#whenSynced) settle();
      },
      apply: (event) => {
        const seen = keeps(event.object) ? event : ({ ...event, type: 'DELETED' } as const);
        this.#deliver(store.apply(seen));
      },
      advance: (resourceVersion) => void store.advance(resourceVersion),
    };
  }

  #deliver(changes: readonly StoreChange<T>[]): void {
    for (const change of changes) {
      for (const handler of this.#handlers) this.#call(handler, change);
    }
  }

  /** A handler that throws has a fault, which must not keep the change from other handlers. */
  #call(handler: ResourceEventHandler<T>, change: StoreChange<T>): void {
    try {
      switch (change.type) {
        case 'added':
          handler.added?.(change.object);
          break;
        case 'updated':
          handler.updated?.(change.object, change.old);
          break;
        case 'deleted':
          handler.deleted?.(change.object);
          break;
      }
    } catch (error) {
      this.#logger.error('an event handler failed', { err: error });
    }
  }
}
