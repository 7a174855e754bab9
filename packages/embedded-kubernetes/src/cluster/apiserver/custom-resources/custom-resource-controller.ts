/** Serves the custom resources that CustomResourceDefinitions declare. */
import { assert } from '@lockstep/kube/assert.ts';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  type CustomResourceDefinition,
} from '@lockstep/kube/objects/custom-resource-definition.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { notFound } from '@lockstep/kube/status-errors.ts';
import { timeText } from '@lockstep/kube/time.ts';
import type { Storage } from '../../ports/storage.ts';
import type { ServerState } from '../calls/server-state.ts';
import { OBJECTS_FINALIZER } from '../kinds/custom-resource-definitions.ts';
import type { ApiObject, StoredObject } from '../resources/api-object.ts';
import { Collection } from '../resources/collection.ts';
import type { CommitSequence } from '../resources/commit-sequence.ts';
import type { Entry } from '../resources/entry.ts';
import { remove } from '../verbs/delete.ts';
import { update } from '../verbs/update.ts';
import { customResources } from './custom-resource.ts';
import { definitionStatus, isEstablished } from './definition-status.ts';

/**
 * Carries definitions out: accepts their names, serves their resources, and deletes all objects of
 * a definition before the definition itself. It acts on one definition after the other, in the
 * order of changes; `settled` resolves when nothing is left to do.
 */
export class CustomResourceController {
  readonly #server: ServerState;
  readonly #storage: Storage;
  readonly #commits: CommitSequence;
  readonly #collections = new Map<string, Collection>();
  /** Definitions in deletion that still have objects. */
  readonly #emptying = new Set<string>();
  #work: Promise<void> = Promise.resolve();

  constructor(server: ServerState, storage: Storage, commits: CommitSequence) {
    this.#server = server;
    this.#storage = storage;
    this.#commits = commits;
  }

  /** Serves the existing definitions, and follows changes from now on. */
  async start(): Promise<void> {
    const { collection } = this.#definitions();
    for (const { key } of collection.entries('')) this.#enqueue(key);
    collection.subscribe(({ key }) => this.#enqueue(key));
    await this.settled();
  }

  async settled(): Promise<void> {
    for (let seen = this.#work; ; seen = this.#work) {
      await seen;
      if (seen === this.#work) return;
    }
  }

  #definitions() {
    const { group, version, plural } = CUSTOM_RESOURCE_DEFINITIONS;
    const of = this.#server.resources.get(group, version, plural);
    assert(of !== undefined, 'the server serves CustomResourceDefinitions');
    return of;
  }

  #enqueue(name: string): void {
    this.#work = this.#work
      .then(() => this.#reconcile(name))
      .catch((error: unknown) => {
        this.#server.logger.error('custom resource definition failed', { crd: name, err: error });
      });
  }

  async #reconcile(name: string): Promise<void> {
    const entry = this.#definitions().collection.get(name);
    if (entry === undefined) {
      this.#unserve(name);
      return;
    }
    const definition = await this.#judged(definitionOf(entry));
    if (definition === undefined || !isEstablished(definition)) return;
    const collection = await this.#collectionOf(name, definition);
    const { group, names } = definition.spec;
    const served = customResources(definition, collection);
    this.#server.resources.replace(group, names.plural, served);
    if (definition.metadata.deletionTimestamp !== undefined) {
      await this.#empty(name, definition, collection);
    }
  }

  /**
   * Writes the result of the check of names into the status, and returns the definition as it is
   * then.
   */
  async #judged(
    definition: CustomResourceDefinition,
  ): Promise<CustomResourceDefinition | undefined> {
    const others = this.#definitions().collection.entries('').map(definitionOf);
    const status = definitionStatus(definition, others, timeText(this.#server.clock.now()));
    const name = definition.metadata.name ?? '';
    return this.#change(name, 'status', (present) => ({ ...present, status }));
  }

  async #collectionOf(name: string, { spec }: CustomResourceDefinition): Promise<Collection> {
    const of = { group: spec.group, plural: spec.names.plural };
    const known = this.#collections.get(name);
    const collection = known ?? (await Collection.open(of, this.#storage, this.#commits));
    this.#collections.set(name, collection);
    return collection;
  }

  #unserve(name: string): void {
    const dot = name.indexOf('.');
    this.#server.resources.replace(name.slice(dot + 1), name.slice(0, dot), []);
    this.#collections.get(name)?.end();
    this.#collections.delete(name);
    this.#emptying.delete(name);
  }

  /** Deletes all objects; the definition goes when the last one has gone. */
  async #empty(
    name: string,
    { spec }: CustomResourceDefinition,
    collection: Collection,
  ): Promise<void> {
    const version = spec.versions.find(({ served }) => served)?.name ?? '';
    const of = this.#server.resources.get(spec.group, version, spec.names.plural);
    if (of !== undefined) {
      for (const { object } of collection.entries('')) {
        const { namespace, name: own } = object.metadata;
        await remove(this.#server, of, { namespace, name: own }, {});
      }
    }
    if (collection.size > 0) {
      this.#enqueueWhenEmpty(name, collection);
      return;
    }
    await this.#change(name, undefined, (present) => {
      const finalizers = (present.metadata.finalizers ?? []).filter(
        (each) => each !== OBJECTS_FINALIZER,
      );
      return { ...present, metadata: { ...present.metadata, finalizers } };
    });
  }

  #enqueueWhenEmpty(name: string, collection: Collection): void {
    if (this.#emptying.has(name)) return;
    this.#emptying.add(name);
    const stop = collection.subscribe(() => {
      if (collection.size > 0) return;
      stop();
      this.#emptying.delete(name);
      this.#enqueue(name);
    });
  }

  /** Changes a definition, unless it is gone. */
  async #change(
    name: string,
    subresource: 'status' | undefined,
    change: (present: StoredObject) => ApiObject,
  ): Promise<CustomResourceDefinition | undefined> {
    try {
      const { entry } = await update(this.#server, {
        of: this.#definitions(),
        namespace: undefined,
        name,
        subresource,
        mode: 'Patch',
        transform: (present) => {
          if (present === undefined) throw notFound(CUSTOM_RESOURCE_DEFINITIONS, name);
          return change(present);
        },
        isDryRun: false,
        requester: undefined,
      });
      return definitionOf(entry);
    } catch (error) {
      if (isReason(error, 'NotFound')) return undefined;
      throw error;
    }
  }
}

/** The stored definition; its schema was enforced when it was written. */
function definitionOf(entry: Entry): CustomResourceDefinition {
  return entry.object as unknown as CustomResourceDefinition;
}
