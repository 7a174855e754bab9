/** Affinity and anti-affinity between Pods, for the scheduler. */

import type { StringMap } from '@lockstep/kube/meta.ts';
import { namespaceOf } from '@lockstep/kube/meta.ts';
import type { Node } from '@lockstep/kube/objects/node.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import {
  matchesTerm,
  type NamespaceLabels,
  type PodTerm,
  type PodTerms,
  podTermsOf,
} from './pod-terms.ts';

/**
 * Knows where Pods are placed. A Pod is compared with all placed Pods only if it has terms of its
 * own; otherwise only with those whose anti-affinity keeps others away.
 */
export interface NeighbourhoodOptions {
  readonly nodeLabels: (node: string) => StringMap | undefined;
  readonly namespaceLabels: NamespaceLabels;
}

/** What the scheduler needs to know of each node for one Pod. */
export interface Survey {
  /** Why the Pod cannot go there, in kube-scheduler's words, or undefined. */
  problemOf(node: Node): string | undefined;
  /** The weights of the Pod's preferences that neighbours in the node's topology fulfil. */
  preference(node: Node): number;
}

export const AFFINITY_PROBLEM = "node(s) didn't match pod affinity rules";
const ANTI_AFFINITY_PROBLEM = "node(s) didn't match pod anti-affinity rules";
const EXISTING_ANTI_AFFINITY_PROBLEM = "node(s) didn't satisfy existing pods anti-affinity rules";

export class Neighbourhood {
  readonly #options: NeighbourhoodOptions;
  readonly #placed = new Map<string, PlacedPod>();
  /** Placed Pods whose anti-affinity keeps others away. */
  readonly #repelling = new Map<string, PlacedPod>();

  constructor(options: NeighbourhoodOptions) {
    this.#options = options;
  }

  /** Puts the Pod on `node`, and removes it from any other. */
  place(podUid: string, pod: Pod, node: string): void {
    const placed = { ...asNeighbour(pod), node, antiAffinity: podTermsOf(pod).antiAffinity };
    this.#placed.set(podUid, placed);
    if (placed.antiAffinity.length > 0) this.#repelling.set(podUid, placed);
    else this.#repelling.delete(podUid);
  }

  remove(podUid: string): void {
    this.#placed.delete(podUid);
    this.#repelling.delete(podUid);
  }

  survey(pod: Pod): Survey {
    const terms = podTermsOf(pod);
    const self = asNeighbour(pod);
    const attracting = this.#attracting(terms.affinity);
    const { namespaceLabels } = this.#options;
    const mayBeFirst =
      attracting.every((places) => places.size === 0) &&
      terms.affinity.every((term) => matchesTerm(term, self, namespaceLabels));
    const repelling = terms.antiAffinity.map((term) => this.#placesOf(term));
    const forbidden = this.#forbiddenTo(self);
    const preferred = this.#preferred(terms);
    return {
      problemOf: (node) => {
        const isAttracted = terms.affinity.every(({ topologyKey }, i) => {
          const place = placeOf(node.metadata.labels, topologyKey);
          return place !== undefined && (mayBeFirst || attracting[i]?.has(place) === true);
        });
        if (!isAttracted) return AFFINITY_PROBLEM;
        const isRepelled = terms.antiAffinity.some(({ topologyKey }, i) => {
          const place = placeOf(node.metadata.labels, topologyKey);
          return place !== undefined && repelling[i]?.has(place) === true;
        });
        if (isRepelled) return ANTI_AFFINITY_PROBLEM;
        return isIn(forbidden, node) ? EXISTING_ANTI_AFFINITY_PROBLEM : undefined;
      },
      preference: (node) =>
        preferred.reduce((sum, { topologyKey, weights }) => {
          const place = placeOf(node.metadata.labels, topologyKey);
          return sum + (place === undefined ? 0 : (weights.get(place) ?? 0));
        }, 0),
    };
  }

  /** For each term, the places of Pods that match all terms, as the API demands. */
  #attracting(terms: readonly PodTerm[]): readonly ReadonlySet<string>[] {
    const places = terms.map(() => new Set<string>());
    if (terms.length === 0) return places;
    for (const pod of this.#placed.values()) {
      const matches = terms.every((term) => matchesTerm(term, pod, this.#options.namespaceLabels));
      if (!matches) continue;
      terms.forEach(({ topologyKey }, i) => {
        const place = placeOf(this.#options.nodeLabels(pod.node), topologyKey);
        if (place !== undefined) places[i]?.add(place);
      });
    }
    return places;
  }

  #placesOf(term: PodTerm): ReadonlySet<string> {
    return new Set(this.#weigh(term).keys());
  }

  /** How many Pods that match the term are in each place. */
  #weigh(term: PodTerm): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const pod of this.#placed.values()) {
      if (!matchesTerm(term, pod, this.#options.namespaceLabels)) continue;
      const place = placeOf(this.#options.nodeLabels(pod.node), term.topologyKey);
      if (place !== undefined) counts.set(place, (counts.get(place) ?? 0) + 1);
    }
    return counts;
  }

  /** The places, by topology, from which placed Pods keep this one away. */
  #forbiddenTo(self: Neighbour): ReadonlyMap<string, ReadonlySet<string>> {
    const forbidden = new Map<string, Set<string>>();
    for (const { node, antiAffinity } of this.#repelling.values()) {
      for (const term of antiAffinity) {
        if (!matchesTerm(term, self, this.#options.namespaceLabels)) continue;
        const place = placeOf(this.#options.nodeLabels(node), term.topologyKey);
        if (place === undefined) continue;
        const places = forbidden.get(term.topologyKey) ?? new Set<string>();
        forbidden.set(term.topologyKey, places.add(place));
      }
    }
    return forbidden;
  }

  #preferred({ preferred }: PodTerms) {
    return preferred.map((term) => ({
      topologyKey: term.topologyKey,
      weights: new Map(
        [...this.#weigh(term)].map(([place, count]) => [place, count * term.weight] as const),
      ),
    }));
  }
}

interface Neighbour {
  readonly namespace: string;
  readonly labels: StringMap;
}

interface PlacedPod extends Neighbour {
  readonly node: string;
  readonly antiAffinity: readonly PodTerm[];
}

function asNeighbour({ metadata }: Pod): Neighbour {
  return { namespace: namespaceOf(metadata), labels: metadata.labels ?? {} };
}

function isIn(places: ReadonlyMap<string, ReadonlySet<string>>, node: Node): boolean {
  for (const [topologyKey, values] of places) {
    const place = placeOf(node.metadata.labels, topologyKey);
    if (place !== undefined && values.has(place)) return true;
  }
  return false;
}

function placeOf(labels: StringMap | undefined, topologyKey: string): string | undefined {
  return labels !== undefined && Object.hasOwn(labels, topologyKey)
    ? labels[topologyKey]
    : undefined;
}
