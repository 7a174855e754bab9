/**
 * Whether an object of a review has the types that its handler relies on. API servers only send
 * objects that fit their schemas; for other clients, an error names the field that does not.
 */

import { OBJECT_META, POD_SPEC } from '@lockstep/kube/pod-schema/pod-definitions.ts';
import { object } from '@lockstep/kube/schema/builders.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { validate } from '@lockstep/kube/schema/validate.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { WHOLE_JOBSET_SCHEMA } from '../../jobset/admit.ts';

/** The fields that the webhooks of JobSets read. */
export function jobSetShapeErrors(jobSet: unknown): readonly FieldError[] {
  return validate(WHOLE_JOBSET_SCHEMA, jobSet).filter(isAboutShape);
}

/**
 * Errors of the fields that the webhooks of Pods read. An API server may know other fields, and forms
 * of them, that we do not know.
 */
export function podShapeErrors(pod: unknown): readonly FieldError[] {
  return validate(PLACED_POD, pod).filter(isAboutShape);
}

const PLACED_POD: JsonSchema = object(
  {
    metadata: OBJECT_META,
    spec: object(
      Object.fromEntries(
        ['affinity', 'nodeSelector', 'priority', 'tolerations'].map((name) => [
          name,
          POD_SPEC.properties?.[name] ?? {},
        ]),
      ),
    ),
  },
  { required: ['metadata', 'spec'] },
);

/** Clients in Go write `creationTimestamp: null` into every template; a status is not checked. */
function isAboutShape({ type, field }: FieldError): boolean {
  if (type === 'FieldValueRequired') return !field.startsWith('status.');
  return type === 'FieldValueTypeInvalid' && !field.endsWith('.creationTimestamp');
}
