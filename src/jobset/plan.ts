/**
 * Decides everything about a JobSet from one snapshot, in one fixed order. It runs again after every
 * change, so each plan may do the first thing that is due and leave the rest to the next. The result
 * can be carried out any number of times.
 */

import { withDefaults } from './defaults.ts';
import { currentEpoch, watchpointOf } from './epoch/in-place-restart.ts';
import type { JobSetStatus } from './jobset-status.ts';
import { isManagedByUs } from './manager.ts';
import {
  type Action,
  type Counted,
  type Decision,
  inOrder,
  type PlannedEvent,
  type Step,
} from './plan/decision.ts';
import {
  awaitDeadline,
  failIfOverdue,
  hasDeadline,
  keepStartTime,
} from './plan/ending/active-deadline.ts';
import { dealWithFailedJobs, reportJobsReady } from './plan/ending/job-failure.ts';
import { endWithFailure, stopUnlessKept } from './plan/ending/keep-failed.ts';
import { complete } from './plan/ending/success-policy.ts';
import { deleteExpired } from './plan/ending/ttl.ts';
import { type Facts, factsOf } from './plan/facts.ts';
import { assertInvariants } from './plan/invariants.ts';
import { countFirstRun } from './plan/jobs/execution-attempts.ts';
import { createJobs, reportRefusedJobs } from './plan/jobs/job-creation.ts';
import { createClaims, createService } from './plan/jobs/surroundings.ts';
import { beginResume, resumeJobs, suspendJobs } from './plan/jobs/suspend.ts';
import { lookBeforeRecreating, recreateHalfDone, resizeJobs, tidyUp } from './plan/jobs/tidying.ts';
import { merge, type Next, unchanged } from './plan/merge.ts';
import type { Question } from './plan/questions.ts';
import { accountTime } from './plan/reports/account-time.ts';
import { reportGuarantees } from './plan/reports/agent-guarantees.ts';
import { reportBypass } from './plan/reports/bypass.ts';
import { reportDefinition } from './plan/reports/definition.ts';
import { rejectInvalidSpec, writeFirstStatus } from './plan/reports/first-status.ts';
import { reportHubReach } from './plan/reports/hub-reach.ts';
import { readAsKept, writtenAsKept } from './plan/reports/kept-status.ts';
import { grantRights } from './plan/reports/planned-rights.ts';
import { observeGeneration, reportReadiness } from './plan/reports/readiness.ts';
import { recordMode } from './plan/reports/recorded-mode.ts';
import { reportStarting } from './plan/reports/report-starting.ts';
import { beginAttempt, writeCounters } from './plan/reports/status-write.ts';
import { takeOver } from './plan/reports/take-over.ts';
import { reportUnknownAnnotations } from './plan/reports/unknown-annotations.ts';
import { forgetNodes } from './plan/restart/forget-nodes.ts';
import { restartInPlace } from './plan/restart/group-restart.ts';
import { dealWithLostPods, reviewNamedPods } from './plan/restart/lost-pods.ts';
import type { MissingState, Snapshot } from './plan/snapshot.ts';
import type { Watchpoint } from './roster/watch.ts';
import { isFinished } from './status/conditions.ts';
import type { CountersPutOff } from './status/counters.ts';
import { inBothDialects } from './status/epochs.ts';
import { exceedsDefinition } from './validation/size.ts';

export interface Plan {
  /**
   * To be written under the snapshot's resourceVersion before anything else; undefined: nothing.
   */
  readonly status: JobSetStatus | undefined;
  /** To be carried out in any order; each may fail by itself. */
  readonly actions: readonly Action[];
  /** To be recorded after the status was written. */
  readonly events: readonly PlannedEvent[];
  readonly outcomes: readonly Counted[];
  /** If set, only `watchpoint` is set too: find the answer, then plan again. */
  readonly question?: Question;
  readonly requeueAfterMs?: number | undefined;
  /** Which announcements call for the next plan; undefined: none does. */
  readonly watchpoint: Watchpoint | undefined;
  /** Counters of Jobs whose write was put off, for the next plan. */
  readonly countersPutOff?: CountersPutOff | undefined;
  /** Which members of the group are missing, or not ready; undefined: none is. */
  readonly missing?: MissingState | undefined;
}

/**
 * The steps for a JobSet that is not over, in this order. Each step decides from the facts, and none
 * changes them. A step that asks, or is the last, leaves the rest to the next plan.
 */
