import type { Node, Taint } from '../../kube/node.ts';
import type { Pod } from '../../kube/pod.ts';
import { tolerates } from '../../kube/toleration.ts';

/** The first taint that keeps the Pod off the node, or undefined. */
export function untoleratedTaint(pod: Pod, node: Node): Taint | undefined {
  return taintsOf(node).find(
    (taint) =>
      (taint.effect === 'NoSchedule' || taint.effect === 'NoExecute') && !isTolerated(pod, taint),
  );
}

/** How many taints would rather have the Pod elsewhere. */
export function unwelcomeTaints(pod: Pod, { spec }: Node): number {
  const taints = spec?.taints ?? [];
  return taints.filter((taint) => taint.effect === 'PreferNoSchedule' && !isTolerated(pod, taint))
    .length;
}

/** Whether the node is cordoned, and the Pod does not insist. */
export function isCordonedFor(pod: Pod, { spec }: Node): boolean {
  return spec?.unschedulable === true && !isTolerated(pod, CORDON);
}

/** The node's taints with the one that a cluster's node controller adds while it is not ready. */
function taintsOf({ spec, status }: Node): readonly Taint[] {
  const taints = spec?.taints ?? [];
  const ready = status?.conditions?.find((condition) => condition.type === 'Ready');
  return ready?.status === 'True' ? taints : [...taints, NOT_READY];
}

const NOT_READY: Taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
const CORDON: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

function isTolerated({ spec }: Pod, taint: Taint): boolean {
  return (spec.tolerations ?? []).some((toleration) => tolerates(toleration, taint));
}
