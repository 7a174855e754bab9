/** Applies the rules of a failure policy to failures. */
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job, JobCondition } from '@lockstep/kube/objects/job.ts';
import { replicatedJobOf } from '../child-jobs/child-jobs.ts';
import type { DefaultedFailurePolicyRule } from '../defaults.ts';
import type { FailurePolicyAction } from '../jobset.ts';
import { findsPattern } from './message-pattern.ts';

/**
 * The first rule that matches any failure decides, and within it the failure that came first: the
 * order of rules dominates the order of time. If no rule matches, all Jobs restart.
 */
export interface PolicyDecision {
  readonly action: FailurePolicyAction;
  /** The rule that matched; undefined if none did. */
  readonly rule: string | undefined;
}

/** A failure as the rules see it. */
export interface Failure {
  /** Undefined if unknown: then no rule matches, not even an empty one. */
  readonly replicatedJob: string | undefined;
  readonly reason: string;
  readonly message: string;
}

/** Judges Jobs that have failed; undefined if there are none. */
export function judgeJobs(
  rules: readonly DefaultedFailurePolicyRule[],
  failed: readonly Stored<Job>[],
): (PolicyDecision & { readonly job: Stored<Job> }) | undefined {
  const first = firstFailed(failed);
  if (first === undefined) return undefined;
  for (const rule of rules) {
    const job = firstFailed(failed.filter((each) => matches(rule, failureOf(each))));
    if (job !== undefined) return { action: rule.action, rule: rule.name, job };
  }
  return { ...DEFAULT_VERDICT, job: first };
}

/**
 * Judges the failure of a worker whose group restarts in place. Without endless replacement, the Job
 * would have failed with `BackoffLimitExceeded`, so only rules that list this reason apply. A rule
 * with an empty list is for failures of Jobs
 * (`docs/design/end-hazards.md#a-disruption-is-charged-like-a-crash`).
 */
export function judgeWorker(
  rules: readonly DefaultedFailurePolicyRule[],
  failure: Omit<Failure, 'reason'>,
): PolicyDecision {
  const rule = rules.find(
    (each) =>
      each.onJobFailureReasons?.includes(IN_PLACE_REASON) === true &&
      matches(each, { ...failure, reason: IN_PLACE_REASON }),
  );
  return rule === undefined ? DEFAULT_VERDICT : { action: rule.action, rule: rule.name };
}

/**
 * The Job that failed first, by the time of its Failed condition. The time has whole seconds, so ties
 * are common; then the lesser name wins, because a cache has no order.
 */
export function firstFailed(failed: readonly Stored<Job>[]): Stored<Job> | undefined {
  let first: Stored<Job> | undefined;
  for (const job of failed) if (first === undefined || failedBefore(job, first)) first = job;
  return first;
}

function failedBefore(a: Stored<Job>, b: Stored<Job>): boolean {
  const [timeOfA, timeOfB] = [failedAt(a), failedAt(b)];
  return timeOfA === timeOfB ? a.metadata.name < b.metadata.name : timeOfA < timeOfB;
}

/** Whether restarts by this action draw on `maxRestarts`. */
export function isCharged(action: FailurePolicyAction): boolean {
  return action === 'RestartJobSet' || action === 'RestartJob';
}

/** Whether the action recreates one Job only. */
export function restartsOneJob(
  action: FailurePolicyAction,
): action is 'RestartJob' | 'RestartJobAndIgnoreMaxRestarts' {
  return action === 'RestartJob' || action === 'RestartJobAndIgnoreMaxRestarts';
}

/**
 * The action for all Jobs, at the same charge, if one Job alone cannot be recreated.
 */
export function widened(action: FailurePolicyAction): FailurePolicyAction {
  switch (action) {
    case 'RestartJob':
      return 'RestartJobSet';
    case 'RestartJobAndIgnoreMaxRestarts':
      return 'RestartJobSetAndIgnoreMaxRestarts';
    case 'FailJobSet':
    case 'RestartJobSet':
    case 'RestartJobSetAndIgnoreMaxRestarts':
      return action;
  }
}

/**
 * The reason of the condition that reports the action, `FailurePolicy_<rule>` if a rule decided.
 */
export function reasonOf({ rule }: PolicyDecision): string {
  return rule === undefined ? 'DefaultFailurePolicy' : `FailurePolicy_${rule}`;
}

export function messageOf({ action }: PolicyDecision): string {
  return `applying ${action} failure policy action`;
}

/** The reason of the Event that reports an action (`FailJobSet` uses it for its condition, too). */
export function eventReasonOf({ action }: PolicyDecision): string {
  return `${action}FailurePolicyAction`;
}

const DEFAULT_VERDICT: PolicyDecision = { action: 'RestartJobSet', rule: undefined };
const IN_PLACE_REASON = 'BackoffLimitExceeded';

function matches(rule: DefaultedFailurePolicyRule, failure: Failure): boolean {
  const { replicatedJob, reason, message } = failure;
  if (replicatedJob === undefined) return false;
  const {
    onJobFailureReasons: reasons = [],
    onJobFailureMessagePatterns: patterns = [],
    targetReplicatedJobs: targets = [],
  } = rule;
  return (
    (reasons.length === 0 || reasons.includes(reason)) &&
    (targets.length === 0 || targets.includes(replicatedJob)) &&
    (patterns.length === 0 || patterns.some((pattern) => findsPattern(pattern, message)))
  );
}

/** A Job with a finally failed index has failed, even before the Job controller says so. */
function failureOf(job: Stored<Job>): Failure {
  const condition = failedCondition(job);
  return {
    replicatedJob: replicatedJobOf(job),
    reason: condition === undefined ? 'FailedIndexes' : (condition.reason ?? ''),
    message: condition?.message ?? '',
  };
}

function failedAt(job: Job): number {
  const time = Date.parse(failedCondition(job)?.lastTransitionTime ?? '');
  return Number.isNaN(time) ? Number.POSITIVE_INFINITY : time;
}

function failedCondition({ status }: Job): JobCondition | undefined {
  return status?.conditions?.find(({ type, status: is }) => type === 'Failed' && is === 'True');
}
