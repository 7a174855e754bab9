/**
 * How fast lost nodes get the taint that evicts their Pods, as in Kubernetes' node lifecycle
 * controller: one node of a zone in ten seconds. If much of a zone is lost at once, the network is
 * the likely cause, so it is slower or stops.
 */
import type { Node } from '@lockstep/kube/objects/node.ts';
import { readinessOf } from './node-health.ts';

export type ZoneState =
  | 'Normal'
  /** Most nodes are lost. */
  | 'PartialDisruption'
  /** All nodes are lost. */
  | 'FullDisruption';

/** Nodes per second in a zone: `--node-eviction-rate` of kube-controller-manager. */
const NODES_PER_SECOND = 0.1;
/** The rate in a large zone with most nodes lost: `--secondary-node-eviction-rate`. */
const SECONDARY_NODES_PER_SECOND = 0.01;
/** `--unhealthy-zone-threshold` */
const UNHEALTHY_SHARE = 0.55;
/** Fewer lost nodes mean nothing for a zone. */
const MIN_UNHEALTHY_NODES = 3;
/** The size up to which a zone is small: `--large-cluster-size-threshold`. */
const LARGE_ZONE_NODES = 50;

/** The zone of a node; nodes without a label form one zone. */
export function zoneOf({ metadata: { labels } }: Node): string {
  const region = labels?.['topology.kubernetes.io/region'] ?? '';
  const zone = labels?.['topology.kubernetes.io/zone'] ?? '';
  return region === '' && zone === '' ? '' : `${region}:${zone}`;
}

/** `nodes` are the nodes of one zone. */
export function zoneState(nodes: readonly Node[]): ZoneState {
  const lost = nodes.filter((node) => readinessOf(node) !== 'True').length;
  if (lost > 0 && lost === nodes.length) return 'FullDisruption';
  const isPartial = lost >= MIN_UNHEALTHY_NODES && lost / nodes.length >= UNHEALTHY_SHARE;
  return isPartial ? 'PartialDisruption' : 'Normal';
}

/** How many nodes of the zone may be tainted per second; 0: none. */
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

  /** Takes the turn of the zone's next node and returns 0, or returns the time to wait. */
  take(zone: string, nodesPerSecond: number, nowMs: number): number {
    const lastMs = this.#lastMs.get(zone) ?? Number.NEGATIVE_INFINITY;
    const waitMs = nodesPerSecond === 0 ? Infinity : lastMs + 1000 / nodesPerSecond - nowMs;
    if (waitMs > 0) return waitMs;
    this.#lastMs.set(zone, nowMs);
    return 0;
  }
}
