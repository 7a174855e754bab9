/**
 * Scaling of a live JobSet (KEP-463): the number of Pods of Indexed Jobs, as in upstream, and, only
 * in Lockstep, the number of Jobs of any ReplicatedJob.
 */
import { forbiddenField, invalidValue } from '@lockstep/kube/field-error.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import type { DefaultedReplicatedJob, DefaultedSpec } from '../defaults.ts';

/**
 * Problems of new numbers. ReplicatedJobs are matched by name, even at another place; another check
 * refuses the new place.
 */
export function scalingErrors(
  before: Pick<DefaultedSpec, 'replicatedJobs'>,
  after: Pick<DefaultedSpec, 'replicatedJobs'>,
  isTerminal: boolean,
): FieldError[] {
  const earlier = new Map(before.replicatedJobs.map((job) => [job.name, job]));
  const refusals = isTerminal ? terminalErrors : podNumberErrors;
  return after.replicatedJobs.flatMap((job, index) => {
    const was = earlier.get(job.name);
    return was === undefined ? [] : refusals(was, job, `spec.replicatedJobs[${index}]`);
  });
}

/** Only Pods of Indexed Jobs can be scaled; a change of others is refused like any change. */
function isResized(before: DefaultedReplicatedJob, after: DefaultedReplicatedJob): boolean {
  const [old, now] = [before.template.spec, after.template.spec];
  if (now.completionMode !== 'Indexed') return false;
  return old.parallelism !== now.parallelism || old.completions !== now.completions;
}

function terminalErrors(
  before: DefaultedReplicatedJob,
  after: DefaultedReplicatedJob,
  path: string,
): FieldError[] {
  const refuse = (field: string, what: string): FieldError =>
    forbiddenField(
      field,
      `Cannot mutate ${what} when JobSet is in a terminal state (Completed or Failed)`,
    );
  return [
    ...(isResized(before, after)
      ? [refuse(`${path}.template.spec`, 'parallelism or completions')]
      : []),
    ...(before.replicas === after.replicas ? [] : [refuse(`${path}.replicas`, 'replicas')]),
  ];
}

function podNumberErrors(
  before: DefaultedReplicatedJob,
  after: DefaultedReplicatedJob,
  replicatedJobPath: string,
): FieldError[] {
  if (!isResized(before, after)) return [];
  const path = `${replicatedJobPath}.template.spec`;
  const old = before.template.spec;
  const { parallelism, completions } = after.template.spec;
  const errors: FieldError[] = [];
  if (parallelism !== undefined && parallelism !== old.parallelism && parallelism < 1) {
    errors.push(invalidValue(`${path}.parallelism`, parallelism, 'parallelism must be >= 1'));
  }
  if (completions !== undefined && completions !== old.completions && completions < 1) {
    errors.push(invalidValue(`${path}.completions`, completions, 'completions must be >= 1'));
  }
  if (parallelism !== undefined && completions !== undefined && parallelism !== completions) {
    const detail = 'completions must be equal to parallelism for Elastic Indexed Jobs';
    errors.push(invalidValue(`${path}.completions`, completions, detail));
  }
  return errors;
}
