/**
 * Ends and releases the epochs of a group that restarts in place
 * (`docs/design/protocol.md#the-groups-epoch`). A restart takes one status write to end and
 * one for each release, however many members fail, and one in between while a crash loop holds it
 * back. A decision about an epoch is alone in its plan, so no other can delay or undo it.
 */
import { microTimeText } from '@lockstep/kube/time.ts';
import { isSuspended } from '../../child-jobs/child-jobs.ts';
import { isFailure } from '../../culprits/failure-words.ts';
import { MAX_FAILED_STARTS, suspectJob, withBaseline } from '../../epoch/failed-pods.ts';
import {
  aheadOfTheirTime,
  decideGroup,
  type GroupDecision,
  isReleased,
  leastReleased,
  mayRun,
  slotCount,
} from '../../epoch/in-place-restart.ts';
import { backoffMs, isOpen, recordRelease } from '../../epoch/restart-history.ts';
import { isRestartRequested } from '../../epoch/restart-request.ts';
import { startupOrderIn } from '../../epoch/startup-stages.ts';
import { FIRST_GENERATION, generationOf } from '../../jobset.ts';
import type { RestartCause, RestartRecord } from '../../jobset-status.ts';
import { type Decision, inOrder, LAST, type PlannedEvent, type Step } from '../decision.ts';
import { type EpochEnd, endEpoch } from '../ending/epoch-end.ts';
import { isSuccessNear } from '../ending/success-policy.ts';
import { dealWithWorkerFailure, type WorkerFailure } from '../ending/worker-failure.ts';
import { type Facts, type GroupFacts, isOfGroup } from '../facts.ts';
import { assertGathered } from '../invariants.ts';
import { reportStartup } from '../jobs/startup-policy.ts';
import type { Question } from '../questions.ts';
import { hasOtherRanks, lacksNumbers, ranksNow } from '../rank-numbers.ts';
import {
  askAboutSuspects,
  culpritEvent,
  culpritInWords,
  judged,
  judgedInWords,
  withSuspects,
} from '../records/records.ts';
import { reportUnknownPods } from '../reports/unknown-pods.ts';
import { haveOtherSize, isScaling } from './group-scaling.ts';
import { reportMissingPods } from './missing-pods.ts';
import { replaceMembers, reportPendingReplacements, unfitToRead } from './replacement.ts';

export function restartInPlace(facts: Facts): readonly Decision[] {
  if (!isOfGroup(facts)) return [];
  return inOrder(facts.spec.suspend ? SUSPENDED : RUNNING, facts);
}

const SUSPENDED: readonly Step<GroupFacts>[] = [reportPendingReplacements, reportMissingPods];
const RUNNING: readonly Step<GroupFacts>[] = [
  reportUnknownPods,
  reportPendingReplacements,
  endForResume,
  reportTooFarAhead,
  endOrRelease,
];
/** The steps while the epoch neither ends nor is released. */
const WAITING: readonly Step<GroupFacts>[] = [endForFailedStarts, reportMissingPods];

/** Ends a running epoch whose Jobs are suspended although the JobSet is not. */
function endForResume(facts: GroupFacts): readonly Decision[] {
  const { children, group } = facts;
  if (!isReleased(group)) return [];
  const suspended = new Set(children.active.filter(isSuspended));
  const isResuming = group.stages.some(
    ({ released, jobs }) => released === group.epoch && jobs.some((job) => suspended.has(job)),
  );
  if (!isResuming) return [];
  return facts.answer(FRESH_JOBS) ? endUncharged(facts, 'Resumed') : ask(FRESH_JOBS);
}

/**
 * Reports Pods that announce more than C + 1, unless our status is old
 * (`docs/design/end-hazards.md#a-pod-announces-an-epoch-that-cannot-be`).
 */
function reportTooFarAhead({ group, knowledge, answer }: GroupFacts): readonly Decision[] {
  const pods = aheadOfTheirTime(group).filter((pod) => !knowledge.isTooFarAhead(pod));
  if (pods.length === 0) return [];
  const question = { kind: 'FreshJobSet', pods } as const;
  const asked = answer(question);
  if (asked === undefined) return ask(question);
  const seen = new Set(asked.map(({ uid }) => uid));
  const events = pods
    .filter(({ uid }) => seen.has(uid))
    .map(({ name, epoch }): PlannedEvent => {
      const note = `Pod ${name} announces epoch ${epoch}, expected at most ${group.epoch + 1}; it counts as missing`;
      return { type: 'Warning', reason: 'InvalidEpoch', note };
    });
  return [{ events }];
}

