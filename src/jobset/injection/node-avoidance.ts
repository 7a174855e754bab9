/** Keeps new Pods of a group away from nodes that its replaced members have left. */

import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import type { StringMap } from '@lockstep/kube/meta.ts';
import type { PreferredSchedulingTerm } from '@lockstep/kube/objects/affinity.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { asked } from '../annotations/table.ts';
import { MAX_AVOIDED_NODES } from '../jobset-status.ts';
import { PREFLIGHT, REPLACE_AFTER } from '../names.ts';

/** Whether members of the JobSet may be replaced, so API servers have to ask about its Pods. */
export function mayAvoidNodes(annotations: StringMap | undefined): boolean {
  return [REPLACE_AFTER, PREFLIGHT].some((key) => asked(annotations, key) !== undefined);
}

/** The label of Pods by which API servers know that they have to ask the operator. */
export const AVOIDS_NODES: StringMap = { [REPLACE_AFTER]: 'true' };

/** Whether Pods with these labels are kept away from nodes. */
export function avoidsNodes(labels: StringMap | undefined): boolean {
  return labels?.[REPLACE_AFTER] === AVOIDS_NODES[REPLACE_AFTER];
}

/** The greatest weight of a preference. */
const WEIGHT = 100;

/**
 * The Pod with a preference for every other node than `nodes`; unchanged if it has that already. It
 * is only a preference: a group without another node had better run on a doubtful one.
 */
export function avoiding(pod: Pod, nodes: readonly string[]): Pod {
  if (nodes.length === 0) return pod;
  const { affinity } = pod.spec;
  const preferred = affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const term = awayFrom(nodes.slice(0, MAX_AVOIDED_NODES));
  if (preferred.some((other) => deepEqual(other, term))) return pod;
  const nodeAffinity = {
    ...affinity?.nodeAffinity,
    preferredDuringSchedulingIgnoredDuringExecution: [...preferred, term],
  };
  return { ...pod, spec: { ...pod.spec, affinity: { ...affinity, nodeAffinity } } };
}

/** Kubernetes takes one value for each requirement of a field, and all requirements must hold. */
function awayFrom(nodes: readonly string[]): PreferredSchedulingTerm {
  const matchFields = nodes.map((node) => ({
    key: 'metadata.name',
    operator: 'NotIn' as const,
    values: [node],
  }));
  return { weight: WEIGHT, preference: { matchFields } };
}
