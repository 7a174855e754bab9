import { invalidValue } from '../../kube/field-error.ts';
import type { FieldError } from '../../kube/status.ts';
import type { DefaultedSpec } from '../defaults.ts';

/** The policy speaks of ReplicatedJobs that are there. */
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
