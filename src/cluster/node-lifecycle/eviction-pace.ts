/**
 * How fast nodes that are lost get the taint that drives their Pods away, as in Kubernetes' node
 * lifecycle controller: one node of a zone in ten seconds, slower or not at all where much of a zone is
 * lost at once, since then it is rather the network.
 */
import type { Node } from '../../kube/objects/node.ts';
import { readinessOf } from './node-health.ts';

export type ZoneState =
  | 'Normal'
  /** Most nodes are lost. */
  | 'PartialDisruption'
  /** All nodes are lost. */
  | 'FullDisruption';

/** Nodes in a second, of a zone: `--node-eviction-rate` of kube-controller-manager. */
const NODES_PER_SECOND = 0.1;
/** In a large zone most of whose nodes are lost: `--secondary-node-eviction-rate`. */
const SECONDARY_NODES_PER_SECOND = 0.01;
/** `--unhealthy-zone-threshold` */
const UNHEALTHY_SHARE = 0.55;
/** Fewer lost nodes than this say nothing about a zone. */
const MIN_UNHEALTHY_NODES = 3;
/** A zone of no more nodes than this is small: `--large-cluster-size-threshold`. */
const LARGE_ZONE_NODES = 50;

/** The zone that a node says it is in; nodes that say nothing are in one together. */
export function zoneOf({ metadata: { labels } }: Node): string {
  const region = labels?.['topology.kubernetes.io/region'] ?? '';
  const zone = labels?.['topology.kubernetes.io/zone'] ?? '';
  return region === '' && zone === '' ? '' : `${region}:${zone}`;
}

/** `nodes` are those of one zone. */
export function zoneState(nodes: readonly Node[]): ZoneState {
  const lost = nodes.filter((node) => readinessOf(node) !== 'True').length;
  if (lost > 0 && lost === nodes.length) return 'FullDisruption';
  const isPartial = lost >= MIN_UNHEALTHY_NODES && lost / nodes.length >= UNHEALTHY_SHARE;
  return isPartial ? 'PartialDisruption' : 'Normal';
}

/** Nodes of the zone that may be tainted in a second; 0: none. */
export function evictionRate(nodes: readonly Node[]): number {
  switch (zoneState(nodes)) {
    case 'Normal':
    case 'FullDisruption':
      return NODES_PER_SECOND;
    case 'PartialDisruption':
      return nodes.length > LARGE_ZONE_NODES ? SECONDARY_NODES_PER_SECOND : 0;
  }
}

export class EvictionPace {
  /** When the last node of each zone was tainted. */
  readonly #lastMs = new Map<string, number>();

  /** 0 if it is the turn of another node of the zone, which is taken then; otherwise the time to wait. */
  take(zone: string, nodesPerSecond: number, nowMs: number): number {
    const lastMs = this.#lastMs.get(zone) ?? Number.NEGATIVE_INFINITY;
    const waitMs = nodesPerSecond === 0 ? Infinity : lastMs + 1000 / nodesPerSecond - nowMs;
    if (waitMs > 0) return waitMs;
    this.#lastMs.set(zone, nowMs);
    return 0;
  }
}
