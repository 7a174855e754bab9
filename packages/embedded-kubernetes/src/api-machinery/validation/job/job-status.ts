/** Validates updates of a Job's status, so that a controller cannot contradict itself. */
import { duplicate, invalidValue, required } from '@lockstep/kube/field-error.ts';
import { dns1123SubdomainErrors } from '@lockstep/kube/name-rules.ts';
import type { Job, JobSpec, JobStatus } from '@lockstep/kube/objects/job.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { objectMetaUpdateErrors } from '../object-meta.ts';
import { commonIndex, countIndexes } from './completion-indexes.ts';

export const JOB_METADATA = {
  namespaced: true,
  nameRule: dns1123SubdomainErrors,
  qualifiedFinalizers: true,
} as const;

/**
 * Problems of replacing the status of `before` by the status of `job`. A problem that `before`
 * already had may stay: a change of the spec can leave a status that the controller has yet to
 * repair.
 */
export function jobStatusUpdateErrors(job: Job, before: Job): FieldError[] {
  const { status = {}, spec } = job;
  const { status: old = {} } = before;
  const known = statusErrors(old, spec).map((error) => JSON.stringify(error));
  return [
    ...objectMetaUpdateErrors(job.metadata, before.metadata, JOB_METADATA),
    ...statusErrors(status, spec).filter((error) => !known.includes(JSON.stringify(error))),
    ...transitionErrors(status, old, spec),
  ];
}

function statusErrors(status: JobStatus, spec: JobSpec): FieldError[] {
  return [
    ...countersErrors(status),
    ...uncountedErrors(status),
    ...completionErrors(status),
    ...finishErrors(status, spec),
    ...indexesErrors(status, spec),
    ...remainderErrors(status),
    ...decisionErrors(status, spec),
  ];
}

/** A finished Job stays finished, and counters never go back. */
function transitionErrors(status: JobStatus, old: JobStatus, spec: JobSpec): FieldError[] {
  const errors: FieldError[] = [];
  for (const type of ['Failed', 'Complete', 'FailureTarget']) {
    if (isTrue(old, type) && !isTrue(status, type)) {
      errors.push(conditionError(`cannot disable the terminal ${type}=True condition`));
    }
  }
  const isElastic = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism;
  for (const counter of isElastic ? (['failed'] as const) : (['failed', 'succeeded'] as const)) {
    const value = status[counter] ?? 0;
    if (value < (old[counter] ?? 0)) {
      const detail = `cannot decrease the ${counter} counter`;
      errors.push(invalidValue(`status.${counter}`, value, detail));
    }
  }
  const { completionTime } = status;
  const isMoved = completionTime !== undefined && completionTime !== old.completionTime;
  if (isMoved && old.completionTime !== undefined) {
    errors.push(invalidValue('status.completionTime', completionTime, 'field is immutable'));
  }
  const isResuming = isTrue(old, 'Suspended') && hasCondition(status, 'Suspended', 'False');
  const isRestarted = old.startTime !== undefined && status.startTime !== old.startTime;
  if (isRestarted && spec.suspend !== true && !isResuming) {
    const detail = 'field is immutable for unsuspended job once set';
    errors.push(invalidValue('status.startTime', status.startTime ?? null, detail));
  }
  if (isTrue(old, 'SuccessCriteriaMet') && !isTrue(status, 'SuccessCriteriaMet')) {
    errors.push(conditionError('cannot disable the SuccessCriteriaMet=True condition'));
  }
  return errors;
}

function countersErrors(status: JobStatus): FieldError[] {
  const errors: FieldError[] = [];
  for (const counter of ['active', 'succeeded', 'failed', 'ready', 'terminating'] as const) {
    const value = status[counter] ?? 0;
    if (value < 0) {
      const detail = 'must be greater than or equal to 0';
      errors.push(invalidValue(`status.${counter}`, value, detail));
    }
  }
  return errors;
}

/** A Pod that has ended is counted once, as succeeded or as failed. */
function uncountedErrors({ uncountedTerminatedPods: uncounted }: JobStatus): FieldError[] {
  const seen = new Set<string>();
  return (['succeeded', 'failed'] as const).flatMap((end) =>
    (uncounted?.[end] ?? []).flatMap((uid, index) => {
      const field = `status.uncountedTerminatedPods.${end}[${index}]`;
      if (uid === '') return [invalidValue(field, uid, 'must not be empty')];
      if (seen.has(uid)) return [duplicate(field, uid)];
      seen.add(uid);
      return [];
    }),
  );
}

/** A Job has a completion time if and only if it is Complete. */
function completionErrors(status: JobStatus): FieldError[] {
  const isComplete = isTrue(status, 'Complete');
  const { startTime, completionTime } = status;
  const field = 'status.completionTime';
  const errors: FieldError[] = [];
  for (const [type, text] of [
    ['Failed', 'Failed=true'],
    ['FailureTarget', 'FailureTarget=true'],
  ] as const) {
    if (isComplete && isTrue(status, type)) {
      errors.push(conditionError(`cannot set Complete=True and ${text} conditions`));
    }
  }
  if (!isComplete && completionTime !== undefined) {
    const detail = 'cannot set completionTime when there is no Complete=True condition';
    errors.push(invalidValue(field, completionTime, detail));
  }
  if (isComplete && completionTime === undefined) {
    errors.push(required(field, 'completionTime is required for Complete jobs'));
  }
  const isOrdered =
    startTime === undefined ||
    completionTime === undefined ||
    Date.parse(completionTime) >= Date.parse(startTime);
  if (!isOrdered) {
    errors.push(invalidValue(field, completionTime, 'must be equal to or after `startTime`'));
  }
  return errors;
}

