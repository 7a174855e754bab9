/**
 * What happens to Pods on a node in trouble: when a `NoExecute` taint evicts them, and when they
 * are removed because the node cannot report their end any more.
 */
import type { Node, Taint } from '@lockstep/kube/objects/node.ts';
import type { Pod, PodCondition } from '@lockstep/kube/objects/pod.ts';
import { tolerates } from '@lockstep/kube/objects/toleration.ts';
import { readinessOf } from './node-health.ts';

/** An administrator sets this taint on a node that is off for certain: none of its Pods runs. */
export const OUT_OF_SERVICE_TAINT = 'node.kubernetes.io/out-of-service';

/**
 * When the Pod is to be deleted; undefined if it may stay. `seenMs`: when a taint without a time of
 * its own was first seen.
 */
export function evictionMs(
  { metadata, spec }: Pod,
  taints: readonly Taint[],
  seenMs: number,
): number | undefined {
  if (metadata.deletionTimestamp !== undefined) return undefined;
  let earliestMs = Number.POSITIVE_INFINITY;
  for (const taint of taints) {
    if (taint.effect !== 'NoExecute') continue;
    // If several fit, the first one counts, as in Kubernetes; without any, nothing is tolerated.
    const fitting = spec.tolerations?.find((toleration) => tolerates(toleration, taint));
    const seconds = fitting === undefined ? 0 : fitting.tolerationSeconds;
    if (seconds === undefined) continue;
    const sinceMs = Date.parse(taint.timeAdded ?? '') || seenMs;
    earliestMs = Math.min(earliestMs, sinceMs + Math.max(0, seconds) * 1000);
  }
  return Number.isFinite(earliestMs) ? earliestMs : undefined;
}

export type GarbageReason = 'NodeIsGone' | 'NodeIsOutOfService';

/**
 * Why the Pod is to be removed although its node has not confirmed its end; undefined if it is not.
 */
export function garbageReason(pod: Pod, node: Node | undefined): GarbageReason | undefined {
  if (pod.spec.nodeName === undefined) return undefined;
  if (node === undefined) return 'NodeIsGone';
  const isOutOfService =
    node.spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE_TAINT) === true;
  const isEnding = pod.metadata.deletionTimestamp !== undefined;
  if (isEnding && isOutOfService && readinessOf(node) !== 'True') return 'NodeIsOutOfService';
  return undefined;
}

export function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** The conditions, with the one of this type replaced or added. */
export function withCondition(pod: Pod, condition: PodCondition): readonly PodCondition[] {
  const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== condition.type);
  return [...others, condition];
}
