/**
 * What the definition of JobSet says in CEL (spec 1.2 to 1.10), so that a server that cannot reach
 * the admission webhook still lets nothing in that could not be right. Messages are upstream's.
 * A rule about `self` and `oldSelf` holds only where both exist, so an optional policy of a live
 * JobSet may be added or removed: removing failurePolicy opens all barriers (design, H13).
 */
import type { JsonSchema, ValidationRule } from '../kube/schema/json-schema.ts';

export function ruled(rules: readonly ValidationRule[], schema: JsonSchema): JsonSchema {
  return { ...schema, 'x-kubernetes-validations': rules };
}

export function immutable(schema: JsonSchema): JsonSchema {
  return ruled([{ rule: 'self == oldSelf', message: 'Value is immutable' }], schema);
}

/** Rules about the spec as a whole. */
export const SPEC_RULES: readonly ValidationRule[] = [
  {
    rule:
      "!(has(self.startupPolicy) && self.startupPolicy.startupPolicyOrder == 'InOrder' && " +
      'has(self.replicatedJobs) && self.replicatedJobs.exists(job, has(job.dependsOn)))',
    message: 'StartupPolicy and DependsOn APIs are mutually exclusive',
  },
];

export const VOLUME_CLAIM_POLICY_RULES: readonly ValidationRule[] = [
  {
    rule:
      '!has(self.templates) || self.templates.all(claim, !has(claim.metadata) || ' +
      '!has(claim.metadata.namespace) || size(claim.metadata.namespace) == 0)',
    message: 'namespace cannot be set for VolumeClaimPolicies templates',
  },
];
