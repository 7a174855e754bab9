import { formatFieldErrors } from '../kube/field-error.ts';
import { askedOf, type ChildJobs, classifyJobs } from './child-jobs/child-jobs.ts';
import {
  succeededCounts,
  withoutSuccessesOf,
  withSucceededIndexes,
} from './child-jobs/succeeded-jobs.ts';
import { deletions, stillRunning, tidyUp } from './child-jobs/tidying.ts';
import { type Action, converge } from './convergence.ts';
import { type DefaultedSpec, withDefaults } from './defaults.ts';
import { reportBypass } from './epoch/bypass.ts';
import { inBothDialects, takenOver } from './epoch/dialect.ts';
import { planGroupRestart } from './epoch/group-restart.ts';
import { reportHubReach } from './epoch/hub-reach.ts';
import { currentEpoch, type Watchpoint, watchpointOf } from './epoch/in-place-restart.ts';
import { type LostPodsStep, planLostPods } from './epoch/lost-pods.ts';
import type { Members } from './epoch/members.ts';
import { reportMissingPods } from './epoch/missing-pods.ts';
import { groupJobs, groupStages, willSucceed } from './epoch/stages.ts';
import { reportAgents } from './injection/agent-guarantees.ts';
import { restartRuleErrors, wantsAgents } from './injection/agent-mode.ts';
import { nodeSupportErrors } from './injection/node-support.ts';
import { unneededRights } from './injection/planned-rights.ts';
import { recordMode } from './injection/recorded-mode.ts';
import { questionOfTemplates } from './injection/template-question.ts';
import type { JobSetStatus } from './jobset.ts';
import { MANAGED_BY_JOBSET } from './names.ts';
import { groupOf, type Planning, startupOrderOf } from './planning.ts';
import { deadlineWaitMs, failIfOverdue, hasDeadline } from './policies/active-deadline.ts';
import { planJobFailure } from './policies/job-failure.ts';
import { restartsInPlace } from './policies/restart-strategy.ts';
import { reportStartup } from './policies/startup-policy.ts';
import { meetsSuccessPolicy } from './policies/success-policy.ts';
import { expiryOf } from './policies/ttl.ts';
import type { Question, Snapshot } from './snapshot.ts';
import { type ConditionType, isFinished, isTrue } from './status/conditions.ts';
import type { CountersPutOff } from './status/counters.ts';
import { firstExecutionAttempt } from './status/execution-attempts.ts';
import { allJobsReady, replicatedJobsStatus } from './status/replicated-jobs-status.ts';
import { type Outcome, type PlannedEvent, StatusDraft } from './status/status-draft.ts';
import { completeStatus } from './status/status-write.ts';
import { completeJobSet } from './status/terminal-state.ts';
import { exceedsDefinition } from './validation/size.ts';
import { jobSetWarnings, validateJobSet } from './validation.ts';

/**
 * Everything that the controller decides about a JobSet, from one snapshot and in one fixed order
 * (spec 4.3). It is called again after every change, so each call may do the first thing that is due
 * and leave the rest to the next. What it returns can be carried out any number of times.
 */
export interface Plan {
  /** To be written under the snapshot's resourceVersion before anything else; undefined: nothing. */
  readonly status: JobSetStatus | undefined;
  /** To be carried out in any order; each may fail by itself. */
  readonly actions: readonly Action[];
  /** To be recorded after the status was written. */
  readonly events: readonly PlannedEvent[];
  readonly outcomes: readonly Outcome[];
  /** If set, nothing else is: find the answer, then plan again. */
  readonly question?: Question;
  readonly requeueAfterMs?: number;
  /** Which announcements call for the next plan; undefined: none does. */
  readonly watchpoint: Watchpoint | undefined;
  /** Counters of Jobs that are out of date in the status and whose write was put off: for the next plan. */
  readonly countersPutOff?: CountersPutOff;
}

export function plan(snapshot: Snapshot): Plan {
  const { jobSet } = snapshot;
  const spec = withDefaults(jobSet.spec);
  const isForeign = spec.managedBy !== undefined && spec.managedBy !== MANAGED_BY_JOBSET;
  if (isForeign) return NOTHING;
  // A definition that does not let a JobSet of this size in lets no finalizer go before its status.
  const lacksStatus = jobSet.status === undefined && exceedsDefinition(spec);
  if (jobSet.metadata.deletionTimestamp !== undefined && !lacksStatus) return NOTHING;

  const planning = begin(snapshot, spec);
  const step =
    planFinished(planning) ??
    planRejected(planning) ??
    planTakenOver(planning) ??
    planEnds(planning) ??
    planRunning(planning);
  return finish(planning, step);
}

const NOTHING: Plan = {
  status: undefined,
  actions: [],
  events: [],
  outcomes: [],
  watchpoint: undefined,
};

/** What one step of the order leaves to be done beside the draft. */
interface Step {
  readonly actions: readonly Action[];
  readonly question?: Question;
  readonly requeueAfterMs?: number;
  /** The write belongs to a group restart: counters stay, because they will soon be right again. */
  readonly keepsCounters?: boolean;
}

