/**
 * Pods that are bound to one node before the scheduler sees them. If Kueue's topology has hostnames,
 * it writes a node selector into each Pod. A new Pod in its place would get the same node, after a
 * deletion and ten seconds of waiting, so the member stays.
 */
import type { NodeSelectorRequirement, NodeSelectorTerm } from '@lockstep/kube/objects/affinity.ts';
import type { PodSpec } from '@lockstep/kube/objects/pod.ts';

const HOSTNAME = 'kubernetes.io/hostname';

/** What binds a Pod to one node, in words; undefined: nothing does. */
export function pinOf({ nodeSelector, affinity }: PodSpec): string | undefined {
  const host = nodeSelector?.[HOSTNAME];
  if (host !== undefined) return `its node selector ${HOSTNAME}=${host}`;
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const terms = required?.nodeSelectorTerms ?? [];
  const hosts = new Set(terms.map(onlyHostOf));
  const [only] = hosts;
  return hosts.size === 1 && only !== undefined
    ? `its required node affinity for ${only}`
    : undefined;
}

function onlyHostOf({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm) {
  const named = (key: string) => (each: NodeSelectorRequirement) =>
    each.key === key && each.operator === 'In' && each.values?.length === 1;
  const requirement =
    matchExpressions.find(named(HOSTNAME)) ?? matchFields.find(named('metadata.name'));
  return requirement?.values?.[0];
}
