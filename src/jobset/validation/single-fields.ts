/** Rules that concern one field of a JobSet each. */
import { domainPrefixedPathErrors } from '@lockstep/kube/domain-prefixed-path.ts';
import { forbiddenField, invalidValue, tooLong } from '@lockstep/kube/field-error.ts';
import type { StringMap } from '@lockstep/kube/meta.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import type { DefaultedReplicatedJob, DefaultedSpec } from '../defaults.ts';
import type { FeatureGates } from '../feature-gates.ts';
import { EXCLUSIVE_TOPOLOGY } from '../names.ts';
import { placementRequest } from '../placement-annotations.ts';

/**
 * Without its gate a deadline may stay or go, but not be added or changed, because it would have no
 * effect.
 */
export function activeDeadlineErrors(
  { activeDeadlineSeconds }: Pick<DefaultedSpec, 'activeDeadlineSeconds'>,
  gates: FeatureGates,
  before?: Pick<DefaultedSpec, 'activeDeadlineSeconds'>,
): FieldError[] {
  if (gates.JobSetActiveDeadlineSeconds || activeDeadlineSeconds === undefined) return [];
  if (activeDeadlineSeconds === before?.activeDeadlineSeconds) return [];
  const detail = 'cannot be set when JobSetActiveDeadlineSeconds feature gate is disabled';
  return [forbiddenField('spec.activeDeadlineSeconds', detail)];
}

/**
 * A Job is placed after its leader, the Pod of index 0. A Job whose Pods have no index would wait for
 * ever. The node-selector strategy has no leader.
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

const MANAGED_BY = 'spec.managedBy';
const MAX_MANAGED_BY_BYTES = 63;

/** The field is a path below a domain, like the name of upstream's controller. */
export function managedByErrors({ managedBy }: Pick<DefaultedSpec, 'managedBy'>): FieldError[] {
  if (managedBy === undefined) return [];
  const errors = domainPrefixedPathErrors(managedBy, MANAGED_BY);
  return Buffer.byteLength(managedBy) > MAX_MANAGED_BY_BYTES
    ? [...errors, tooLong(MANAGED_BY, MAX_MANAGED_BY_BYTES)]
    : errors;
}

/** The policy must name ReplicatedJobs that exist. */
export function successPolicyErrors(
  { successPolicy }: Pick<DefaultedSpec, 'successPolicy'>,
  names: ReadonlySet<string>,
): FieldError[] {
  return (successPolicy.targetReplicatedJobs ?? []).flatMap((name, index) => {
    if (names.has(name)) return [];
    const field = `spec.successPolicy.targetReplicatedJobs[${index}]`;
    const detail = `invalid replicatedJob name '${name}' does not appear in .spec.ReplicatedJobs`;
    return [invalidValue(field, name, detail)];
  });
}
