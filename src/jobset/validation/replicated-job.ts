import { invalidValue, notSupported } from '@lockstep/kube/field-error.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import type { DefaultedReplicatedJob } from '../defaults.ts';
import { jobName, podHostname } from '../derived-names.ts';
import { labelErrors } from './dns-label.ts';

const MAX_INT32 = 2_147_483_647;

/** The number of Pods of a ReplicatedJob must be an int32. */
export function podCountErrors(job: DefaultedReplicatedJob, path: string): FieldError[] {
  const { name, replicas, template } = job;
  if ((template.spec.parallelism ?? 1) * replicas <= MAX_INT32) return [];
  const detail = `the product of replicas and parallelism must not exceed ${MAX_INT32} for replicatedJob '${name}'`;
  return [invalidValue(`${path}.replicas`, replicas, detail)];
}

export function groupNameErrors({ groupName }: DefaultedReplicatedJob, path: string): FieldError[] {
  const tooLong = '.spec.replicatedJob[].groupName is too long, must be less than 63 characters';
  return labelErrors(groupName, tooLong).map((detail) =>
    invalidValue(`${path}.groupName`, groupName, detail),
  );
}

const RESTART_POLICIES = ['OnFailure', 'Never'] as const;

/** API servers refuse Jobs whose Pods always restart. */
export function restartPolicyErrors(
  { template }: DefaultedReplicatedJob,
  path: string,
): FieldError[] {
  const { restartPolicy } = template.spec.template.spec;
  if (RESTART_POLICIES.some((allowed) => allowed === restartPolicy)) return [];
  const field = `${path}.template.spec.template.spec.restartPolicy`;
  return [notSupported(field, restartPolicy, RESTART_POLICIES)];
}

/** The Job controller appends a dash and 5 characters to the names of Pods. */
const POD_NAME_SUFFIX = '-abcde';

/**
 * The longest names that Jobs and Pods will have. Names of Pods matter if they are host names: in
 * Indexed Jobs.
 */
export function generatedNameErrors(
  jobSet: string,
  job: DefaultedReplicatedJob,
  path: string,
): FieldError[] {
  const longestJob = jobName(jobSet, job.name, job.replicas - 1);
  const refuse = (what: 'job' | 'pod', name: string): FieldError[] => {
    const tooLong = `JobSet name is too long, ${what} names generated for this JobSet will exceed 63 characters`;
    return labelErrors(name, tooLong).map((text) => invalidValue(`${path}.name`, name, text));
  };
  const { completionMode, completions } = job.template.spec;
  const hasHostnames = completionMode === 'Indexed' && completions !== undefined;
  return [
    ...refuse('job', longestJob),
    ...(hasHostnames
      ? refuse('pod', `${podHostname(longestJob, completions - 1)}${POD_NAME_SUFFIX}`)
      : []),
  ];
}
