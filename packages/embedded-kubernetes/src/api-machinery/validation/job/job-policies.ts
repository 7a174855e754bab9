/** Validates the failure policy and the success policy of `batch/v1 Job`. */
import {
  duplicate,
  invalidValue,
  notSupported,
  required,
  tooLong,
  tooMany,
  unknownValueErrors,
} from '@lockstep/kube/field-error.ts';
import { qualifiedNameErrors } from '@lockstep/kube/name-rules.ts';
import type { JobSpec, PodFailurePolicyRule, SuccessPolicy } from '@lockstep/kube/objects/job.ts';
import { quote } from '@lockstep/kube/quote.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { countIndexes } from './completion-indexes.ts';

const RULE_LIMIT = 20;
const PATTERN_LIMIT = 20;
const EXIT_CODE_LIMIT = 255;
const SUCCEEDED_INDEXES_LIMIT_BYTES = 64 * 1024;
const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore'] as const;
const OPERATORS = ['In', 'NotIn'] as const;
const STATUSES = ['False', 'True', 'Unknown'] as const;

export function podFailurePolicyErrors(spec: JobSpec, path: string): FieldError[] {
  const { podFailurePolicy: policy } = spec;
  if (policy === undefined) return [];
  const rulesPath = `${path}.podFailurePolicy.rules`;
  const errors: FieldError[] = [];
  if (policy.rules.length > RULE_LIMIT) {
    errors.push(tooMany(rulesPath, policy.rules.length, RULE_LIMIT));
  }
  policy.rules.forEach((rule, index) => {
    errors.push(...failureRuleErrors(rule, spec, `${rulesPath}[${index}]`));
  });
  return errors;
}

/** With a failure policy, a Pod is replaced only after it has failed. */
export function podReplacementPolicyErrors(spec: JobSpec, path: string): FieldError[] {
  const { podFailurePolicy: policy, podReplacementPolicy: replacement } = spec;
  if (policy === undefined || replacement === undefined || replacement === 'Failed') return [];
  return [notSupported(`${path}.podReplacementPolicy`, replacement, ['Failed'])];
}

function failureRuleErrors(rule: PodFailurePolicyRule, spec: JobSpec, path: string): FieldError[] {
  const { action, onExitCodes, onPodConditions: patterns = [] } = rule;
  const errors = choiceErrors(`${path}.action`, action, ACTIONS);
  if (action === 'FailIndex' && spec.backoffLimitPerIndex === undefined) {
    const detail = 'requires the backoffLimitPerIndex to be set';
    errors.push(invalidValue(`${path}.action`, action, detail));
  }
  if (onExitCodes !== undefined) {
    errors.push(...exitCodesErrors(onExitCodes, spec, `${path}.onExitCodes`));
  }
  errors.push(...patternsErrors(patterns, `${path}.onPodConditions`));
  if (onExitCodes !== undefined && patterns.length > 0) {
    const detail = 'specifying both OnExitCodes and OnPodConditions is not supported';
    errors.push(invalidValue(path, undefined, detail));
  }
  if (onExitCodes === undefined && patterns.length === 0) {
    const detail = 'specifying one of OnExitCodes and OnPodConditions is required';
    errors.push(invalidValue(path, undefined, detail));
  }
  return errors;
}

function patternsErrors(
  patterns: NonNullable<PodFailurePolicyRule['onPodConditions']>,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  if (patterns.length > PATTERN_LIMIT) errors.push(tooMany(path, patterns.length, PATTERN_LIMIT));
  patterns.forEach(({ type, status = '' }, index) => {
    for (const text of qualifiedNameErrors(type)) {
      errors.push(invalidValue(`${path}[${index}].type`, type, text));
    }
    errors.push(...choiceErrors(`${path}[${index}].status`, status, STATUSES));
  });
  return errors;
}

/** Problems of a field that must have one of the `supported` values. */
function choiceErrors(field: string, value: string, supported: readonly string[]): FieldError[] {
  if (value !== '') return unknownValueErrors(field, value, supported);
  return [required(field, `valid values: [${supported.map(quote).join(' ')}]`)];
}

