import { invalidValue } from '../../kube/field-error.ts';
import type { StringMap } from '../../kube/meta.ts';
import type { FieldError } from '../../kube/status.ts';
import type { DefaultedReplicatedJob } from '../defaults.ts';
import { EXCLUSIVE_TOPOLOGY } from '../names.ts';
import { placementRequest } from '../placement-annotations.ts';

/**
 * A Job is placed after its leader, the Pod of index 0, so one whose Pods have no index would wait
 * for ever. The node-selector strategy has no leader.
 */
export function exclusivePlacementErrors(
  annotations: StringMap | undefined,
  { template }: DefaultedReplicatedJob,
  path: string,
): FieldError[] {
  const { completionMode } = template.spec;
  const request = placementRequest(annotations, template.metadata?.annotations);
  const hasLeader = request !== undefined && !request.hasNodeSelectorStrategy;
  if (!hasLeader || completionMode !== 'NonIndexed') return [];
  const detail = `must be Indexed with annotation ${EXCLUSIVE_TOPOLOGY}: the other Pods of a Job follow the Pod of index 0`;
  return [invalidValue(`${path}.template.spec.completionMode`, completionMode, detail)];
}
