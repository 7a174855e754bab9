/**
 * The CEL rules in the definition of JobSet. With them, a server that cannot reach the admission
 * webhook still refuses invalid JobSets. Messages are upstream's. A server checks these rules
 * before the webhook, so no user reads a message twice.
 *
 * A rule about `oldSelf` holds only if both versions have the value, so a policy of a live JobSet
 * may be added or removed: removing failurePolicy opens all barriers.
 *
 * A server refuses rules whose worst case costs too much, so lists and texts need bounds that
 * upstream does not have. No real use comes near them
 * (`docs/design/member-hazards.md#in-place-restart-is-switched-off`).
 */
import type { JsonSchema, ValidationRule } from '@lockstep/kube/schema/json-schema.ts';
import { DEFINITION_LIMITS } from '../size-limits.ts';
import { MAX_RESTARTABLE_JOBS } from './status-schema.ts';

/** Rules that compare names go through all pairs of them. */
export const MAX_REPLICATED_JOBS = 256;
export const MAX_FAILURE_POLICY_RULES = 128;
/** There are only five reasons. */
export const MAX_JOB_FAILURE_REASONS = 32;
/** Names are labels of 63 characters; longer ones still get the message that says so. */
export const MAX_NAME_LENGTH = 253;

export function ruled(rules: readonly ValidationRule[], schema: JsonSchema): JsonSchema {
  return { ...schema, 'x-kubernetes-validations': rules };
}

export function immutable(schema: JsonSchema): JsonSchema {
  return ruled([{ rule: 'self == oldSelf', message: 'Value is immutable' }], schema);
}

