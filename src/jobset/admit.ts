/**
 * Checks a new JobSet as a server with our definition and webhooks would: defaults, schema, rules. A
 * real server stops at the first check that refuses. This one reports all problems together, as far
 * as the shape of the object allows.
 */

import { resourceSchema } from '@lockstep/kube/pod-schema/resource-schema.ts';
import { applyDefaults } from '@lockstep/kube/schema/defaults.ts';
import { validateListTypes } from '@lockstep/kube/schema/list-types.ts';
import { withQuantityTexts } from '@lockstep/kube/schema/quantity-texts.ts';
import { validate } from '@lockstep/kube/schema/validate.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { defaultJobSet } from './defaults.ts';
import type { FeatureGates } from './feature-gates.ts';
import { type AgentDefaults, withAgentDefaults } from './injection/agent-defaults.ts';
import type { JobSet } from './jobset.ts';
import { withFieldsOf } from './overrides/field-annotations.ts';
import { JOBSET_SCHEMA } from './schema/schema.ts';
import type { JobSetLimits } from './size-limits.ts';
import { validateJobSetCreate } from './validation/validation.ts';

/** `jobSet` has its defaults; check the errors before you use it. */
export interface AdmittedJobSet {
  readonly jobSet: JobSet;
  /** Errors that any server finds by the definition. */
  readonly schemaErrors: readonly FieldError[];
  /** Errors that only our webhooks find. */
  readonly ruleErrors: readonly FieldError[];
}

/** The schema of a whole JobSet, metadata included. */
export const WHOLE_JOBSET_SCHEMA = resourceSchema(JOBSET_SCHEMA);

/** `given` has the right kind, and is otherwise unchecked. */
export function admitJobSet(
  given: JobSet,
  gates: FeatureGates,
  limits?: JobSetLimits,
  agentDefaults?: AgentDefaults,
): AdmittedJobSet {
  const asked = withFieldsOf(asTextQuantities(given));
  const filled = applyDefaults(WHOLE_JOBSET_SCHEMA, asked) as JobSet;
  const complete = defaultJobSet(filled, gates);
  const schemaErrors = [
    ...validate(WHOLE_JOBSET_SCHEMA, complete),
    ...validateListTypes(WHOLE_JOBSET_SCHEMA, complete),
  ];
  if (schemaErrors.some(isAboutShape)) return { jobSet: complete, schemaErrors, ruleErrors: [] };
  const jobSet = withAgentDefaults(complete, { defaults: agentDefaults });
  const ruleErrors = validateJobSetCreate(jobSet, gates, undefined, limits);
  return { jobSet, schemaErrors, ruleErrors };
}

/** A JobSet, however wrong its shape, as the mutating webhook passes it on to the schema. */
export function asTextQuantities(jobSet: JobSet): JobSet {
  return withQuantityTexts(WHOLE_JOBSET_SCHEMA, jobSet) as JobSet;
}

/** Rules rely on types and on required members, not on limits. */
function isAboutShape({ type }: FieldError): boolean {
  return type === 'FieldValueTypeInvalid' || type === 'FieldValueRequired';
}
