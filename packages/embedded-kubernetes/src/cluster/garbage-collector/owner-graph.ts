/** The graph of owners and dependents in the garbage collector. */
import type { OwnerReference, PartialObjectMetadata, Stored } from '@lockstep/kube/meta.ts';
import type { Resource } from '@lockstep/kube/resource.ts';

/** The graph goes by UID and is updated object by object. */
export class OwnerGraph {
  readonly #objects = new Map<string, GraphObject>();
  /** From the owner's UID, known or not, to the UIDs of its dependents. */
  readonly #dependents = new Map<string, Set<string>>();

  get(uid: string): GraphObject | undefined {
    return this.#objects.get(uid);
  }

  put(resource: Resource, object: Stored<PartialObjectMetadata>): void {
    const { uid } = object.metadata;
    this.#unlink(uid);
    this.#objects.set(uid, { resource, metadata: object.metadata });
    for (const owner of object.metadata.ownerReferences ?? []) {
      const dependents = this.#dependents.get(owner.uid) ?? new Set();
      this.#dependents.set(owner.uid, dependents.add(uid));
    }
  }

  remove(uid: string): void {
    this.#unlink(uid);
    this.#objects.delete(uid);
  }

  /** Dependents within reach: one in another namespace neither waits nor blocks. */
  dependentsOf(owner: Pick<GraphObject, 'metadata'>): readonly GraphObject[] {
    const dependents: GraphObject[] = [];
    for (const dependent of this.#dependents.get(owner.metadata.uid) ?? []) {
      const object = this.#objects.get(dependent);
      if (object !== undefined && isWithinReach(owner, object.metadata)) dependents.push(object);
    }
    return dependents;
  }

  #unlink(uid: string): void {
    for (const owner of this.#objects.get(uid)?.metadata.ownerReferences ?? []) {
      const dependents = this.#dependents.get(owner.uid);
      dependents?.delete(uid);
      if (dependents?.size === 0) this.#dependents.delete(owner.uid);
    }
  }
}

export interface GraphObject {
  readonly resource: Resource;
  readonly metadata: Stored<PartialObjectMetadata>['metadata'];
}

/** An owner is in the namespace of its dependents, or in none. */
export function isWithinReach(
  { metadata: { namespace } }: Pick<GraphObject, 'metadata'>,
  dependent: GraphObject['metadata'],
): boolean {
  return namespace === undefined || namespace === dependent.namespace;
}

/** Whether the object waits for its dependents to be deleted first. */
export function isDeletingInForeground({ metadata }: Pick<GraphObject, 'metadata'>): boolean {
  return hasFinalizerWhileDeleting(metadata, FOREGROUND_FINALIZER);
}

/** Whether the object waits for its dependents to lose their reference to it. */
export function isOrphaning({ metadata }: GraphObject): boolean {
  return hasFinalizerWhileDeleting(metadata, ORPHAN_FINALIZER);
}

export const FOREGROUND_FINALIZER = 'foregroundDeletion';
export const ORPHAN_FINALIZER = 'orphan';

export function blocksOwner(dependent: GraphObject, ownerUid: string): boolean {
  const isBlocking = (owner: OwnerReference): boolean =>
    owner.uid === ownerUid && owner.blockOwnerDeletion === true;
  return dependent.metadata.ownerReferences?.some(isBlocking) === true;
}

function hasFinalizerWhileDeleting(metadata: GraphObject['metadata'], finalizer: string): boolean {
  return (
    metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(finalizer) === true
  );
}
