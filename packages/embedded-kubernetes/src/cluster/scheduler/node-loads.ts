import { minus, plus, type ResourceAmounts } from './resource-amounts.ts';

/** What the Pods of a node take. */
export interface NodeLoad {
  readonly pods: number;
  readonly requests: ResourceAmounts;
}

const NO_LOAD: NodeLoad = { pods: 0, requests: new Map() };

/**
 * Which Pods are on which node, updated Pod by Pod, so that no decision has to add up all Pods. A
 * Pod is placed here as soon as it is decided, before its binding shows in the cache.
 */
export class NodeLoads {
  readonly #loads = new Map<string, NodeLoad>();
  readonly #placements = new Map<string, Placement>();

  of(node: string): NodeLoad {
    return this.#loads.get(node) ?? NO_LOAD;
  }

  isPlaced(podUid: string): boolean {
    return this.#placements.has(podUid);
  }

  /** Puts the Pod on `node`, and removes it from any other. */
  place(podUid: string, node: string, requests: ResourceAmounts): void {
    this.remove(podUid);
    this.#placements.set(podUid, { node, requests });
    const load = this.of(node);
    this.#loads.set(node, { pods: load.pods + 1, requests: plus(load.requests, requests) });
  }

  /** True if the Pod was placed, so that there is room now. */
  remove(podUid: string): boolean {
    const placement = this.#placements.get(podUid);
    if (placement === undefined) return false;
    this.#placements.delete(podUid);
    const load = this.of(placement.node);
    if (load.pods === 1) this.#loads.delete(placement.node);
    else {
      const requests = minus(load.requests, placement.requests);
      this.#loads.set(placement.node, { pods: load.pods - 1, requests });
    }
    return true;
  }
}

interface Placement {
  readonly node: string;
  readonly requests: ResourceAmounts;
}
