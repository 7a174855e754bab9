/** What an update of the status of a Job may say, so that no controller tells two stories. */
import { duplicate, invalidValue, required } from '../field-error.ts';
import type { Job, JobSpec, JobStatus } from '../job.ts';
import { dns1123SubdomainErrors } from '../names.ts';
import type { FieldError } from '../status.ts';
import { commonIndex, countIndexes } from './completion-indexes.ts';
import { objectMetaUpdateErrors } from './object-meta.ts';

export const JOB_METADATA = {
  namespaced: true,
  nameRule: dns1123SubdomainErrors,
  qualifiedFinalizers: true,
} as const;

/**
 * Problems of replacing the status of `before` by that of `job`. What was wrong before may stay so:
 * a change of the spec can leave a status behind that the controller has yet to mend.
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
    ...finishErrors(status, spec),
    ...readyErrors(status),
    ...indexesErrors(status, spec),
  ];
}

/** What has ended stays so, and counters never go back. */
function transitionErrors(status: JobStatus, old: JobStatus, spec: JobSpec): FieldError[] {
  const errors: FieldError[] = [];
  for (const type of ['Failed', 'Complete', 'FailureTarget', 'SuccessCriteriaMet']) {
    if (isTrue(old, type) && !isTrue(status, type)) {
      const terminal = type === 'SuccessCriteriaMet' ? '' : 'terminal ';
      errors.push(conditionError(`cannot disable the ${terminal}${type}=True condition`));
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
  const { completionTime: ended } = old;
  if (isTrue(status, 'Complete') && ended !== undefined && status.completionTime !== ended) {
    const detail = 'field is immutable';
    errors.push(invalidValue('status.completionTime', status.completionTime ?? null, detail));
  }
  const isResuming = isTrue(old, 'Suspended') && hasCondition(status, 'Suspended', 'False');
  const isRestarted = old.startTime !== undefined && status.startTime !== old.startTime;
  if (isRestarted && spec.suspend !== true && !isResuming) {
    const detail = 'field is immutable for unsuspended job once set';
    errors.push(invalidValue('status.startTime', status.startTime ?? null, detail));
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

/** A Pod that has ended is counted once, as one or the other. */
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

function readyErrors({ ready = 0, active = 0 }: JobStatus): FieldError[] {
  if (ready <= active) return [];
  return [invalidValue('status.ready', ready, 'cannot set more ready pods than active')];
}

/** A Job that is over has no Pods left that are not counted. */
function finishErrors(status: JobStatus, spec: JobSpec): FieldError[] {
  const isComplete = isTrue(status, 'Complete');
  const isFailed = isTrue(status, 'Failed');
  const { active = 0, terminating = 0, uncountedTerminatedPods: uncounted } = status;
  const errors: FieldError[] = [];
  if (isComplete && isFailed) {
    errors.push(conditionError('cannot set Complete=True and Failed=true conditions'));
  }
  if (isComplete && isTrue(status, 'FailureTarget')) {
    errors.push(conditionError('cannot set Complete=True and FailureTarget=true conditions'));
  }
  if (isComplete && status.completionTime === undefined) {
    const detail = 'completionTime is required for Complete jobs';
    errors.push(required('status.completionTime', detail));
  }
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
  if (!isComplete && status.completionTime !== undefined) {
    const detail = 'cannot set completionTime when there is no Complete=True condition';
    errors.push(invalidValue('status.completionTime', status.completionTime, detail));
  }
  if (isTrue(status, 'FailureTarget') && isTrue(status, 'SuccessCriteriaMet')) {
    const detail = 'cannot set SuccessCriteriaMet=True and FailureTarget=true conditions';
    errors.push(conditionError(detail));
  }
  if (!isComplete && !isFailed) return errors;
  if (active > 0) {
    errors.push(invalidValue('status.active', active, 'active>0 is invalid for finished job'));
  }
  if (terminating > 0) {
    const detail = 'terminating>0 is invalid for finished job';
    errors.push(invalidValue('status.terminating', terminating, detail));
  }
  // A Job of nothing may end without ever having started.
  const mayLackStart = spec.suspend === true && spec.completions === 0;
  if (status.startTime === undefined && !mayLackStart) {
    errors.push(required('status.startTime', 'startTime is required for finished job'));
  }
  if ([...(uncounted?.succeeded ?? []), ...(uncounted?.failed ?? [])].length > 0) {
    const detail = 'must be empty for finished job';
    errors.push(invalidValue('status.uncountedTerminatedPods', uncounted, detail));
  }
  return errors;
}

function indexesErrors(status: JobStatus, spec: JobSpec): FieldError[] {
  const { completedIndexes = '', failedIndexes } = status;
  const { completions, completionMode, backoffLimitPerIndex } = spec;
  const errors: FieldError[] = [];
  if (completedIndexes !== '' && completionMode !== 'Indexed') {
    const detail = 'cannot set non-empty completedIndexes when non-indexed completion mode';
    errors.push(invalidValue('status.completedIndexes', completedIndexes, detail));
  }
  if (failedIndexes !== undefined && backoffLimitPerIndex === undefined) {
    const detail = 'cannot set non-null failedIndexes when backoffLimitPerIndex is null';
    errors.push(invalidValue('status.failedIndexes', failedIndexes, detail));
  }
  if (completions === undefined) return errors;
  for (const member of ['completedIndexes', 'failedIndexes'] as const) {
    const indexes = status[member] ?? '';
    const counted = countIndexes(indexes, completions);
    if ('count' in counted) continue;
    const detail = `error parsing ${member}: ${counted.problem}`;
    errors.push(invalidValue(`status.${member}`, indexes, detail));
  }
  const common = commonIndex(completedIndexes, failedIndexes ?? '');
  if (common !== undefined) {
    const detail = `failedIndexes and completedIndexes overlap at index: ${common}`;
    errors.push(invalidValue('status.failedIndexes', failedIndexes, detail));
  }
  return errors;
}

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
