/** The garbage collector's writes. */
import { defined } from '@lockstep/kube/json/defined.ts';
import type { DeleteOptions, OwnerReference } from '@lockstep/kube/meta.ts';
import type { Client, ObjectKey } from '@lockstep/kube/runtime/client/client.ts';
import { forEachConcurrently } from '@lockstep/kube/runtime/concurrency.ts';
import { isReason } from '@lockstep/kube/status.ts';
import type { GraphObject } from './owner-graph.ts';

/**
 * Each write carries the object's UID and the resourceVersion on which it was decided, so a stale
 * cache causes a conflict and a second look. An object that is gone satisfies every write.
 */
export class ObjectWrites {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  async delete(
    { resource, metadata }: GraphObject,
    propagationPolicy: NonNullable<DeleteOptions['propagationPolicy']>,
    signal: AbortSignal,
  ): Promise<void> {
    const { uid, resourceVersion } = metadata;
    const preconditions = { uid, resourceVersion };
    await ignoreGone(
      this.#client.delete(resource, keyOf(metadata), { propagationPolicy, preconditions, signal }),
    );
  }

  /** Removes the references to `owners` from the object. */
  async disown(
    object: GraphObject,
    owners: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<void> {
    const { ownerReferences = [] } = object.metadata;
    const kept = ownerReferences.filter((owner) => !owners.has(owner.uid));
    await this.#patchOwners(object, kept, signal);
  }

  /** Removes the reference to one owner from all its dependents. */
  async disownAll(
    dependents: readonly GraphObject[],
    owner: string,
    signal: AbortSignal,
  ): Promise<void> {
    await forEachConcurrently(dependents, MAX_PATCHES_IN_FLIGHT, (dependent) =>
      this.disown(dependent, new Set([owner]), signal),
    );
  }

  /** Makes the object block none of its owners; false if it blocks none already. */
  async unblockOwners(object: GraphObject, signal: AbortSignal): Promise<boolean> {
    const { ownerReferences = [] } = object.metadata;
    if (!ownerReferences.some((owner) => owner.blockOwnerDeletion === true)) return false;
    const unblocking = ownerReferences.map((owner) => ({ ...owner, blockOwnerDeletion: false }));
    await this.#patchOwners(object, unblocking, signal);
    return true;
  }

  async finalize(object: GraphObject, finalizer: string, signal: AbortSignal): Promise<void> {
    const { finalizers = [] } = object.metadata;
    await this.#patch(
      object,
      { finalizers: finalizers.filter((name) => name !== finalizer) },
      signal,
    );
  }

  #patchOwners(
    object: GraphObject,
    ownerReferences: readonly OwnerReference[],
    signal: AbortSignal,
  ): Promise<void> {
    return this.#patch(object, { ownerReferences }, signal);
  }

  async #patch(
    { resource, metadata }: GraphObject,
    change: Partial<GraphObject['metadata']>,
    signal: AbortSignal,
  ): Promise<void> {
    const { uid, resourceVersion } = metadata;
    const patch = { metadata: { uid, resourceVersion, ...change } };
    await ignoreGone(
      this.#client.patch(resource, keyOf(metadata), { type: 'merge', patch }, { signal }),
    );
  }
}

/** How many dependents are changed at a time. */
const MAX_PATCHES_IN_FLIGHT = 20;

function keyOf({ name, namespace }: GraphObject['metadata']): ObjectKey {
  return { name, ...defined({ namespace }) };
}

async function ignoreGone(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isReason(error, 'NotFound')) throw error;
  }
}
