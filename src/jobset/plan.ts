import { formatFieldErrors } from '../kube/field-error.ts';
import { classifyJobs } from './child-jobs.ts';
import { isFinished } from './conditions.ts';
import { type Action, converge, deletions } from './convergence.ts';
import { countersWrite } from './counters.ts';
import { type DefaultedSpec, withDefaults } from './defaults.ts';
import { inBothDialects, takenOver } from './dialect.ts';
import { planGroupRestart } from './group-restart.ts';
import { currentEpoch, isConverging, slotCount, type Watchpoint } from './in-place-restart.ts';
import { planJobFailure } from './job-failure.ts';
import type { JobSetStatus } from './jobset.ts';
import { MANAGED_BY_JOBSET } from './names.ts';
import { groupOf, type Planning } from './planning.ts';
import { allJobsReady, replicatedJobsStatus } from './replicated-jobs-status.ts';
import { restartsInPlace } from './restart-strategy.ts';
import type { Question, Snapshot } from './snapshot.ts';
import { groupJobs, groupStages, willSucceed } from './stages.ts';
import { type Outcome, type PlannedEvent, StatusDraft } from './status-draft.ts';
import { meetsSuccessPolicy } from './success-policy.ts';
import { completeJobSet } from './terminal-state.ts';
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
  /** True if the stored counters of Jobs are out of date and their write was put off. */
  readonly countersDiffer: boolean;
}

export function plan(snapshot: Snapshot): Plan {
  const { jobSet } = snapshot;
  const spec = withDefaults(jobSet.spec);
  const isForeign = spec.managedBy !== undefined && spec.managedBy !== MANAGED_BY_JOBSET;
  if (isForeign || jobSet.metadata.deletionTimestamp !== undefined) return NOTHING;

  const planning = begin(snapshot, spec);
  const step =
    planFinished(planning) ??
    planRejected(planning) ??
    planTakenOver(planning) ??
    planFailed(planning) ??
    planSucceeded(planning) ??
    planRunning(planning);
  return finish(planning, step);
}

const NOTHING: Plan = {
  status: undefined,
  actions: [],
  events: [],
  outcomes: [],
  watchpoint: undefined,
  countersDiffer: false,
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
  const { jobSet, jobs, members, nowMs } = snapshot;
  const status = jobSet.status ?? {};
  const classified = classifyJobs(jobs, status.restarts ?? 0);
  const { replicatedJobs } = spec;
  const isGroup = restartsInPlace(spec, jobSet.metadata.annotations);
  const isOver = isFinished(status.conditions);
  const children = isGroup && !isOver ? groupJobs(classified, status) : classified;
  const stages = isGroup ? groupStages(replicatedJobs, children, status, members) : undefined;
  return {
    snapshot,
    spec,
    draft: new StatusDraft(jobSet.status, nowMs),
    children,
    counters: replicatedJobsStatus(replicatedJobs, children, status.replicatedJobsStatus ?? []),
    stages,
    successIsNear: meetsSuccessPolicy(spec, willSucceed(children, members)),
  };
}

/** Completed and Failed are final: all that is left is to end what still runs. */
function planFinished({ snapshot, children }: Planning): Step | undefined {
  if (!isFinished(snapshot.jobSet.status?.conditions)) return undefined;
  return { actions: deletions(children.active) };
}

/** A spec that cannot be right is not acted on: what runs goes on, nothing is made. */
function planRejected({ snapshot, spec, draft, stages }: Planning): Step | undefined {
  const { jobSet } = snapshot;
  const errors = validateJobSet(jobSet, spec);
  if (errors.length > 0) {
    const message = formatFieldErrors(errors);
    draft.condition(
      { type: 'Rejected', status: 'True', reason: 'InvalidSpec', message },
      'Warning',
    );
    return { actions: [] };
  }
  draft.clear({ type: 'Rejected', reason: 'ValidSpec', message: 'the spec is valid' });
  if (jobSet.status?.restarts !== undefined) return undefined;
  // The first status says what a JobSet starts from, so that no agent has to guess.
  draft.set({ restarts: 0, restartsCountTowardsMax: 0 });
  if (stages !== undefined) draft.set({ deprecatedEpoch: 0, syncedEpoch: 0 });
  for (const note of jobSetWarnings(jobSet, spec)) draft.event('Warning', 'SpecWarning', note);
  return undefined;
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

function planFailed(planning: Planning): Step | undefined {
  const { spec, draft, children, counters } = planning;
  for (const { problem } of children.unreadable) draft.event('Warning', 'UnreadableJob', problem);
  if (!spec.suspend && allJobsReady(spec.replicatedJobs, counters)) {
    const message = 'all jobs are ready';
    draft.clear({ type: 'RestartingJobSet', reason: 'JobsReady', message });
  }
  if (children.failed.length === 0) return undefined;
  const actions = deletions(children.previous);
  const question = planJobFailure(planning);
  return question === undefined ? { actions } : { actions: [], question };
}

function planSucceeded({ spec, draft, children }: Planning): Step | undefined {
  const isIdle = spec.suspend && children.successful.length === 0;
  if (isIdle || !meetsSuccessPolicy(spec, children.successful)) return undefined;
  completeJobSet(draft);
  return { actions: deletions(children.previous) };
}

/** Decisions about epochs come first and alone, so that nothing else can delay or undo them. */
function planRunning(planning: Planning): Step {
  const step = planGroupRestart(planning);
  switch (step.kind) {
    case 'Ask':
      return { actions: [], question: step.question };
    case 'Written':
      return { actions: [], keepsCounters: step.isRestart };
    case 'Hold':
      return { ...planConvergence(planning), requeueAfterMs: step.delayMs };
    case 'Nothing':
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
  return { actions: converge(planning) };
}

/** Decides whether the draft is worth a write now, later or not at all. */
function finish(planning: Planning, step: Step): Plan {
  const { snapshot, spec, draft, children, counters, stages } = planning;
  const watchpoint =
    stages === undefined
      ? undefined
      : { epoch: currentEpoch(draft.status), slots: slotCount(stages.stages) };
  if (step.question !== undefined) return { ...NOTHING, question: step.question, watchpoint };
  const converging =
    stages !== undefined && !spec.suspend && isConverging(groupOf(planning, stages));
  const { differ, waitMs } = countersWrite(
    snapshot.jobSet.status?.replicatedJobsStatus,
    counters,
    { differMs: snapshot.knowledge.countersDifferSinceMs, nowMs: snapshot.nowMs },
    converging,
  );
  const isCounted = differ && (draft.isChanged ? step.keepsCounters !== true : waitMs === 0);
  if (isCounted) {
    const epochs = draft.status.replicatedJobsStatus ?? [];
    draft.set({
      replicatedJobsStatus: replicatedJobsStatus(spec.replicatedJobs, children, epochs),
    });
  }
  const delays = [step.requeueAfterMs, isCounted ? undefined : waitMs];
  const requeueAfterMs = earliest(delays);
  return {
    status: draft.isChanged ? inBothDialects(draft.status) : undefined,
    actions: step.actions,
    events: draft.events,
    outcomes: draft.outcomes,
    watchpoint,
    countersDiffer: differ && !isCounted,
    ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }),
  };
}

function earliest(delays: readonly (number | undefined)[]): number | undefined {
  const known = delays.filter((delay) => delay !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
