import { forbiddenField, invalidValue } from '@lockstep/kube/field-error.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import type { DefaultedReplicatedJob, DefaultedSpec } from '../defaults.ts';

/** The deprecated order and its successor exclude each other. */
export function startupOrderErrors({
  startupPolicy,
  replicatedJobs,
}: Pick<DefaultedSpec, 'startupPolicy' | 'replicatedJobs'>): FieldError[] {
  const isInOrder = startupPolicy.startupPolicyOrder === 'InOrder';
  if (!isInOrder || replicatedJobs.every(({ dependsOn }) => dependsOn === undefined)) return [];
  const detail = 'StartupPolicy and DependsOn APIs are mutually exclusive';
  return [invalidValue('spec.startupPolicy.startupPolicyOrder', 'InOrder', detail)];
}

/** Even an empty list is refused: it would suggest that there is something to wait for. */
export function firstDependencyErrors(
  replicatedJobs: readonly DefaultedReplicatedJob[],
): FieldError[] {
  if (replicatedJobs[0]?.dependsOn === undefined) return [];
  const detail = "DependsOn can't be set for the first ReplicatedJob";
  return [forbiddenField('spec.replicatedJobs[0].dependsOn', detail)];
}

/**
 * A ReplicatedJob depends only on earlier ones, so there can be no cycle. Upstream accepts one that
 * depends on itself and never starts; we refuse it in upstream's words.
 */
export function dependencyErrors(
  { name, dependsOn = [] }: DefaultedReplicatedJob,
  earlier: ReadonlySet<string>,
  path: string,
): FieldError[] {
  return dependsOn.flatMap((item, index) => {
    if (earlier.has(item.name)) return [];
    const detail = `replicatedJob: ${name} cannot depend on replicatedJob: ${item.name}`;
    return [invalidValue(`${path}.dependsOn[${index}].name`, item.name, detail)];
  });
}
