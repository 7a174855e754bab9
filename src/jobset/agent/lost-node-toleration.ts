/**
 * Pods whose JobSet has a deadline for lost nodes must not tolerate for ever that their node cannot be
 * reached (design, H4): nobody would delete them, and only a deletion ends the proofs on which their
 * workers run. Kubernetes itself deletes them when the deadline has passed since the node was found
 * unreachable; from the deletion on, the deadline counts as for every other Pod.
 */
import { type Taint, UNREACHABLE_TAINT } from '../../kube/node.ts';
import type { PodTemplateSpec, Toleration } from '../../kube/pod.ts';
import { tolerates } from '../../kube/toleration.ts';
import { parseLostNodeDeadline } from '../group/lost-node-deadline.ts';

/** `deadline` as in the annotation. A template that says how long, or leaves it to Kubernetes, stays. */
export function withLostNodeToleration(
  template: PodTemplateSpec,
  deadline: string,
): PodTemplateSpec {
  const { spec } = template;
  const { tolerations = [] } = spec;
  const ms = parseLostNodeDeadline(deadline);
  const own = tolerations.find((toleration) => tolerates(toleration, UNREACHABLE));
  if (ms === undefined || own === undefined || own.tolerationSeconds !== undefined) return template;
  const added: Toleration = {
    key: UNREACHABLE_TAINT,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: Math.ceil(ms / 1000),
  };
  // In front, because of several that fit the first one counts.
  return { ...template, spec: { ...spec, tolerations: [added, ...tolerations] } };
}

const UNREACHABLE: Taint = { key: UNREACHABLE_TAINT, effect: 'NoExecute' };
