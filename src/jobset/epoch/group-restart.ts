import { microTimeText } from '../../kube/time.ts';
import { isSuspended } from '../child-jobs/suspend.ts';
import { FIRST_GENERATION, generationOf, type JobSetStatus } from '../jobset.ts';
import { groupOf, hasBackoff, type Planning } from '../planning.ts';
import { planWorkerFailure, type WorkerFailure } from '../policies/worker-failure.ts';
import type { Question } from '../snapshot.ts';
import { endEpoch } from './epoch-end.ts';
import { MAX_FAILED_STARTS, suspectJob, withBaseline } from './failed-pods.ts';
import { haveOtherSize, isScaling } from './group-scaling.ts';
import {
  aheadOfTheirTime,
  decideGroup,
  type Group,
  type GroupDecision,
  isReleased,
  leastReleased,
  mayRun,
  slotCount,
} from './in-place-restart.ts';
import { crashLoopDelayMs, recordRelease } from './restart-history.ts';
import { reportUnknownPods } from './unknown-pods.ts';

/**
 * Ends and releases the epochs of a group that restarts in place (design, section 5): two status
 * writes for one restart, however many members fail. `Written` means that the draft holds one.
 */
export type GroupStep =
  | { readonly kind: 'Written'; readonly isRestart: boolean }
  | { readonly kind: 'Ask'; readonly question: Question }
  /** Everybody is at the barrier, but a crash loop holds the group back. */
  | { readonly kind: 'Hold'; readonly delayMs: number }
  | { readonly kind: 'Nothing' };

export function planGroupRestart(planning: Planning): GroupStep {
  const { snapshot, spec, stages } = planning;
  if (stages === undefined || spec.suspend) return { kind: 'Nothing' };
  const group = groupOf(planning, stages);
  reportUnknownPods(planning, group);
  if (isResuming(planning, group)) {
    if (snapshot.answers.areJobsFresh !== true) return ask({ kind: 'FreshJobs' });
    return endUncharged(planning, group, 'Resumed');
  }
  return strays(planning, group) ?? decide(planning, group) ?? failingStarts(planning, group);
}

function decide(planning: Planning, group: Group): GroupStep | undefined {
  const { witness } = planning.snapshot.answers;
  const decision = decideGroup(group);
  const hasFailed = decision.kind === 'End' || decision.kind === 'ExamineNotice';
  // A failure is charged, and judged by rules, although scaling would end the epoch as well.
  if (!hasFailed && isScaling(planning, group)) return endForSize(planning, group);
  switch (decision.kind) {
    case 'End': {
      if (planning.successIsNear) return { kind: 'Nothing' };
      const { cause, firstFailed } = decision;
      if (witness === undefined) return ask({ kind: 'Witness', pod: firstFailed });
      return endFor(planning, group, { cause, jobUid: firstFailed.jobUid, witness });
    }
    case 'ExamineNotice': {
      if (planning.successIsNear) return { kind: 'Nothing' };
      if (witness === undefined) return ask({ kind: 'Notice', pod: decision.pod });
      const { jobUid } = decision.pod;
      return endFor(planning, group, { cause: 'WorkerFailed', jobUid, witness });
    }
    case 'Release':
      return mayRelease(planning, group, decision);
    case 'Wait':
      return undefined;
  }
}

function ask(question: Question): GroupStep {
  return { kind: 'Ask', question };
}

/** Jobs are suspended although the JobSet is not, and their epoch was running (design H6). */
function isResuming({ children }: Planning, group: Group): boolean {
  if (!isReleased(group)) return false;
  const suspended = new Set(children.active.filter(isSuspended).map((job) => job.metadata.uid));
  return group.stages.some(
    ({ released, jobs }) =>
      released === group.epoch && jobs.some((job) => suspended.has(job.metadata.uid)),
  );
}

/** Announcements above C + 1 mean that our status is old, or that they are wrong (design H9). */
function strays({ snapshot, draft }: Planning, group: Group): GroupStep | undefined {
  const pods = aheadOfTheirTime(group).filter((pod) => !snapshot.knowledge.isKnownStray(pod));
  if (pods.length === 0) return undefined;
  if (snapshot.answers.isJobSetFresh !== true) return ask({ kind: 'FreshJobSet', pods });
  for (const pod of pods) {
    const note = `Pod ${pod.name} announces epoch ${pod.epoch}, expected at most ${group.epoch + 1}; it counts as missing`;
    draft.event('Warning', 'InvalidEpoch', note);
  }
  return undefined;
}

/** Pods that fail on their way to the barrier, again and again (design H8). */
function failingStarts(planning: Planning, group: Group): GroupStep {
  const { snapshot, draft } = planning;
  const statuses = draft.status.replicatedJobsStatus;
  const suspect = suspectJob(group.stages, group.epoch, statuses);
  if (suspect === undefined || planning.successIsNear) return { kind: 'Nothing' };
  const answer = snapshot.answers.failedPods;
  if (answer?.jobUid !== suspect.metadata.uid) return ask({ kind: 'FailedPods', job: suspect });
  const { inEpoch, witness, jobUid } = answer;
  if (inEpoch > MAX_FAILED_STARTS && witness !== undefined) {
    return endFor(planning, group, { cause: 'StartFailed', jobUid, witness });
  }
  // They had failed with the last epoch and were counted late: that is not to be asked again.
  draft.set({ replicatedJobsStatus: withBaseline(statuses ?? [], suspect, inEpoch) });
  return { kind: 'Nothing' };
}

