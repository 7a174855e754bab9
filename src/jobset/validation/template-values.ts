/**
 * Values in templates that Lockstep does not know. Its definition takes them, because the API server
 * that gets the Jobs may be newer. A server that does not know them either refuses the Jobs.
 */

import { JOB_SPEC, PERSISTENT_VOLUME_CLAIM } from '@lockstep/kube/pod-schema/pod-definitions.ts';
import { quote } from '@lockstep/kube/quote.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { validate } from '@lockstep/kube/schema/validate.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import type { DefaultedSpec } from '../defaults.ts';

/** An answer of a webhook has limited room for warnings. */
const MAX_WARNINGS = 10;

export function unknownValueWarnings({
  replicatedJobs,
  volumeClaimPolicies,
}: Pick<DefaultedSpec, 'replicatedJobs' | 'volumeClaimPolicies'>): readonly string[] {
  const warnings: string[] = [];
  const look = (schema: JsonSchema, value: unknown, path: string, kind: string): void => {
    if (warnings.length >= MAX_WARNINGS) return;
    for (const error of validate(schema, value)) {
      if (isUnknownValue(error)) warnings.push(warning(error, path, kind));
    }
  };
  replicatedJobs.forEach(({ template }, index) => {
    look(JOB_SPEC, template.spec, `spec.replicatedJobs[${index}].template.spec`, 'Job');
  });
  volumeClaimPolicies.forEach(({ templates }, policy) => {
    templates.forEach((claim, index) => {
      const path = `spec.volumeClaimPolicies[${policy}].templates[${index}]`;
      look(PERSISTENT_VOLUME_CLAIM, claim, path, 'PersistentVolumeClaim');
    });
  });
  return warnings.slice(0, MAX_WARNINGS);
}

/** A value for which an API server may have a meaning though our tables do not. */
export function isUnknownValue({ type, badValue }: FieldError): boolean {
  return type === 'FieldValueNotSupported' && badValue !== '';
}

function warning({ field, badValue, detail }: FieldError, path: string, kind: string): string {
  const known = detail.replace('supported values: ', '');
  const value = typeof badValue === 'string' ? quote(badValue) : JSON.stringify(badValue);
  return `${path}.${field}: ${value} is none of the values that Lockstep knows (${known}); an API server that does not know it either refuses the ${kind}`;
}