const STEPS: readonly Step<Facts>[] = [
  // A status from which agents need not guess.
  rejectInvalidSpec,
  reportBypass,
  reportGuarantees,
  reportDefinition,
  reportUnknownAnnotations,
  reportRefusedJobs,
  countFirstRun,
  writeFirstStatus,
  takeOver,
  // The end of the JobSet, and the end or the release of an epoch.
  completeOrFail,
  restartInPlace,
  forgetNodes,
  // Objects that exist and should not.
  lookBeforeRecreating,
  dealWithLostPods,
  tidyUp,
  recreateHalfDone,
  // Objects that should exist. Jobs come after everything that their Pods need.
  beginResume,
  createService,
  createClaims,
  grantRights,
  resizeJobs,
  createJobs,
  suspendJobs,
  resumeJobs,
];

/** Completed and Failed are final: running Jobs are ended, and in the end the JobSet itself. */
const STEPS_WHEN_OVER: readonly Step<Facts>[] = [stopUnlessKept, deleteExpired];

/**
 * The order of a JobSet's ends: first success, so that a deadline never fails a complete JobSet;
 * last the failure policy, so that no restart evades the deadline.
 */
function completeOrFail(facts: Facts): readonly Decision[] {
  const steps = hasDeadline(facts)
    ? [complete, failIfOverdue, reportJobsReady, dealWithFailedJobs]
    : [reportJobsReady, dealWithFailedJobs, complete];
  return inOrder(steps, facts);
}

/** Steps that complete the status just before its write. */
const CLOSING_STEPS: readonly ((facts: Facts, next: Next) => Decision)[] = [
  endWithFailure,
  observeGeneration,
  writeCounters,
  beginAttempt,
  keepStartTime,
  recordMode,
  awaitDeadline,
  reviewNamedPods,
  reportReadiness,
  // The last: it only adds to a write that the others cause.
  accountTime,
];

export function plan(stored: Snapshot): Plan {
  const snapshot = readAsKept(stored);
  const { jobSet, nowMs } = snapshot;
  const spec = withDefaults(jobSet.spec);
  // If the definition does not admit a JobSet of this size, its finalizers cannot go before it has
  // a status.
  const { restarts, conditions } = jobSet.status ?? {};
  const lacksStatus = restarts === undefined && conditions === undefined && exceedsDefinition(spec);
  const isLeaving = jobSet.metadata.deletionTimestamp !== undefined && !lacksStatus;
  if (!isManagedByUs(spec) || isLeaving) return NOTHING;

  const facts = factsOf(snapshot, spec);
  const { group, status } = facts;
  const steps = inOrder(isFinished(status.conditions) ? STEPS_WHEN_OVER : STEPS, facts);
  const isCalm = steps.every((step) => step.status === undefined && step.isLast !== true);
  const decisions = [...steps, ...reportHubReach(facts), ...reportStarting(facts, isCalm)];
  const asking = decisions.find(({ question }) => question !== undefined);
  if (asking?.question !== undefined) {
    return { ...NOTHING, question: asking.question, watchpoint: group && watchpointOf(group) };
  }
  let next = decisions.reduce((before, each) => merge(before, each, nowMs), unchanged(status));
  for (const closing of CLOSING_STEPS) {
    const decision = closing(facts, next);
    decisions.push(decision);
    next = merge(next, decision, nowMs);
  }
  assertInvariants(facts, next.status);
  return {
    status: next.isChanged ? writtenAsKept(stored, inBothDialects(next.status)) : undefined,
    actions: decisions.flatMap(({ actions = [] }) => actions),
    events: next.events,
    outcomes: decisions.flatMap(({ outcomes = [] }) => outcomes),
    watchpoint: group && watchpointOf({ ...group, epoch: currentEpoch(next.status) }),
    missing: decisions.find(({ missing }) => missing)?.missing,
    countersPutOff: decisions.find(({ countersPutOff }) => countersPutOff)?.countersPutOff,
    requeueAfterMs: earliest(decisions),
  };
}

const NOTHING: Plan = {
  status: undefined,
  actions: [],
  events: [],
  outcomes: [],
  watchpoint: undefined,
};

function earliest(decisions: readonly Decision[]): number | undefined {
  const delays = decisions.flatMap(({ requeueAfterMs }) => requeueAfterMs ?? []);
  return delays.length === 0 ? undefined : Math.min(...delays);
}
