/**
 * Validates the coordinator of a JobSet. The coordinator must be a Pod that will exist; only the
 * first problem is reported.
 */
import { invalidValue } from '@lockstep/kube/field-error.ts';
import { labelValueErrors } from '@lockstep/kube/name-rules.ts';
import type { JobSpec } from '@lockstep/kube/objects/job.ts';
import { quote } from '@lockstep/kube/quote.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import type { DefaultedSpec } from '../defaults.ts';
import { coordinatorEndpoint, subdomainOf } from '../derived-names.ts';
import type { Coordinator } from '../jobset.ts';
import { COORDINATOR } from '../names.ts';

const FIELD = 'spec.coordinator';

export function coordinatorErrors(
  spec: DefaultedSpec,
  completionsOf: (job: JobSpec) => number | undefined = ({ completions }) => completions,
): FieldError[] {
  const { coordinator } = spec;
  if (coordinator === undefined) return [];
  const { replicatedJob, jobIndex = 0, podIndex = 0 } = coordinator;
  const refused = (member: keyof Coordinator, detail: string): FieldError[] => [
    invalidValue(`${FIELD}.${member}`, coordinator[member], detail),
  ];
  const job = spec.replicatedJobs.find(({ name }) => name === replicatedJob);
  if (job === undefined) {
    return refused('replicatedJob', `coordinator replicatedJob ${replicatedJob} does not exist`);
  }
  if (jobIndex < 0 || jobIndex >= job.replicas) {
    const detail = `coordinator job index ${jobIndex} is invalid for replicatedJob ${replicatedJob}`;
    return refused('jobIndex', detail);
  }
  const { completionMode } = job.template.spec;
  const completions = completionsOf(job.template.spec);
  if (completionMode !== 'Indexed' || completions === undefined) {
    const detail =
      'job for coordinator pod must be indexed completion mode, and completions number must be set';
    return refused('replicatedJob', detail);
  }
  if (podIndex < 0 || podIndex >= completions) {
    const detail = `coordinator pod index ${podIndex} is invalid for replicatedJob ${replicatedJob} job index ${jobIndex}`;
    return refused('podIndex', detail);
  }
  return [];
}

/**
 * Problems of a template without completions, which the definition allows and the webhook refuses. If
 * a JobSet is stored so, the API server gives a Job with neither completions nor parallelism one
 * completion, and refuses an Indexed Job with parallelism alone.
 */
export function storedCoordinatorErrors(spec: DefaultedSpec): FieldError[] {
  const { coordinator, replicatedJobs } = spec;
  const job = replicatedJobs.find(({ name }) => name === coordinator?.replicatedJob);
  const { completionMode, completions } = job?.template.spec ?? {};
  if (completionMode !== 'Indexed' || completions !== undefined) return [];
  return coordinatorErrors(spec, ({ parallelism }) => (parallelism === undefined ? 1 : undefined));
}

/** The coordinator's address becomes a label of all Jobs and Pods, even if its Pod never exists. */
export function coordinatorLabelErrors(jobSet: string, spec: DefaultedSpec): FieldError[] {
  const { coordinator } = spec;
  if (coordinator === undefined) return [];
  const endpoint = coordinatorEndpoint(jobSet, coordinator, subdomainOf(jobSet, spec));
  const problems = labelValueErrors(endpoint);
  if (problems.length === 0) return [];
  const detail = `spec will lead to invalid label value ${quote(endpoint)} for coordinator label ${quote(COORDINATOR)} (long JobSet / ReplicatedJob / SubDomain name?): ${problems.join(', ')}`;
  return [invalidValue(FIELD, coordinator, detail)];
}