function begin(snapshot: Snapshot, spec: DefaultedSpec): Planning {
  const { jobSet, jobs, vanished, members, gates, nowMs } = snapshot;
  const status = jobSet.status ?? {};
  const { replicatedJobs } = spec;
  const classified = classifyJobs(jobs, askedOf(replicatedJobs, status, gates), vanished);
  const isGroup = restartsInPlace(spec, jobSet.metadata.annotations);
  const isOver = isFinished(status.conditions);
  const grouped = isGroup && !isOver ? groupJobs(classified, status) : classified;
  const stages = isGroup ? groupStages(replicatedJobs, grouped, status, members) : undefined;
  const startsOver = isOver ? undefined : stages?.startsOver;
  const children = startsOver === undefined ? grouped : withoutSuccessesOf(grouped, startsOver);
  const counters = replicatedJobsStatus(
    replicatedJobs,
    children,
    status.replicatedJobsStatus ?? [],
  );
  return {
    snapshot,
    spec,
    draft: new StatusDraft(jobSet.status, nowMs),
    children,
    counters: withSucceededIndexes(counters, children, startsOver),
    stages,
    successIsNear: stages !== undefined && isSuccessNear(spec, children, members),
  };
}

function isSuccessNear(spec: DefaultedSpec, children: ChildJobs, members: Members): boolean {
  const near = succeededCounts(willSucceed(children, members), children.gone);
  return meetsSuccessPolicy(spec, near);
}

/** Completed and Failed are final: what still runs is ended, and in the end the JobSet itself. */
function planFinished(planning: Planning): Step | undefined {
  const { snapshot, spec, draft } = planning;
  const { metadata, status } = snapshot.jobSet;
  if (!isFinished(status?.conditions)) return undefined;
  const actions = [...deletions(stillRunning(planning)), ...unneededRights(planning)];
  const expiry = expiryOf(status?.conditions, spec.ttlSecondsAfterFinished, snapshot.nowMs);
  switch (expiry.kind) {
    case 'Never':
      return { actions };
    case 'In':
      return { actions, requeueAfterMs: expiry.delayMs };
    case 'Expired':
      return { actions: [...actions, { kind: 'DeleteJobSet' }] };
    case 'Unknown': {
      const which = `${metadata.namespace ?? ''}/${metadata.name}`;
      const note = `unable to find the time when the JobSet ${which} finished`;
      draft.eventOnce('Warning', 'UnknownFinishTime', note);
      return { actions };
    }
  }
}

/** A spec that cannot be right is not acted on: what runs goes on, nothing is made. */
function planRejected(planning: Planning): Step | undefined {
  const { snapshot, spec, draft, stages } = planning;
  const { jobSet } = snapshot;
  const { annotations } = jobSet.metadata;
  const errors = [
    ...validateJobSet(jobSet, spec, snapshot.limits),
    ...restartRuleErrors(spec, snapshot.agent),
    ...nodeSupportErrors(spec, annotations, snapshot.agent),
  ];
  if (errors.length > 0) {
    const message = formatFieldErrors(errors);
    draft.condition(
      { type: 'Rejected', status: 'True', reason: 'InvalidSpec', message },
      'Warning',
    );
    return { actions: [] };
  }
  draft.clear({ type: 'Rejected', reason: 'ValidSpec', message: 'the spec is valid' });
  reportBypass(planning);
  reportAgents(draft, spec, stages !== undefined);
  countFirstExecution(planning);
  if (jobSet.status?.restarts !== undefined) return undefined;
  // The first status says what a JobSet starts from, so that no agent has to guess.
  draft.set({ restarts: 0, restartsCountTowardsMax: 0 });
  if (stages !== undefined) draft.set({ deprecatedEpoch: 0, syncedEpoch: 0 });
  const { noRestartAll } = snapshot.agent;
  if (noRestartAll !== undefined && wantsAgents(spec, annotations)) {
    draft.event('Normal', 'SupervisorMode', `agents supervise their workers: ${noRestartAll}`);
  }
  for (const note of jobSetWarnings(jobSet, spec, snapshot.agent))
    draft.event('Warning', 'SpecWarning', note);
  return undefined;
}

function countFirstExecution({ snapshot, spec, draft }: Planning): void {
  if (!snapshot.gates.ExecutionAttemptsTracking) return;
  const executionAttempts = firstExecutionAttempt(draft.status, spec.suspend);
  if (executionAttempts !== undefined) draft.set({ executionAttempts });
}

/** A group that upstream's controller ran goes on where it stands: nobody has to restart for that. */
function planTakenOver({ snapshot, draft, counters, stages }: Planning): Step | undefined {
  if (stages === undefined) return undefined;
  const fields = takenOver(snapshot.jobSet.status, counters);
  if (fields === undefined) return undefined;
  draft.set(fields);
  const note = `continues after epoch ${fields.deprecatedEpoch}, as upstream's attempts say`;
  draft.event('Normal', 'TakenOver', note);
  return { actions: [] };
}

