import type { LabelSelector } from '../meta.ts';

/** `core/v1 Affinity`: which nodes, and which neighbours, a Pod must or would like to have. */
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

/** All requirements must hold; a term without any matches no node. */
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
  /** Absent: no Pod. */
  readonly labelSelector?: LabelSelector;
  /** Together with `namespaceSelector`; neither: the namespace of the Pod that has the term. */
  readonly namespaces?: readonly string[];
  /** Empty: all namespaces. */
  readonly namespaceSelector?: LabelSelector;
  /** Nodes with the same value of this label are one place. */
  readonly topologyKey: string;
  /** Keys of labels of which the other Pod must have, or not have, this Pod's values. */
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
}

export interface WeightedPodAffinityTerm {
  /** 1 to 100. */
  readonly weight: number;
  readonly podAffinityTerm: PodAffinityTerm;
}
