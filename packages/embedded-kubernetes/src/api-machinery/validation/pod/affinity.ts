/** Validates `core/v1 Affinity`: where a Pod wants to run. */

import { forbiddenField, invalidValue, required } from '@lockstep/kube/field-error.ts';
import {
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  labelValueErrors,
  qualifiedNameErrors,
} from '@lockstep/kube/name-rules.ts';
import type {
  Affinity,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
} from '@lockstep/kube/objects/affinity.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { labelSelectorErrors } from '../label-selector.ts';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

export function affinityErrors(affinity: Affinity | undefined, path: string): FieldError[] {
  if (affinity === undefined) return [];
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity;
  return [
    ...nodeAffinityErrors(nodeAffinity, `${path}.nodeAffinity`),
    ...podAffinityErrors(podAffinity, `${path}.podAffinity`),
    ...podAffinityErrors(podAntiAffinity, `${path}.podAntiAffinity`),
  ];
}

function nodeAffinityErrors(affinity: Affinity['nodeAffinity'], path: string): FieldError[] {
  const terms = affinity?.[REQUIRED]?.nodeSelectorTerms;
  const termsPath = `${path}.${REQUIRED}.nodeSelectorTerms`;
  const errors =
    terms?.length === 0 ? [required(termsPath, 'must have at least one node selector term')] : [];
  return [
    ...errors,
    ...(terms ?? []).flatMap((term, i) => [
      ...nodeTermErrors(term, `${termsPath}[${i}]`),
      ...labelValuesErrors(term, `${termsPath}[${i}]`),
    ]),
    // In a preference, a value that no node can have is only a warning.
    ...(affinity?.[PREFERRED] ?? []).flatMap(({ weight, preference }, i) => [
      ...weightErrors(weight, `${path}.${PREFERRED}[${i}].weight`),
      ...nodeTermErrors(preference, `${path}.${PREFERRED}[${i}].preference`),
    ]),
  ];
}

function nodeTermErrors(term: NodeSelectorTerm, path: string): FieldError[] {
  return [
    ...(term.matchExpressions ?? []).flatMap((requirement, i) =>
      labelRequirementErrors(requirement, `${path}.matchExpressions[${i}]`),
    ),
    ...(term.matchFields ?? []).flatMap((requirement, i) =>
      fieldRequirementErrors(requirement, `${path}.matchFields[${i}]`),
    ),
  ];
}

function labelRequirementErrors(
  { key, operator, values = [] }: NodeSelectorRequirement,
  path: string,
): FieldError[] {
  const problem = countProblem(operator, values.length);
  return [
    ...(problem === undefined ? [] : [problem(`${path}.values`)]),
    ...qualifiedNameErrors(key).map((text) => invalidValue(`${path}.key`, key, text)),
  ];
}

function labelValuesErrors(
  { matchExpressions = [] }: NodeSelectorTerm,
  path: string,
): FieldError[] {
  return matchExpressions.flatMap(({ values = [] }, i) =>
    values.flatMap((value, at) =>
      labelValueErrors(value).map((text) =>
        invalidValue(`${path}.matchExpressions[${i}].values[${at}]`, value, text),
      ),
    ),
  );
}

function countProblem(
  operator: NodeSelectorRequirement['operator'],
  count: number,
): ((path: string) => FieldError) | undefined {
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (count > 0) return undefined;
      return (path) => required(path, "must be specified when `operator` is 'In' or 'NotIn'");
    case 'Exists':
    case 'DoesNotExist':
      if (count === 0) return undefined;
      return (path) =>
        forbiddenField(path, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    case 'Gt':
    case 'Lt':
      if (count === 1) return undefined;
      return (path) =>
        required(path, "must be specified single value when `operator` is 'Lt' or 'Gt'");
    default:
      return operator satisfies never;
  }
}

/** Only one field of nodes can be selected: the name. */
function fieldRequirementErrors(
  { key, operator, values = [] }: NodeSelectorRequirement,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  if (operator !== 'In' && operator !== 'NotIn') {
    errors.push(invalidValue(`${path}.operator`, operator, 'not a valid selector operator'));
  } else if (values.length !== 1) {
    const detail =
      "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    errors.push(required(`${path}.values`, detail));
  }
  if (key !== 'metadata.name') {
    return [...errors, invalidValue(`${path}.key`, key, 'not a valid field selector key')];
  }
  return [
    ...errors,
    ...values.flatMap((value, i) =>
      dns1123SubdomainErrors(value).map((text) =>
        invalidValue(`${path}.values[${i}]`, value, text),
      ),
    ),
  ];
}

function podAffinityErrors(affinity: PodAffinity | undefined, path: string): FieldError[] {
  return [
    ...(affinity?.[REQUIRED] ?? []).flatMap((term, i) =>
      podTermErrors(term, `${path}.${REQUIRED}[${i}]`),
    ),
    ...(affinity?.[PREFERRED] ?? []).flatMap(({ weight, podAffinityTerm }, i) => [
      ...weightErrors(weight, `${path}.${PREFERRED}[${i}].weight`),
      ...podTermErrors(podAffinityTerm, `${path}.${PREFERRED}[${i}].podAffinityTerm`),
    ]),
  ];
}

function podTermErrors(term: PodAffinityTerm, path: string): FieldError[] {
  const { labelSelector, namespaceSelector, namespaces = [], topologyKey } = term;
  const field = `${path}.topologyKey`;
  return [
    ...labelSelectorErrors(labelSelector ?? {}, `${path}.labelSelector`),
    ...labelSelectorErrors(namespaceSelector ?? {}, `${path}.namespaceSelector`),
    ...namespaces.flatMap((name) =>
      dns1123LabelErrors(name).map((text) => invalidValue(`${path}.namespace`, name, text)),
    ),
    ...(topologyKey === '' ? [required(field, 'can not be empty')] : []),
    ...qualifiedNameErrors(topologyKey).map((text) => invalidValue(field, topologyKey, text)),
  ];
}

function weightErrors(weight: number, path: string): FieldError[] {
  if (weight >= 1 && weight <= 100) return [];
  return [invalidValue(path, weight, 'must be in the range 1-100')];
}