function endOrRelease(facts: GroupFacts): readonly Decision[] {
  const decision = decideGroup(facts.group);
  const hasFailed = decision.kind === 'End' || decision.kind === 'ExamineNotice';
  // A failure is charged, and judged by rules, even if scaling would end the epoch as well.
  if (!hasFailed && (isScaling(facts) || hasOtherRanks(facts))) return endForSize(facts);
  const isRequested = isRestartRequested(facts.jobSet, facts.group);
  if ((hasFailed || isRequested) && isSuccessNear(facts)) return inOrder(WAITING, facts);
  if (!hasFailed && isRequested) return endUncharged(facts, 'Resumed', { isRequested });
  switch (decision.kind) {
    case 'End': {
      const { cause, firstFailed } = decision;
      const question = { kind: 'Witness', pod: firstFailed } as const;
      const witness = facts.answer(question);
      if (witness === undefined) return ask(question);
      return endForFailure(facts, { cause, jobUid: firstFailed.jobUid, witness });
    }
    case 'ExamineNotice': {
      const { pod } = decision;
      const witness = facts.answer({ kind: 'Witness', pod });
      if (witness === undefined) return ask({ kind: 'Notice', pod });
      return endForFailure(facts, { cause: 'WorkerFailed', jobUid: pod.jobUid, witness });
    }
    case 'Release':
      return releaseIfSure(facts, decision);
    case 'Wait':
      return inOrder(WAITING, facts);
  }
}

/**
 * Pods that fail again and again on their way to the barrier
 * (`docs/design/member-hazards.md#containers-crash-before-the-barrier`).
 */
function endForFailedStarts(facts: GroupFacts): readonly Decision[] {
  const { group, status } = facts;
  const statuses = status.replicatedJobsStatus;
  const suspect = suspectJob(group.stages, group.epoch, statuses);
  if (suspect === undefined || isSuccessNear(facts)) return [];
  const question = { kind: 'FailedPods', job: suspect } as const;
  const failed = facts.answer(question);
  if (failed === undefined) return ask(question);
  const { inEpoch, witness } = failed;
  if (inEpoch > MAX_FAILED_STARTS && witness !== undefined) {
    return endForFailure(facts, { cause: 'StartFailed', jobUid: suspect.metadata.uid, witness });
  }
  // The Pods failed with the last epoch and were counted late: do not ask again.
  return [{ status: { replicatedJobsStatus: withBaseline(statuses ?? [], suspect, inEpoch) } }];
}

const FRESH_JOBS = { kind: 'FreshJobs' } as const;
const FRESH_PODS = { kind: 'FreshPods' } as const;

function ask(question: Question): readonly Decision[] {
  return [{ question }];
}

function endForFailure(facts: GroupFacts, failure: WorkerFailure): readonly Decision[] {
  const decisions = dealWithWorkerFailure(facts, failure);
  const isEnd = decisions.some(({ status }) => status?.deprecatedEpoch !== undefined);
  return isEnd ? ended(facts, decisions) : [...decisions, LAST];
}

/** Reads fresh Jobs, because a Job that was resized meanwhile looks as if it were not. */
function endForSize(facts: GroupFacts): readonly Decision[] {
  const isUnnumbered = lacksNumbers(facts) && !isScaling(facts);
  return facts.answer(FRESH_JOBS)
    ? endUncharged(facts, 'Scaled', { isUnnumbered })
    : ask(FRESH_JOBS);
}

function endUncharged(
  facts: GroupFacts,
  cause: RestartCause,
  more: Pick<EpochEnd, 'isRequested' | 'isUnnumbered'> = {},
): readonly Decision[] {
  const end = { cause, counted: false, witness: undefined, ...more };
  return ended(facts, [endEpoch(facts, end, facts.status)]);
}

/** The startup order begins again with the epoch, so the same write reports it. */
function ended(facts: GroupFacts, decisions: readonly Decision[]): readonly Decision[] {
  const startup = startupOrderIn(facts.group.epoch + 1, facts);
  return [...decisions, ...reportStartup({ ...facts, startup }), { ...LAST, keepsCounters: true }];
}

/** The extra checks for a release in order, or with slots that show no Pod. */
function releaseIfSure(
  facts: GroupFacts,
  decision: Extract<GroupDecision, { readonly kind: 'Release' }>,
): readonly Decision[] {
  const { group, answer } = facts;
  const isChanged = isSpecChanged(facts);
  const needsFreshJobs = decision.needsFreshJobs || isChanged;
  if (needsFreshJobs && !answer(FRESH_JOBS)) return ask(FRESH_JOBS);
  const stages = group.stages.filter(({ name }) => decision.stages.includes(name));
  // The Job controller has still to end their Pods: in a released epoch, that would be a resume.
  if (stages.some(({ jobs }) => jobs.some(isSuspended))) return inOrder(WAITING, facts);
  // A Job that is still too large may make one more Pod at any time.
  if (isChanged && haveOtherSize(facts, stages)) return inOrder(WAITING, facts);
  if (decision.needsFreshPods || isChanged) {
    const living = answer(FRESH_PODS);
    if (living === undefined) return ask(FRESH_PODS);
    if (!mayRun(group, stages, living)) return inOrder(WAITING, facts);
  }
  return release(facts, decision.stages);
}

/** The record that the next release closes, if there is one. */
function openRecord({ status }: GroupFacts): RestartRecord | undefined {
  const newest = status.restartHistory?.[0];
  return newest !== undefined && isOpen(newest) ? newest : undefined;
}