function exitCodesErrors(
  { containerName, operator, values }: NonNullable<PodFailurePolicyRule['onExitCodes']>,
  { template }: JobSpec,
  path: string,
): FieldError[] {
  const errors = choiceErrors(`${path}.operator`, operator, OPERATORS);
  const { containers, initContainers = [] } = template.spec;
  const isKnown = [...containers, ...initContainers].some(({ name }) => name === containerName);
  if (containerName !== undefined && !isKnown) {
    const detail = 'must be one of the container or initContainer names in the pod template';
    errors.push(invalidValue(`${path}.containerName`, containerName, detail));
  }
  const valuesPath = `${path}.values`;
  if (values.length === 0) {
    errors.push(invalidValue(valuesPath, values, 'at least one value is required'));
  } else if (values.length > EXIT_CODE_LIMIT) {
    errors.push(tooMany(valuesPath, values.length, EXIT_CODE_LIMIT));
  }
  const seen = new Set<number>();
  values.forEach((value, index) => {
    const field = `${valuesPath}[${index}]`;
    if (operator === 'In' && value === 0) {
      errors.push(invalidValue(field, value, 'must not be 0 for the In operator'));
    }
    if (seen.has(value)) errors.push(duplicate(field, value));
    seen.add(value);
  });
  if (values.some((value, index) => (values[index - 1] ?? value) > value)) {
    errors.push(invalidValue(valuesPath, values, 'must be ordered'));
  }
  return errors;
}

/** Only Indexed Jobs can succeed by some of their indexes. */
export function successPolicyErrors(spec: JobSpec, path: string): FieldError[] {
  const { successPolicy: policy, completionMode, completions = 0 } = spec;
  if (policy === undefined) return [];
  const policyPath = `${path}.successPolicy`;
  if (completionMode !== 'Indexed') {
    return [invalidValue(policyPath, asShown(policy), 'requires indexed completion mode')];
  }
  const rulesPath = `${policyPath}.rules`;
  const errors: FieldError[] = [];
  if (policy.rules.length === 0) {
    const detail = 'at least one rules must be specified when the successPolicy is specified';
    errors.push(required(rulesPath, detail));
  } else if (policy.rules.length > RULE_LIMIT) {
    errors.push(tooMany(rulesPath, policy.rules.length, RULE_LIMIT));
  }
  policy.rules.forEach((rule, index) => {
    errors.push(...successRuleErrors(rule, completions, `${rulesPath}[${index}]`));
  });
  return errors;
}

/** The policy as the API server prints it: by its names in Go. */
function asShown({ rules }: SuccessPolicy): object {
  const shown = rules.map(({ succeededIndexes = null, succeededCount = null }) => ({
    SucceededIndexes: succeededIndexes,
    SucceededCount: succeededCount,
  }));
  return { Rules: shown };
}

function successRuleErrors(
  { succeededCount: count, succeededIndexes: indexes }: SuccessPolicy['rules'][number],
  completions: number,
  path: string,
): FieldError[] {
  if (count === undefined && indexes === undefined) {
    const detail = 'at least one of succeededCount or succeededIndexes must be specified';
    return [required(path, detail)];
  }
  const errors: FieldError[] = [];
  const listed = indexes === undefined ? undefined : countIndexes(indexes, completions);
  if (indexes !== undefined) {
    const field = `${path}.succeededIndexes`;
    if (Buffer.byteLength(indexes) > SUCCEEDED_INDEXES_LIMIT_BYTES) {
      errors.push(tooLong(field, SUCCEEDED_INDEXES_LIMIT_BYTES));
    }
    if (listed !== undefined && 'problem' in listed) {
      const detail = `error parsing succeededIndexes: ${listed.problem}`;
      errors.push(invalidValue(field, indexes, detail));
    }
  }
  if (count === undefined) return errors;
  const field = `${path}.succeededCount`;
  if (count < 0) errors.push(invalidValue(field, count, 'must be greater than or equal to 0'));
  if (count > completions) {
    const detail = `must be less than or equal to ${completions} (the number of specified completions)`;
    errors.push(invalidValue(field, count, detail));
  }
  if (listed !== undefined && 'count' in listed && count > listed.count) {
    const detail = `must be less than or equal to ${listed.count} (the number of indexes in the specified succeededIndexes field)`;
    errors.push(invalidValue(field, count, detail));
  }
  return errors;
}
