import type { LabelSelector } from '../meta.ts';

/** `core/v1 Affinity`: the nodes and neighbours that a Pod requires or prefers. */
export interface Affinity {
  readonly nodeAffinity?: {
    readonly requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector;
    readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly PreferredSchedulingTerm[];
  };
  readonly podAffinity?: PodAffinity;
  readonly podAntiAffinity?: PodAffinity;
}

/** A node matches if it matches one of the terms. */
export interface NodeSelector {
  readonly nodeSelectorTerms: readonly NodeSelectorTerm[];
}

/** All requirements must hold; a term without requirements matches no node. */
export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeSelectorRequirement[];
  readonly matchFields?: readonly NodeSelectorRequirement[];
}

export interface NodeSelectorRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';
  readonly values?: readonly string[];
}

export interface PreferredSchedulingTerm {
  /** 1 to 100. */
  readonly weight: number;
  readonly preference: NodeSelectorTerm;
}

/** Also the shape of anti-affinity. */
export interface PodAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly WeightedPodAffinityTerm[];
}

export interface PodAffinityTerm {
  /** Absent: matches no Pod. */
  readonly labelSelector?: LabelSelector;
  /** Added to `namespaceSelector`; if both are absent, the namespace of the Pod with the term. */
  readonly namespaces?: readonly string[];
  /** Empty: all namespaces. */
  readonly namespaceSelector?: LabelSelector;
  /** Nodes with an equal value of this label count as one place. */
  readonly topologyKey: string;
  /** Keys of labels whose values the other Pod must share, or must not share, with this one. */
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
}

export interface WeightedPodAffinityTerm {
  /** 1 to 100. */
  readonly weight: number;
  readonly podAffinityTerm: PodAffinityTerm;
}