/** A finished Job was decided before, and has no Pods that run or are uncounted. */
function finishErrors(status: JobStatus, spec: JobSpec): FieldError[] {
  const isComplete = isTrue(status, 'Complete');
  const isFailed = isTrue(status, 'Failed');
  const { active = 0, uncountedTerminatedPods: uncounted = {} } = status;
  const errors: FieldError[] = [];
  if (isFailed && !isTrue(status, 'FailureTarget')) {
    errors.push(
      conditionError('cannot set Failed=True condition without the FailureTarget=true condition'),
    );
  }
  if (isComplete && !isTrue(status, 'SuccessCriteriaMet')) {
    const detail =
      'cannot set Complete=True condition without the SuccessCriteriaMet=true condition';
    errors.push(conditionError(detail));
  }
  if (!isComplete && !isFailed) return errors;
  if (active > 0) {
    errors.push(invalidValue('status.active', active, 'active>0 is invalid for finished job'));
  }
  // A Job without Pods may end without ever having started.
  const mayLackStart = spec.suspend === true && spec.completions === 0;
  if (status.startTime === undefined && !mayLackStart) {
    errors.push(required('status.startTime', 'startTime is required for finished job'));
  }
  const { succeeded = null, failed = null } = uncounted;
  if ((succeeded?.length ?? 0) + (failed?.length ?? 0) > 0) {
    const shown = { Succeeded: succeeded, Failed: failed };
    const detail = 'must be empty for finished job';
    errors.push(invalidValue('status.uncountedTerminatedPods', shown, detail));
  }
  return errors;
}

function remainderErrors(status: JobStatus): FieldError[] {
  const { active = 0, ready = 0, terminating = 0 } = status;
  const errors: FieldError[] = [];
  if (terminating > 0 && (isTrue(status, 'Complete') || isTrue(status, 'Failed'))) {
    const detail = 'terminating>0 is invalid for finished job';
    errors.push(invalidValue('status.terminating', terminating, detail));
  }
  if (ready > active) {
    errors.push(invalidValue('status.ready', ready, 'cannot set more ready pods than active'));
  }
  return errors;
}

/** A Job is decided only once. */
function decisionErrors(status: JobStatus, { successPolicy }: JobSpec): FieldError[] {
  const isMet = isTrue(status, 'SuccessCriteriaMet');
  const problems = [
    isMet && isTrue(status, 'Failed')
      ? 'cannot set SuccessCriteriaMet=True and Failed=true conditions'
      : undefined,
    isMet && isTrue(status, 'FailureTarget')
      ? 'cannot set SuccessCriteriaMet=True and FailureTarget=true conditions'
      : undefined,
    successPolicy !== undefined && !isMet && isTrue(status, 'Complete')
      ? 'cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True'
      : undefined,
  ];
  return problems.flatMap((problem) => (problem === undefined ? [] : [conditionError(problem)]));
}

function indexesErrors(status: JobStatus, spec: JobSpec): FieldError[] {
  const { completedIndexes = '', failedIndexes } = status;
  const { completions, completionMode, backoffLimitPerIndex } = spec;
  const errors: FieldError[] = [];
  const lists = backoffLimitPerIndex === undefined ? COMPLETED_LIST : BOTH_LISTS;
  for (const member of completions === undefined ? [] : lists) {
    const indexes = status[member] ?? '';
    const counted = countIndexes(indexes, completions ?? 0);
    if ('count' in counted) continue;
    const detail = `error parsing ${member}: ${counted.problem}`;
    errors.push(invalidValue(`status.${member}`, indexes, detail));
  }
  if (completedIndexes !== '' && completionMode !== 'Indexed') {
    const detail = 'cannot set non-empty completedIndexes when non-indexed completion mode';
    errors.push(invalidValue('status.completedIndexes', completedIndexes, detail));
  }
  if (failedIndexes !== undefined && backoffLimitPerIndex === undefined) {
    const detail = 'cannot set non-null failedIndexes when backoffLimitPerIndex is null';
    errors.push(invalidValue('status.failedIndexes', failedIndexes, detail));
  }
  const common = commonIndex(completedIndexes, failedIndexes ?? '');
  if (completions !== undefined && common !== undefined) {
    const detail = `failedIndexes and completedIndexes overlap at index: ${common}`;
    errors.push(invalidValue('status.failedIndexes', failedIndexes, detail));
  }
  return errors;
}

const COMPLETED_LIST = ['completedIndexes'] as const;
const BOTH_LISTS = ['completedIndexes', 'failedIndexes'] as const;

function isTrue(status: JobStatus, type: string): boolean {
  return hasCondition(status, type, 'True');
}

export function hasCondition(status: JobStatus, type: string, value: 'True' | 'False'): boolean {
  const { conditions = [] } = status;
  return conditions.some((condition) => condition.type === type && condition.status === value);
}

function conditionError(detail: string): FieldError {
  return invalidValue('status.conditions', undefined, detail);
}