function endFor(planning: Planning, group: Group, failure: WorkerFailure): GroupStep {
  const question = planWorkerFailure(planning, group, failure);
  if (question !== undefined) return ask(question);
  return { kind: 'Written', isRestart: planning.draft.status.terminalState !== 'Failed' };
}

function endUncharged(planning: Planning, group: Group, cause: 'Resumed' | 'Scaled'): GroupStep {
  endEpoch(planning, group, { cause, counted: false, witness: undefined });
  return { kind: 'Written', isRestart: true };
}

/** Jobs that were resized in the meantime look as if they still had to be: only fresh ones tell. */
function endForSize(planning: Planning, group: Group): GroupStep {
  const { areJobsFresh } = planning.snapshot.answers;
  return areJobsFresh === true
    ? endUncharged(planning, group, 'Scaled')
    : ask({ kind: 'FreshJobs' });
}

/** What a release in order, or with slots that show no Pod, has to be sure of (design, section 5). */
function mayRelease(
  planning: Planning,
  group: Group,
  decision: Extract<GroupDecision, { readonly kind: 'Release' }>,
): GroupStep | undefined {
  const { areJobsFresh, freshPods } = planning.snapshot.answers;
  const isChanged = isSpecChanged(planning);
  const needsFreshJobs = decision.needsFreshJobs || isChanged;
  if (needsFreshJobs && areJobsFresh !== true) return ask({ kind: 'FreshJobs' });
  const stages = group.stages.filter(({ name }) => decision.stages.includes(name));
  // A Job that still is larger than asked may make one Pod more at any time.
  if (isChanged && haveOtherSize(planning, stages)) return undefined;
  if (decision.needsFreshPods || isChanged) {
    if (freshPods === undefined) return ask({ kind: 'FreshPods' });
    if (!mayRun(group, stages, freshPods)) return undefined;
  }
  return release(planning, group, decision.stages);
}

/**
 * Whether the spec was changed since the last epoch was released, which is when its members could
 * first announce this one. They may be gone by now for no failure, by a suspend or a smaller size, so
 * that nobody may be released on their word.
 */
function isSpecChanged({ snapshot: { jobSet } }: Planning): boolean {
  const ended = jobSet.status?.restartHistory?.[0];
  const released = ended === undefined ? FIRST_GENERATION : ended.generation;
  return generationOf(jobSet) !== released;
}

function release(planning: Planning, group: Group, names: readonly string[]): GroupStep {
  const { draft, snapshot } = planning;
  const { status } = draft;
  const delayMs = hasBackoff(planning) ? heldBackForMs(status, snapshot.nowMs) : 0;
  if (delayMs > 0) return { kind: 'Hold', delayMs };

  const { nowMs, members, jobSet } = snapshot;
  const isFirst = group.stages.every(({ released }) => released < group.epoch);
  const stages = group.stages.map((stage) =>
    names.includes(stage.name) ? { ...stage, released: group.epoch } : stage,
  );
  const released = new Map(stages.map((stage) => [stage.name, stage.released]));
  const stored = new Map(status.replicatedJobsStatus?.map((each) => [each.name, each]));
  const memberCount = slotCount(stages.filter((stage) => stage.released === group.epoch));
  const isRestart = (status.deprecatedEpoch ?? 0) > 0;
  const history = isRestart
    ? recordRelease(status.restartHistory, members.lastAnnouncementMs, nowMs)
    : status.restartHistory;
  draft.set({
    replicatedJobsStatus: planning.counters.map((counted) => {
      const syncedEpoch = released.get(counted.name) ?? 0;
      return { ...(stored.get(counted.name) ?? counted), syncedEpoch };
    }),
    syncedEpoch: leastReleased(stages),
    syncedTime: microTimeText(nowMs),
    ...(isFirst ? { releasedGeneration: generationOf(jobSet) } : {}),
    ...(history === undefined ? {} : { restartHistory: history }),
  });
  draft.condition(
    {
      type: 'RestartingInPlace',
      status: 'False',
      reason: 'Released',
      message: `epoch ${group.epoch} was released to ${memberCount} members`,
    },
    'None',
  );
  // A ReplicatedJob that joins an epoch which others began adds no phases to their restart.
  const isTimed = isRestart && history !== status.restartHistory;
  const { announceMs, releaseMs } = (isTimed ? history?.[0]?.phases : undefined) ?? {};
  draft.outcome({
    kind: 'EpochReleased',
    ...(announceMs === undefined ? {} : { announceMs }),
    ...(releaseMs === undefined ? {} : { releaseMs }),
  });
  return { kind: 'Written', isRestart };
}

function heldBackForMs(status: JobSetStatus, nowMs: number): number {
  const endedMs = Date.parse(status.restartHistory?.[0]?.time ?? '');
  if (Number.isNaN(endedMs)) return 0;
  const delayMs = crashLoopDelayMs(status.restartHistory);
  return Math.min(delayMs, endedMs + delayMs - nowMs);
}
