import { microTimeText } from '../kube/time.ts';
import { endEpoch } from './epoch-end.ts';
import {
  aheadOfTheirTime,
  decideGroup,
  type Group,
  isReleased,
  leastReleased,
  slotCount,
} from './in-place-restart.ts';
import type { JobSetStatus, RestartCause } from './jobset.ts';
import { groupOf, hasBackoff, type Planning } from './planning.ts';
import { isBudgetSpent } from './restart-budget.ts';
import { crashLoopDelayMs, recordRelease } from './restart-history.ts';
import type { Question } from './snapshot.ts';
import { isSuspended } from './suspend.ts';
import { failJobSet } from './terminal-state.ts';
import { describeWitness, type Witness } from './witness.ts';

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
  if (isResuming(planning, group)) {
    if (snapshot.answers.areJobsFresh !== true) return ask({ kind: 'FreshJobs' });
    return end(planning, group, 'Resumed', undefined);
  }
  const stray = strays(planning, group);
  if (stray !== undefined) return stray;

  const decision = decideGroup(group);
  const { witness } = snapshot.answers;
  switch (decision.kind) {
    case 'End':
      if (planning.successIsNear) return { kind: 'Nothing' };
      if (witness === undefined) return ask({ kind: 'Witness', pod: decision.firstFailed });
      return end(planning, group, 'WorkerFailed', witness);
    case 'ExamineNotice':
      if (planning.successIsNear) return { kind: 'Nothing' };
      if (witness === undefined) return ask({ kind: 'Notice', pod: decision.pod });
      return end(planning, group, 'WorkerFailed', witness);
    case 'Release':
      return release(planning, group, decision.stages);
    case 'Wait':
      return { kind: 'Nothing' };
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

function end(
  planning: Planning,
  group: Group,
  cause: Exclude<RestartCause, 'JobsRecreated'>,
  witness: Witness | undefined,
): GroupStep {
  const { draft, spec, snapshot } = planning;
  const maxRestarts = spec.failurePolicy?.maxRestarts ?? 0;
  const counted = cause === 'WorkerFailed';
  if (counted && isBudgetSpent(draft.status, maxRestarts)) {
    // To fail is final, and the watch of Pods that succeeded may be behind that of failures (H3).
    if (snapshot.answers.isSuccessFresh !== true) return ask({ kind: 'SucceededPods' });
    const who = witness === undefined ? '' : ` (${describeWitness(witness.record)})`;
    const message = `jobset failed due to reaching max number of restarts${who}`;
    failJobSet(draft, 'ReachedMaxRestarts', message);
    return { kind: 'Written', isRestart: false };
  }
  endEpoch(draft, group, {
    cause,
    counted,
    witness,
    maxRestarts,
    hasBackoff: hasBackoff(planning),
    nowMs: snapshot.nowMs,
  });
  return { kind: 'Written', isRestart: true };
}

function release(planning: Planning, group: Group, names: readonly string[]): GroupStep {
  const { draft, snapshot } = planning;
  const { status } = draft;
  const delayMs = hasBackoff(planning) ? heldBackForMs(status, snapshot.nowMs) : 0;
  if (delayMs > 0) return { kind: 'Hold', delayMs };

  const { nowMs, members } = snapshot;
  const stages = group.stages.map((stage) =>
    names.includes(stage.name) ? { ...stage, released: group.epoch } : stage,
  );
  const released = new Map(stages.map((stage) => [stage.name, stage.released]));
  const stored = new Map(status.replicatedJobsStatus?.map((each) => [each.name, each]));
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
    ...(history === undefined ? {} : { restartHistory: history }),
  });
  draft.condition(
    {
      type: 'RestartingInPlace',
      status: 'False',
      reason: 'Released',
      message: `epoch ${group.epoch} was released to ${slotCount(group.stages)} members`,
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
