import type { Node, Taint } from '../../kube/node.ts';
import type { Pod, Toleration } from '../../kube/pod.ts';

/** The first taint that keeps the Pod off the node, or undefined. */
export function untoleratedTaint(pod: Pod, node: Node): Taint | undefined {
  const tolerations = pod.spec.tolerations ?? [];
  return taintsOf(node).find(
    (taint) =>
      (taint.effect === 'NoSchedule' || taint.effect === 'NoExecute') &&
      !tolerations.some((toleration) => tolerates(toleration, taint)),
  );
}

/**
 * The node's taints with the two that a cluster's node controllers would add: a node that is not
 * ready, and one that is cordoned.
 */
function taintsOf({ spec, status }: Node): readonly Taint[] {
  const taints = [...(spec?.taints ?? [])];
  const ready = status?.conditions?.find((condition) => condition.type === 'Ready');
  if (ready?.status !== 'True') taints.push({ key: NOT_READY, effect: 'NoSchedule' });
  if (spec?.unschedulable === true) taints.push({ key: UNSCHEDULABLE, effect: 'NoSchedule' });
  return taints;
}

const NOT_READY = 'node.kubernetes.io/not-ready';
const UNSCHEDULABLE = 'node.kubernetes.io/unschedulable';

/** `core/v1 Toleration`: an absent key with `Exists` tolerates everything, an absent effect any. */
function tolerates({ key, operator, value, effect }: Toleration, taint: Taint): boolean {
  if (effect !== undefined && effect !== '' && effect !== taint.effect) return false;
  const isAnyKey = key === undefined || key === '';
  if (!isAnyKey && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  return !isAnyKey && (value ?? '') === (taint.value ?? '');
}