/**
 * A JobSet with a deadline is judged by its success first, so that the deadline fails none that is
 * complete, and by the failure policy last, so that no restart evades the deadline.
 */
function planEnds(planning: Planning): Step | undefined {
  return hasDeadline(planning)
    ? (planSucceeded(planning) ?? planOverdue(planning) ?? planFailed(planning))
    : (planFailed(planning) ?? planSucceeded(planning));
}

function planOverdue(planning: Planning): Step | undefined {
  if (!failIfOverdue(planning)) return undefined;
  return { actions: deletions(stillRunning(planning)) };
}

function planFailed(planning: Planning): Step | undefined {
  const { spec, draft, children, counters } = planning;
  if (!spec.suspend && allJobsReady(spec.replicatedJobs, counters)) {
    const message = 'all jobs are ready';
    draft.clear({ type: 'RestartingJobSet', reason: 'JobsReady', message });
  }
  if (children.failed.length === 0) return undefined;
  const question = planJobFailure(planning);
  return question === undefined ? { actions: tidyUp(planning) } : { actions: [], question };
}

function planSucceeded(planning: Planning): Step | undefined {
  const { spec, draft, children } = planning;
  const succeeded = succeededCounts(children.successful, children.gone);
  const isIdle = spec.suspend && sum(succeeded.values()) === 0;
  if (isIdle || !meetsSuccessPolicy(spec, succeeded)) return undefined;
  completeJobSet(draft);
  return { actions: tidyUp(planning) };
}

/** Decisions about epochs come first and alone, so that nothing else can delay or undo them. */
function planRunning(planning: Planning): Step {
  const step = planGroupRestart(planning);
  switch (step.kind) {
    case 'Ask':
      return { actions: [], question: step.question };
    case 'Written': {
      const { draft, spec } = planning;
      // The startup order begins anew with the epoch, so it is said in the same write.
      if (!isFinished(draft.status.conditions)) {
        reportStartup(draft, spec, startupOrderOf(planning));
      }
      return { actions: [], keepsCounters: step.isRestart };
    }
    case 'Hold': {
      const others = planConvergence(planning);
      return {
        ...others,
        requeueAfterMs: Math.min(step.delayMs, others.requeueAfterMs ?? step.delayMs),
      };
    }
    case 'Nothing':
      reportMissingPods(planning);
      return planConvergence(planning);
  }
}

/** Work that is done is thrown away only after a look at what else is done (design H3). */
function planConvergence(planning: Planning): Step {
  const { stages, snapshot } = planning;
  const isDiscarding = deletions(stages?.toRecreate ?? []).length > 0;
  if (isDiscarding && snapshot.answers.isSuccessFresh !== true) {
    return { actions: [], question: { kind: 'SucceededPods' } };
  }
  const lost = stages === undefined ? NO_LOST_PODS : planLostPods(planning);
  if (lost.question !== undefined) return lost;
  const { actions, requeueAfterMs: laterMs } = converge(planning);
  const question = questionOfTemplates(planning, actions);
  if (question !== undefined) return { actions: [], question };
  const requeueAfterMs = earliest([lost.requeueAfterMs, laterMs]);
  return {
    actions: [...lost.actions, ...actions],
    ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }),
  };
}

const NO_LOST_PODS: LostPodsStep = { actions: [] };

function finish(planning: Planning, step: Step): Plan {
  const { draft, stages } = planning;
  const watchpoint =
    stages === undefined
      ? undefined
      : watchpointOf({ ...groupOf(planning, stages), epoch: currentEpoch(draft.status) });
  if (step.question !== undefined) return { ...NOTHING, question: step.question, watchpoint };
  const hubAgainMs = reportHubReach(planning);
  const write = completeStatus(planning, step.keepsCounters ?? false);
  recordMode(planning);
  const requeueAfterMs = earliest([
    step.requeueAfterMs,
    write.waitMs,
    hubAgainMs,
    deadlineWaitMs(planning),
    namesPods(draft.status) ? NAMED_PODS_REVIEW_MS : undefined,
  ]);
  return {
    status: draft.isChanged ? inBothDialects(draft.status) : undefined,
    actions: step.actions,
    events: draft.events,
    outcomes: draft.outcomes,
    watchpoint,
    ...(write.putOff === undefined ? {} : { countersPutOff: write.putOff }),
    ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }),
  };
}

const PODS_IN_THE_WAY: readonly ConditionType[] = ['WaitingForUnknownPod', 'WaitingForLostNode'];
/** Others may have taken the places of the Pods that those name, and no watchpoint calls for that. */
const NAMED_PODS_REVIEW_MS = 15_000;

function namesPods({ conditions }: JobSetStatus): boolean {
  const isWaiting = PODS_IN_THE_WAY.some((type) => isTrue(conditions, type));
  return isWaiting && !isFinished(conditions);
}

function earliest(delays: readonly (number | undefined)[]): number | undefined {
  const known = delays.filter((delay) => delay !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
