/**
 * Validates names, targets, reasons and patterns of failure-policy rules. Upstream accepts an invalid
 * pattern, which then never matches; we refuse it.
 */
import { forbiddenField, invalidValue } from '@lockstep/kube/field-error.ts';
import { patternWeight } from '@lockstep/kube/pattern-weight.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import type { DefaultedFailurePolicyRule, DefaultedSpec } from '../defaults.ts';
import type { FeatureGates } from '../feature-gates.ts';
import { MAX_PATTERNS_WEIGHT, patternDefect } from '../policies/message-pattern.ts';
import { MAX_RESTARTABLE_JOBS } from '../schema/status-schema.ts';

const RULES = 'spec.failurePolicy.rules';

/** Without its gate an action to restart one Job hides the other problems of the rules. */
export function failurePolicyErrors(
  { failurePolicy, replicatedJobs }: Pick<DefaultedSpec, 'failurePolicy' | 'replicatedJobs'>,
  names: ReadonlySet<string>,
  gates: FeatureGates,
): FieldError[] {
  const rules = failurePolicy?.rules ?? [];
  const restartsOne = rules.findIndex(restartsOneJob);
  if (restartsOne >= 0 && !gates.RestartJob) {
    const detail =
      'RestartJob and RestartJobAndIgnoreMaxRestarts failure policy actions are not allowed when RestartJob feature gate is disabled';
    return [forbiddenField(`${RULES}[${restartsOne}].action`, detail)];
  }
  return [
    ...(restartsOne >= 0 ? replicasErrors(replicatedJobs) : []),
    ...rules.flatMap((rule, index) => ruleErrors(rule, names, `${RULES}[${index}]`)),
    ...patternsErrors(rules),
    ...ruleNameErrors(rules),
  ];
}

function restartsOneJob({ action }: DefaultedFailurePolicyRule): boolean {
  return action === 'RestartJob' || action === 'RestartJobAndIgnoreMaxRestarts';
}

/** Restarts of single Jobs are counted in lists of limited length; reported once. */
function replicasErrors(replicatedJobs: DefaultedSpec['replicatedJobs']): FieldError[] {
  const index = replicatedJobs.findIndex(({ replicas }) => replicas > MAX_RESTARTABLE_JOBS);
  if (index < 0) return [];
  const detail = `JobSet cannot have a failure policy rule with RestartJob or RestartJobAndIgnoreMaxRestarts action and a replicated job with replicas > ${MAX_RESTARTABLE_JOBS}`;
  const field = `spec.replicatedJobs[${index}].replicas`;
  return [invalidValue(field, replicatedJobs[index]?.replicas, detail)];
}

const MIN_NAME_LENGTH = 1;
const MAX_NAME_LENGTH = 128;

/** The characters of a condition's reason, because a rule's name becomes the end of one. */
const NAME_PATTERN = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;

const JOB_FAILURE_REASONS: ReadonlySet<string> = new Set([
  'BackoffLimitExceeded',
  'DeadlineExceeded',
  'FailedIndexes',
  'MaxFailedIndexesExceeded',
  'PodFailurePolicy',
]);

function ruleErrors(
  rule: DefaultedFailurePolicyRule,
  names: ReadonlySet<string>,
  path: string,
): FieldError[] {
  const { targetReplicatedJobs = [], onJobFailureReasons = [] } = rule;
  return [
    ...nameErrors(rule.name, `${path}.name`),
    ...targetReplicatedJobs.flatMap((name, index) => {
      if (names.has(name)) return [];
      const detail = `invalid replicatedJob name '${name}' in failure policy does not appear in .spec.ReplicatedJobs`;
      return [invalidValue(`${path}.targetReplicatedJobs[${index}]`, name, detail)];
    }),
    ...onJobFailureReasons.flatMap((reason, index) => {
      if (JOB_FAILURE_REASONS.has(reason)) return [];
      const detail = `invalid job failure reason '${reason}' in failure policy is not a recognized job failure reason`;
      return [invalidValue(`${path}.onJobFailureReasons[${index}]`, reason, detail)];
    }),
  ];
}

function patternsErrors(rules: readonly DefaultedFailurePolicyRule[]): FieldError[] {
  let weight = 0;
  return rules.flatMap(({ onJobFailureMessagePatterns = [] }, index) =>
    onJobFailureMessagePatterns.flatMap((pattern, at) => {
      weight += patternWeight(pattern);
      const defect =
        weight > MAX_PATTERNS_WEIGHT
          ? `together with the patterns before it, it compiles to more than ${MAX_PATTERNS_WEIGHT} instructions`
          : patternDefect(pattern);
      if (defect === undefined) return [];
      const field = `${RULES}[${index}].onJobFailureMessagePatterns[${at}]`;
      return [
        invalidValue(
          field,
          shortened(pattern),
          `must be a regular expression in RE2 syntax: ${defect}`,
        ),
      ];
    }),
  );
}

/** How much of a pattern is shown. */
const MAX_SHOWN_CHARACTERS = 200;

function shortened(pattern: string): string {
  if (pattern.length <= MAX_SHOWN_CHARACTERS) return pattern;
  return `${pattern.slice(0, MAX_SHOWN_CHARACTERS)}...`;
}

function nameErrors(name: string, field: string): FieldError[] {
  const length = Buffer.byteLength(name);
  const errors: FieldError[] = [];
  if (length < MIN_NAME_LENGTH || length > MAX_NAME_LENGTH) {
    const detail = `invalid failure policy rule name of length ${length}, the rule name must be at least ${MIN_NAME_LENGTH} characters long and at most ${MAX_NAME_LENGTH} characters long`;
    errors.push(invalidValue(field, name, detail));
  }
  if (!NAME_PATTERN.test(name)) {
    const detail = `invalid failure policy rule name '${name}', a failure policy rule name must start with an alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'`;
    errors.push(invalidValue(field, name, detail));
  }
  return errors;
}

/** A default name may collide with a given one; then both are reported. */
export function ruleNameErrors(rules: readonly DefaultedFailurePolicyRule[]): FieldError[] {
  const indicesOf = new Map<string, number[]>();
  for (const [index, { name }] of rules.entries()) {
    const indices = indicesOf.get(name);
    if (indices === undefined) indicesOf.set(name, [index]);
    else indices.push(index);
  }
  return [...indicesOf].flatMap(([name, indices]) => {
    if (indices.length === 1) return [];
    const detail = `rule names are not unique, rules with indices [${indices.join(' ')}] all have the same name '${name}'`;
    return [invalidValue(RULES, name, detail)];
  });
}
