/** Matches nodes against a Pod's `nodeSelector` and `nodeAffinity`. */
import type { NodeSelectorRequirement, NodeSelectorTerm } from '@lockstep/kube/objects/affinity.ts';
import type { Node } from '@lockstep/kube/objects/node.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';

/** Whether the node fulfils what the Pod requires. */
export function matchesNode({ spec }: Pod, node: Node): boolean {
  const labels = node.metadata.labels ?? {};
  const selected = Object.entries(spec.nodeSelector ?? {});
  if (!selected.every(([key, value]) => labelOf(labels, key) === value)) return false;
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || required.nodeSelectorTerms.some((term) => holds(term, node));
}

/** The sum of the weights of the preferences that the node fulfils. */
export function nodePreference({ spec }: Pod, node: Node): number {
  const preferred =
    spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return preferred
    .filter(({ preference }) => holds(preference, node))
    .reduce((sum, { weight }) => sum + weight, 0);
}

function holds({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: Node): boolean {
  if (matchExpressions.length === 0 && matchFields.length === 0) return false;
  const labels = node.metadata.labels ?? {};
  const fields = { 'metadata.name': node.metadata.name ?? '' };
  return (
    matchExpressions.every((requirement) =>
      fulfils(requirement, labelOf(labels, requirement.key)),
    ) && matchFields.every((requirement) => fulfils(requirement, labelOf(fields, requirement.key)))
  );
}

function fulfils(
  { operator, values = [] }: NodeSelectorRequirement,
  value: string | undefined,
): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
    case 'Lt': {
      const [actual, limit] = [integer(value), integer(values[0])];
      if (actual === undefined || limit === undefined) return false;
      return operator === 'Gt' ? actual > limit : actual < limit;
    }
    default:
      return operator satisfies never;
  }
}

function integer(text: string | undefined): bigint | undefined {
  return text !== undefined && /^-?[0-9]{1,19}$/.test(text) ? BigInt(text) : undefined;
}

function labelOf(labels: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}