/**
 * Whether the spec was changed since the last release, the earliest time at which members could
 * announce this epoch. A suspend or a smaller size may have removed members without a failure, so
 * their old announcements must not release anyone.
 */
function isSpecChanged({ jobSet, status }: GroupFacts): boolean {
  const ended = status.restartHistory?.[0];
  const released = ended === undefined ? FIRST_GENERATION : ended.generation;
  return generationOf(jobSet) !== released;
}

function release(facts: GroupFacts, names: readonly string[]): readonly Decision[] {
  const { group, jobSet, status, counters, members, nowMs } = facts;
  const open = openRecord(facts);
  // All members are at the barrier, but a crash loop holds the group back.
  const delayMs = heldBackForMs(facts);
  if (delayMs > 0) return [...judgeMeanwhile(facts, open, delayMs), { requeueAfterMs: delayMs }];
  const asked = open ? askAboutSuspects(open, facts, unfitToRead(facts, open)) : [];
  if (asked.length > 0) return asked;
  const closed = open && withSuspects(open, facts);
  const told =
    closed === undefined
      ? status.restartHistory
      : [closed, ...(status.restartHistory ?? []).slice(1)];
  const replacing = replaceMembers(facts, told ?? []);
  if (replacing.some(keepsWaiting)) return replacing;

  const isFirst = group.stages.every(({ released }) => released < group.epoch);
  const stages = group.stages.map((stage) =>
    names.includes(stage.name) ? { ...stage, released: group.epoch } : stage,
  );
  const released = new Map(stages.map((stage) => [stage.name, stage.released]));
  const stored = new Map(status.replicatedJobsStatus?.map((each) => [each.name, each]));
  const memberCount = slotCount(stages.filter((stage) => stage.released === group.epoch));
  const isRestart = (status.deprecatedEpoch ?? 0) > 0;
  const backoff = backoffMs(jobSet, status.restartHistory);
  const history = isRestart
    ? recordRelease(told, members.lastAnnouncementMs, nowMs, backoff)
    : told;
  const culprit = closed && culpritInWords(closed);
  const why = closed && judgedInWords(closed);
  const change = {
    replicatedJobsStatus: counters.map((counted) => {
      const syncedEpoch = released.get(counted.name) ?? 0;
      return { ...(stored.get(counted.name) ?? counted), syncedEpoch };
    }),
    syncedEpoch: leastReleased(stages),
    syncedTime: microTimeText(nowMs),
    ...(isFirst && { releasedGeneration: generationOf(jobSet), ranks: ranksNow(facts) }),
    ...(history && { restartHistory: history }),
  };
  const message = `epoch ${group.epoch} was released to ${memberCount} members${why === undefined ? '' : `; ${why}`}`;
  assertGathered(facts, names);
  // A ReplicatedJob that joins an existing epoch adds no phases to its restart.
  const isTimed = isRestart && history !== status.restartHistory;
  const { detectMs: _, ...phases } = (isTimed ? history?.[0]?.phases : undefined) ?? {};
  return [
    {
      status: change,
      conditions: [{ type: 'RestartingInPlace', status: 'False', reason: 'Released', message }],
      ...(culprit === undefined ? {} : { events: [culpritEvent(culprit)] }),
      outcomes: [{ kind: 'EpochReleased', ...phases }],
      keepsCounters: isRestart,
      isLast: true,
    },
    ...replacing,
    ...reportStartup(facts),
  ];
}

/** If the release is sooner than this, the judgement waits for it and needs no write of its own. */
export const JUDGED_MEANWHILE_MS = 5000;

/**
 * Says who failed first while a person looks at a group that is held back. All members have reported
 * how they ended, as at a release, and the record is not judged again there.
 */
function judgeMeanwhile(
  facts: GroupFacts,
  open: RestartRecord | undefined,
  leftMs: number,
): readonly Decision[] {
  if (open === undefined || open.suspects !== undefined || !isFailure(open)) return [];
  const isLost = LOST_SUSPECTS.some((path) => facts.lacks?.has(path) === true);
  if (leftMs <= JUDGED_MEANWHILE_MS || isLost) return [];
  const asked = askAboutSuspects(open, facts);
  if (asked.length > 0) return asked;
  const [, ...older] = facts.status.restartHistory ?? [];
  return [{ status: { restartHistory: [judged(open, facts), ...older] } }];
}

/** Fields without which suspects are lost: they would be written again and again. */
const LOST_SUSPECTS = ['restartHistory', 'restartHistory[].suspects'] as const;

/** Members that leave their nodes, and not only words about some that stay. */
function keepsWaiting({ question, actions, isLast }: Decision): boolean {
  return question !== undefined || actions !== undefined || isLast === true;
}

function heldBackForMs({ jobSet, status, nowMs }: GroupFacts): number {
  const endedMs = Date.parse(status.restartHistory?.[0]?.time ?? '');
  if (Number.isNaN(endedMs)) return 0;
  const delayMs = backoffMs(jobSet, status.restartHistory);
  return Math.min(delayMs, endedMs + delayMs - nowMs);
}
