/** Finds out whether owners exist, for the garbage collector. */
import type { OwnerReference } from '@lockstep/kube/meta.ts';
import type { Client, ObjectKey } from '@lockstep/kube/runtime/client/client.ts';
import { isReason } from '@lockstep/kube/status.ts';
import type { OwnerState } from './collection.ts';
import {
  type GraphObject,
  isDeletingInForeground,
  isWithinReach,
  type OwnerGraph,
} from './owner-graph.ts';
import type { ResourceMonitors } from './resource-monitors.ts';

/**
 * An owner that no informer shows is requested from the API server, because an informer may be
 * behind. The answer that it is gone is remembered, because UIDs never come back.
 */
export class OwnerStates {
  readonly #client: Client;
  readonly #graph: OwnerGraph;
  readonly #monitors: ResourceMonitors;
  /** Keyed by `absenceKey`, in order of discovery; the oldest is forgotten first. */
  readonly #absent = new Set<string>();

  constructor(client: Client, graph: OwnerGraph, monitors: ResourceMonitors) {
    this.#client = client;
    this.#graph = graph;
    this.#monitors = monitors;
  }

  /** The states of the owners of `object` by UID. */
  async of(object: GraphObject, signal: AbortSignal): Promise<ReadonlyMap<string, OwnerState>> {
    const states = new Map<string, OwnerState>();
    for (const owner of object.metadata.ownerReferences ?? []) {
      const known = this.#known(object, owner);
      states.set(owner.uid, known ?? (await this.#ask(object, owner, signal)));
    }
    return states;
  }

  /**
   * The object is absent in its namespace. References to its UID in other namespaces prove nothing.
   */
  sawDeleted({ uid, namespace }: GraphObject['metadata']): void {
    this.#remember(absenceKey(namespace, uid));
  }

  #remember(key: string): void {
    this.#absent.add(key);
    if (this.#absent.size <= MAX_REMEMBERED) return;
    for (const oldest of this.#absent) {
      this.#absent.delete(oldest);
      return;
    }
  }

  #known({ metadata }: GraphObject, { uid }: OwnerReference): OwnerState | undefined {
    const isAbsent = [metadata.namespace, undefined].some((namespace) =>
      this.#absent.has(absenceKey(namespace, uid)),
    );
    if (isAbsent) return 'absent';
    const owner = this.#graph.get(uid);
    return owner === undefined || !isWithinReach(owner, metadata) ? undefined : stateOf(owner);
  }

  async #ask(object: GraphObject, owner: OwnerReference, signal: AbortSignal): Promise<OwnerState> {
    const resource = this.#monitors.resourceOf(owner.apiVersion, owner.kind);
    const { namespace } = object.metadata;
    if (resource === undefined || (resource.namespaced && namespace === undefined))
      return 'unknown';
    const at: ObjectKey = {
      name: owner.name,
      ...(resource.namespaced && namespace !== undefined ? { namespace } : {}),
    };
    try {
      const { metadata } = await this.#client.get(resource, at, { signal });
      if (metadata.uid === owner.uid) return stateOf({ metadata });
    } catch (error) {
      if (!isReason(error, 'NotFound')) throw error;
    }
    this.#remember(absenceKey(at.namespace, owner.uid));
    return 'absent';
  }
}

/** How many absent owners are kept. Forgetting one costs a request. */
const MAX_REMEMBERED = 10_000;

/** Includes the place, because the same UID may exist elsewhere. */
function absenceKey(namespace: string | undefined, uid: string): string {
  return `${namespace ?? ''}/${uid}`;
}

function stateOf(owner: Pick<GraphObject, 'metadata'>): OwnerState {
  return isDeletingInForeground(owner) ? 'waiting' : 'present';
}
