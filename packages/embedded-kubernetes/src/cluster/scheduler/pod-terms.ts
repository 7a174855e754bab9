/** Parses a Pod's affinity terms, so that they can be matched against many Pods. */

import type { LabelSelector, StringMap } from '@lockstep/kube/meta.ts';
import { namespaceOf } from '@lockstep/kube/meta.ts';
import type { PodAffinity, PodAffinityTerm } from '@lockstep/kube/objects/affinity.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import {
  type LabelRequirements,
  labelRequirementsOf,
  matchesLabels,
} from '@lockstep/kube/selectors/label-selector.ts';
import { isReason } from '@lockstep/kube/status.ts';

export interface PodTerms {
  readonly affinity: readonly PodTerm[];
  readonly antiAffinity: readonly PodTerm[];
  /** Positive weights attract, negative ones repel. */
  readonly preferred: readonly (PodTerm & { readonly weight: number })[];
}

export interface PodTerm {
  readonly topologyKey: string;
  readonly selector: LabelRequirements;
  readonly namespaces: ReadonlySet<string>;
  readonly namespaceSelector: LabelRequirements;
}

/** Labels of a namespace; undefined for an unknown one. */
export type NamespaceLabels = (namespace: string) => StringMap | undefined;

export function podTermsOf(pod: Pod): PodTerms {
  const { podAffinity, podAntiAffinity } = pod.spec.affinity ?? {};
  return {
    affinity: requiredTerms(podAffinity, pod),
    antiAffinity: requiredTerms(podAntiAffinity, pod),
    preferred: [
      ...preferredTerms(podAffinity, pod, 1),
      ...preferredTerms(podAntiAffinity, pod, -1),
    ],
  };
}

export function matchesTerm(
  term: PodTerm,
  pod: { readonly namespace: string; readonly labels: StringMap },
  namespaceLabels: NamespaceLabels,
): boolean {
  const isInNamespace =
    term.namespaces.has(pod.namespace) ||
    matchesLabels(term.namespaceSelector, namespaceLabels(pod.namespace));
  return isInNamespace && matchesLabels(term.selector, pod.labels);
}

function requiredTerms(affinity: PodAffinity | undefined, pod: Pod): readonly PodTerm[] {
  const terms = affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  return terms.map((term) => compiled(term, pod));
}

function preferredTerms(affinity: PodAffinity | undefined, pod: Pod, sign: 1 | -1) {
  const terms = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return terms.map(({ weight, podAffinityTerm }) => ({
    ...compiled(podAffinityTerm, pod),
    weight: sign * weight,
  }));
}

function compiled(term: PodAffinityTerm, { metadata }: Pod): PodTerm {
  const { namespaces = [], namespaceSelector, topologyKey } = term;
  const isOwnNamespace = namespaces.length === 0 && namespaceSelector === undefined;
  return {
    topologyKey,
    selector: requirementsOf(withLabelKeys(term, metadata.labels ?? {})),
    namespaces: new Set(isOwnNamespace ? [namespaceOf(metadata)] : namespaces),
    namespaceSelector: requirementsOf(namespaceSelector),
  };
}

/** Adds `matchLabelKeys` and `mismatchLabelKeys` to the selector, with the Pod's own values. */
function withLabelKeys(term: PodAffinityTerm, labels: StringMap): LabelSelector | undefined {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  const own = (keys: readonly string[], operator: 'In' | 'NotIn') =>
    keys.flatMap((key) => {
      const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
      return value === undefined ? [] : [{ key, operator, values: [value] }];
    });
  const added = [...own(matchLabelKeys, 'In'), ...own(mismatchLabelKeys, 'NotIn')];
  if (labelSelector === undefined || added.length === 0) return labelSelector;
  const { matchExpressions = [] } = labelSelector;
  return { ...labelSelector, matchExpressions: [...matchExpressions, ...added] };
}

/** An invalid selector matches nothing, so that it cannot keep other Pods from being placed. */
function requirementsOf(selector: LabelSelector | undefined): LabelRequirements {
  try {
    return labelRequirementsOf(selector);
  } catch (error) {
    if (isReason(error, 'BadRequest')) return labelRequirementsOf(undefined);
    throw error;
  }
}
