import { invalidValue } from '../../kube/field-error.ts';
import type { StringMap } from '../../kube/meta.ts';
import type { FieldError } from '../../kube/status.ts';
import type { DefaultedReplicatedJob } from '../defaults.ts';
import { EXCLUSIVE_TOPOLOGY, NODE_SELECTOR_STRATEGY } from '../names.ts';

/**
 * A Job is placed after its leader, the Pod of index 0, so one whose Pods have no index would wait
 * for ever (spec 6.4). The node-selector strategy has no leader. A Job template's own annotations
 * stand over those of the JobSet (spec 2.2).
 */
export function exclusivePlacementErrors(
  annotations: StringMap | undefined,
  { template }: DefaultedReplicatedJob,
  path: string,
): FieldError[] {
  const { completionMode } = template.spec;
  const own = template.metadata?.annotations;
  const from = own?.[EXCLUSIVE_TOPOLOGY] === undefined ? annotations : own;
  const isPlaced =
    from?.[EXCLUSIVE_TOPOLOGY] !== undefined && from[NODE_SELECTOR_STRATEGY] === undefined;
  if (!isPlaced || completionMode !== 'NonIndexed') return [];
  const detail = `must be Indexed with annotation ${EXCLUSIVE_TOPOLOGY}: the other Pods of a Job follow the Pod of index 0`;
  return [invalidValue(`${path}.template.spec.completionMode`, completionMode, detail)];
}
