/** Matches a Pod's tolerations against a node's taints. */
import type { Node, Taint } from '@lockstep/kube/objects/node.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { tolerates } from '@lockstep/kube/objects/toleration.ts';

/** The first taint that keeps the Pod off the node, or undefined. */
export function untoleratedTaint(pod: Pod, node: Node): Taint | undefined {
  return node.spec?.taints?.find(
    (taint) =>
      (taint.effect === 'NoSchedule' || taint.effect === 'NoExecute') && !isTolerated(pod, taint),
  );
}

/** The number of untolerated taints that only prefer to keep the Pod off. */
export function unwelcomeTaints(pod: Pod, { spec }: Node): number {
  const taints = spec?.taints ?? [];
  return taints.filter((taint) => taint.effect === 'PreferNoSchedule' && !isTolerated(pod, taint))
    .length;
}

/** Whether the node is cordoned and the Pod does not tolerate that. */
export function isCordonedFor(pod: Pod, { spec }: Node): boolean {
  return spec?.unschedulable === true && !isTolerated(pod, CORDON);
}

const CORDON: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

function isTolerated({ spec }: Pod, taint: Taint): boolean {
  return (spec.tolerations ?? []).some((toleration) => tolerates(toleration, taint));
}
