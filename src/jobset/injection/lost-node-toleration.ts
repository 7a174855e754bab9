/**
 * Limits how long Pods tolerate an unreachable node, if their JobSet has a deadline for lost nodes.
 * Otherwise they would never be deleted, and only a deletion ends the proofs that keep their workers
 * running. Kubernetes itself deletes them when the deadline has passed since the node became
 * unreachable. After that, the deadline counts as for every other Pod
 * (`docs/design/release-hazards.md#a-lost-node-keeps-its-pod-for-ever`).
 */
import { type Taint, UNREACHABLE_TAINT } from '@lockstep/kube/objects/node.ts';
import type { PodTemplateSpec, Toleration } from '@lockstep/kube/objects/pod.ts';
import { tolerates } from '@lockstep/kube/objects/toleration.ts';
import { LOST_NODE_DEADLINE } from '../names.ts';
import { parseLostNodeDeadline } from './lost-node-deadline.ts';

/**
 * `deadline` as in the annotation. A template that sets a time, or leaves it to Kubernetes, stays as
 * it is.
 */
export function withLostNodeToleration(
  template: PodTemplateSpec,
  deadline: string,
): PodTemplateSpec {
  const { spec } = template;
  const tolerationSeconds = limitSeconds(template, deadline);
  if (tolerationSeconds === undefined) return template;
  const fits = { key: UNREACHABLE_TAINT, operator: 'Exists', effect: 'NoExecute' } as const;
  const added: Toleration = { ...fits, tolerationSeconds };
  // In front, because the first toleration that fits counts.
  return { ...template, spec: { ...spec, tolerations: [added, ...(spec.tolerations ?? [])] } };
}

/** The warning for the owner of a changed template; undefined: it stays as it is. */
export function lostNodeTolerationWarning(
  template: PodTemplateSpec,
  deadline: string,
): string | undefined {
  const seconds = limitSeconds(template, deadline);
  if (seconds === undefined) return undefined;
  return (
    `with ${LOST_NODE_DEADLINE}, Pods of this template tolerate ${UNREACHABLE_TAINT} for ${seconds}s ` +
    'instead of for ever, because a Pod that is not deleted is never replaced'
  );
}

/** How long Pods may tolerate an unreachable node; undefined: as the template says. */
function limitSeconds({ spec }: PodTemplateSpec, deadline: string): number | undefined {
  const ms = parseLostNodeDeadline(deadline);
  const own = spec.tolerations?.find((toleration) => tolerates(toleration, UNREACHABLE));
  const isForEver = own !== undefined && own.tolerationSeconds === undefined;
  return ms === undefined || !isForEver ? undefined : Math.ceil(ms / 1000);
}

const UNREACHABLE: Taint = { key: UNREACHABLE_TAINT, effect: 'NoExecute' };