const LABEL = '^[a-z]([-a-z0-9]*[a-z0-9])?$';
const LABEL_MESSAGE =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/** Digits of a number; CEL's own conversion to text has no bound that a server could count on. */
function digits(number: string): string {
  const bounds = [10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
  const cases = bounds.map((bound, index) => `${number} < ${bound} ? ${index + 1} : `).join('');
  return `(${number} < 0 ? 2 : ${cases}10)`;
}

/** Lengths of the longest generated names, in terms of `self`, the JobSet, and `job`. */
const JOB_NAME_LENGTH = `size(self.metadata.name) + size(job.name) + ${digits('job.replicas - 1')} + 2`;
const POD_NAME_LENGTH = `${JOB_NAME_LENGTH} + ${digits('job.template.spec.completions - 1')} + 7`;

function everyJob(condition: string): string {
  return `!has(self.spec) || !has(self.spec.replicatedJobs) || self.spec.replicatedJobs.all(job, ${condition})`;
}

/**
 * The sum of a number over all ReplicatedJobs; as doubles, because products of integers may
 * overflow.
 */
function sum(spec: string, number: string): string {
  return `(has(${spec}.replicatedJobs) ? ${spec}.replicatedJobs.map(job, ${number}).sum() : 0.0)`;
}

const PARALLELISM = 'job.template.spec.parallelism';
const SIZES = [
  {
    number: 'double(job.replicas)',
    max: DEFINITION_LIMITS.maxJobs,
    message: `the sum of replicas must not exceed ${DEFINITION_LIMITS.maxJobs}`,
  },
  {
    number: `double(job.replicas) * (!has(${PARALLELISM}) ? 1.0 : ${PARALLELISM} < 0 ? 0.0 : double(${PARALLELISM}))`,
    max: DEFINITION_LIMITS.maxPods,
    message: `the sum of replicas times parallelism must not exceed ${DEFINITION_LIMITS.maxPods}`,
  },
] as const;

/**
 * The size of a new JobSet: its status is absent or the default. A server without ratcheting checks
 * this at every write, and JobSets from before the bound must still get their status.
 */
const NEW_SIZE_RULES: readonly ValidationRule[] = SIZES.map(({ number, max, message }) => ({
  rule: `(has(self.status) && (has(self.status.restarts) || has(self.status.conditions))) || !has(self.spec) || ${sum('self.spec', number)} <= ${max}.0`,
  message,
  fieldPath: '.spec.replicatedJobs',
}));

/** The size of a JobSet that changes: one that is too large may stay so, or shrink. */
const SIZE_RULES: readonly ValidationRule[] = SIZES.map(({ number, max, message }) => ({
  rule: `${sum('self', number)} <= ${max}.0 || ${sum('self', number)} <= ${sum('oldSelf', number)}`,
  message,
  fieldPath: '.replicatedJobs',
}));

/** Rules about the whole JobSet: its size, and names that contain its own. */
export const JOBSET_RULES: readonly ValidationRule[] = [
  ...NEW_SIZE_RULES,
  {
    rule: everyJob(`${JOB_NAME_LENGTH} <= 63`),
    message:
      'JobSet name is too long, job names generated for this JobSet will exceed 63 characters',
    fieldPath: '.spec.replicatedJobs',
  },
  {
    rule:
      '!has(self.spec) || !has(self.spec.replicatedJobs) || size(self.spec.replicatedJobs) == 0 || ' +
      "self.metadata.name.matches('^[a-z][-a-z0-9]*$')",
    message: LABEL_MESSAGE,
    fieldPath: '.spec.replicatedJobs',
  },
  {
    rule: everyJob(
      "(has(job.template.spec.completionMode) && job.template.spec.completionMode == 'NonIndexed') || " +
        `!has(job.template.spec.completions) || ${POD_NAME_LENGTH} <= 63`,
    ),
    message:
      'JobSet name is too long, pod names generated for this JobSet will exceed 63 characters',
    fieldPath: '.spec.replicatedJobs',
  },
];

/** The middle of a label. */
export const REPLICATED_JOB_NAME_RULES: readonly ValidationRule[] = [
  { rule: "self.matches('^[-a-z0-9]*$')", message: LABEL_MESSAGE },
];

export const GROUP_NAME_RULES: readonly ValidationRule[] = [
  {
    rule: 'size(self) <= 63',
    message: '.spec.replicatedJob[].groupName is too long, must be less than 63 characters',
  },
  { rule: `self.matches('${LABEL}')`, message: LABEL_MESSAGE },
];

export const SUBDOMAIN_RULES: readonly ValidationRule[] = [
  {
    rule: 'size(self) <= 63',
    message: '.spec.network.subdomain is too long, must be less than 63 characters',
  },
  { rule: `self == '' || self.matches('${LABEL}')`, message: LABEL_MESSAGE },
];

export const REPLICATED_JOB_RULES: readonly ValidationRule[] = [
  {
    rule: '!has(self.dependsOn) || !(self.name in self.dependsOn.map(item, item.name))',
    messageExpression:
      "'replicatedJob: ' + self.name + ' cannot depend on replicatedJob: ' + self.name",
    fieldPath: '.dependsOn',
  },
];

const IS_IN_PLACE =
  "has(self.failurePolicy) && has(self.failurePolicy.restartStrategy) && self.failurePolicy.restartStrategy == 'InPlaceRestart'";

/** A rule about each Job of a group that restarts in place; unset members get the right value. */
function inPlace(isRight: string, why: string): ValidationRule {
  return {
    rule: `!(${IS_IN_PLACE}) || !has(self.replicatedJobs) || self.replicatedJobs.all(job, ${isRight})`,
    message: `${why} when in-place restart is enabled`,
    fieldPath: '.replicatedJobs',
  };
}

const HAS_COORDINATOR = 'has(self.coordinator)';
const COORDINATING = 'job.name == self.coordinator.replicatedJob';
const JOB_INDEX = '(has(self.coordinator.jobIndex) ? self.coordinator.jobIndex : 0)';
const POD_INDEX = '(has(self.coordinator.podIndex) ? self.coordinator.podIndex : 0)';

/** A rule about the coordinator's ReplicatedJob; its existence is a rule of its own. */
function coordinator(isRight: string, message: Omit<ValidationRule, 'rule'>): ValidationRule {
  return {
    rule: `!${HAS_COORDINATOR} || !has(self.replicatedJobs) || self.replicatedJobs.all(job, !(${COORDINATING}) || (${isRight}))`,
    ...message,
    fieldPath: '.coordinator',
  };
}

const RESTARTS_ONE_JOB =
  'has(self.failurePolicy) && has(self.failurePolicy.rules) && ' +
  "self.failurePolicy.rules.exists(each, each.action in ['RestartJob', 'RestartJobAndIgnoreMaxRestarts'])";

const TARGET_COUNT =
  'self.failurePolicy.rules.map(each, has(each.targetReplicatedJobs) ? size(each.targetReplicatedJobs) : 0).sum()';
/**
 * A rule looks for each target among all ReplicatedJobs, and may cost a million steps. The webhook
 * checks the names in larger policies.
 */
const MAX_CHECKED_TARGETS = 512;

/** Rules about the spec as a whole. */
export const SPEC_RULES: readonly ValidationRule[] = [
  ...SIZE_RULES,
  {
    rule:
      "!(has(self.startupPolicy) && self.startupPolicy.startupPolicyOrder == 'InOrder' && " +
      'has(self.replicatedJobs) && self.replicatedJobs.exists(job, has(job.dependsOn)))',
    message: 'StartupPolicy and DependsOn APIs are mutually exclusive',
  },
  {
    rule: '!has(self.replicatedJobs) || size(self.replicatedJobs) == 0 || !has(self.replicatedJobs[0].dependsOn)',
    message: "DependsOn can't be set for the first ReplicatedJob",
    fieldPath: '.replicatedJobs',
  },
  {
    rule:
      '!has(self.replicatedJobs) || self.replicatedJobs.all(job, !has(job.dependsOn) || ' +
      'sets.contains(self.replicatedJobs.map(each, each.name), job.dependsOn.map(item, item.name)))',
    message: 'a replicatedJob cannot depend on a replicatedJob that does not exist',
    fieldPath: '.replicatedJobs',
  },
  {
    rule:
      'has(self.replicatedJobs) == has(oldSelf.replicatedJobs) && (!has(self.replicatedJobs) || ' +
      'self.replicatedJobs.map(job, job.name) == oldSelf.replicatedJobs.map(job, job.name))',
    message: 'names and their order are immutable',
    fieldPath: '.replicatedJobs',
  },
  {
    rule:
      'has(self.managedBy) == has(oldSelf.managedBy) && ' +
      '(!has(self.managedBy) || self.managedBy == oldSelf.managedBy)',
    message: 'field is immutable',
    fieldPath: '.managedBy',
  },
  inPlace(
    '!has(job.template.spec.backoffLimit) || job.template.spec.backoffLimit == 2147483647',
    'backoffLimit must be set to 2147483647 (MaxInt32)',
  ),
  inPlace(
    "!has(job.template.spec.podReplacementPolicy) || job.template.spec.podReplacementPolicy in ['', 'Failed']",
    'podReplacementPolicy must be set to Failed',
  ),
  inPlace(
    '!has(job.template.spec.completions) || !has(job.template.spec.parallelism) || ' +
      'job.template.spec.completions == job.template.spec.parallelism',
    'completions and parallelism must be set and equal to each other',
  ),
  {
    rule:
      '!has(self.successPolicy) || !has(self.successPolicy.targetReplicatedJobs) || ' +
      '(has(self.replicatedJobs) ? sets.contains(self.replicatedJobs.map(job, job.name), ' +
      'self.successPolicy.targetReplicatedJobs) : size(self.successPolicy.targetReplicatedJobs) == 0)',
    message: 'invalid replicatedJob name does not appear in .spec.ReplicatedJobs',
    fieldPath: '.successPolicy.targetReplicatedJobs',
  },
  {
    rule:
      `!has(self.failurePolicy) || !has(self.failurePolicy.rules) || ${TARGET_COUNT} > ${MAX_CHECKED_TARGETS} || ` +
      '[has(self.replicatedJobs) ? self.replicatedJobs.map(job, job.name) : []].all(names, ' +
      'self.failurePolicy.rules.all(each, !has(each.targetReplicatedJobs) || ' +
      'each.targetReplicatedJobs.all(target, target in names)))',
    message: 'invalid replicatedJob name in failure policy does not appear in .spec.ReplicatedJobs',
    fieldPath: '.failurePolicy.rules',
  },
  {
    rule: `!(${RESTARTS_ONE_JOB}) || !has(self.replicatedJobs) || self.replicatedJobs.all(job, job.replicas <= ${MAX_RESTARTABLE_JOBS})`,
    message: `JobSet cannot have a failure policy rule with RestartJob or RestartJobAndIgnoreMaxRestarts action and a replicated job with replicas > ${MAX_RESTARTABLE_JOBS}`,
    fieldPath: '.failurePolicy.rules',
  },
  {
    rule: `!${HAS_COORDINATOR} || (has(self.replicatedJobs) && self.replicatedJobs.exists(job, ${COORDINATING}))`,
    messageExpression:
      "'coordinator replicatedJob ' + self.coordinator.replicatedJob + ' does not exist'",
    fieldPath: '.coordinator',
  },
  coordinator(`${JOB_INDEX} >= 0 && ${JOB_INDEX} < job.replicas`, {
    messageExpression:
      "'coordinator job index is invalid for replicatedJob ' + self.coordinator.replicatedJob",
  }),
  coordinator(
    // Without completions the operator decides whether there will be such a Pod: clients leave them
    // out.
    "!has(job.template.spec.completionMode) || job.template.spec.completionMode in ['', 'Indexed']",
    {
      message:
        'job for coordinator pod must be indexed completion mode, and completions number must be set',
    },
  ),
  coordinator(
    `!has(job.template.spec.completions) || (${POD_INDEX} >= 0 && ${POD_INDEX} < job.template.spec.completions)`,
    {
      messageExpression:
        "'coordinator pod index is invalid for replicatedJob ' + self.coordinator.replicatedJob",
    },
  ),
];

const RULE_NAME = '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$';

/** Clients in Go send a missing name as an empty one: the operator fills it in. */
export const RULE_NAME_RULES: readonly ValidationRule[] = [
  {
    rule: 'size(self) <= 128',
    message:
      'invalid failure policy rule name, the rule name must be at least 1 characters long and at most 128 characters long',
  },
  {
    rule: `self == '' || self.matches('${RULE_NAME}')`,
    messageExpression:
      "'invalid failure policy rule name \\'' + self + '\\', a failure policy rule name must start with an alphabetic character, optionally followed by a string of alphanumeric characters or \\'_,:\\', and must end with an alphanumeric character or \\'_\\''",
  },
];

export const FAILURE_POLICY_RULES_RULES: readonly ValidationRule[] = [
  {
    rule: "self.all(each, each.name == '' || self.exists_one(other, other.name == each.name))",
    message: 'rule names are not unique',
  },
];

export const JOB_FAILURE_REASON_RULES: readonly ValidationRule[] = [
  {
    rule: "self in ['BackoffLimitExceeded', 'DeadlineExceeded', 'FailedIndexes', 'MaxFailedIndexesExceeded', 'PodFailurePolicy']",
    messageExpression:
      "'invalid job failure reason \\'' + self + '\\' in failure policy is not a recognized job failure reason'",
  },
];

export const VOLUME_CLAIM_POLICY_RULES: readonly ValidationRule[] = [
  {
    rule:
      '!has(self.templates) || self.templates.all(claim, !has(claim.metadata) || ' +
      '!has(claim.metadata.namespace) || size(claim.metadata.namespace) == 0)',
    message: 'namespace cannot be set for VolumeClaimPolicies templates',
  },
];
