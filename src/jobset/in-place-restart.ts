import type { Job } from '../kube/job.ts';
import type { Stored } from '../kube/meta.ts';
import type { JobSetStatus } from './jobset.ts';
import type { Members } from './members.ts';
import type { PodFacts } from './pod-facts.ts';

/**
 * When the epoch of a group ends and when the next one begins (design, section 5, "Controller"). The
 * current epoch is always C = deprecatedEpoch + 1. These functions decide from the status under
 * whose resourceVersion the answer will be written, and from counts of Pods that may be old: every
 * rule holds for a view of any age, because a Pod that is seen to announce C has stopped what it
 * ran before and can never again run anything older.
 */
export interface Group {
  /** C. */
  readonly epoch: number;
  /** In the order of the spec. */
  readonly stages: readonly Stage[];
  readonly members: Members;
  /** Whether a Pod's notice was looked into and found to be no failure. */
  readonly isDismissed: (pod: PodFacts) => boolean;
}

/** One ReplicatedJob as a part of the group. */
export interface Stage {
  readonly name: string;
  /** S(r). */
  readonly released: number;
  /** Every Job has succeeded in all its indexes, so that there is nobody left to restart. */
  readonly isComplete: boolean;
  /** Jobs that the spec asks for: replicas. */
  readonly replicas: number;
  /** Slots of each Job. */
  readonly parallelism: number;
  /** Its Jobs that are there, of this attempt, not being deleted, nor to be recreated. */
  readonly jobs: readonly Stored<Job>[];
}

export type GroupDecision =
  /** A member has failed: end C. `firstFailed` was the first to say so. */
  | { readonly kind: 'End'; readonly firstFailed: PodFacts }
  /** A member's agent was told to stop in C; only its Pod can tell whether that is a failure. */
  | { readonly kind: 'ExamineNotice'; readonly pod: PodFacts }
  /** Everybody is at the barrier: let these ReplicatedJobs run in C. */
  | { readonly kind: 'Release'; readonly stages: readonly string[] }
  /** Nothing to write. */
  | { readonly kind: 'Wait' };

export function decideGroup(group: Group): GroupDecision {
  const failed = firstMember(group.stages, group.members.announcing(group.epoch + 1));
  if (failed !== undefined) return { kind: 'End', firstFailed: failed };
  const stopped = firstStopped(group);
  if (stopped !== undefined) return { kind: 'ExamineNotice', pod: stopped };
  const waiting = group.stages.filter(
    (stage) => !stage.isComplete && stage.released < group.epoch && stage.replicas > 0,
  );
  if (waiting.length === 0 || !mayRelease(group)) return { kind: 'Wait' };
  return { kind: 'Release', stages: waiting.map(({ name }) => name) };
}

/** True while an epoch has been ended and some member's ReplicatedJob not yet released again. */
export function isConverging(group: Group): boolean {
  return group.stages.some((stage) => !stage.isComplete && stage.released < group.epoch);
}

/** True if somebody may be running in C. */
export function isReleased(group: Group): boolean {
  return group.stages.some((stage) => !stage.isComplete && stage.released === group.epoch);
}

/** Pods that announce more than C + 1: either they are wrong, or the status at hand is old. */
export function aheadOfTheirTime(group: Group): readonly PodFacts[] {
  const ahead: PodFacts[] = [];
  for (const epoch of group.members.announcedEpochs()) {
    if (epoch > group.epoch + 1) ahead.push(...group.members.announcing(epoch));
  }
  return ahead;
}

/** C according to a status. */
export function currentEpoch(status: JobSetStatus): number {
  return (status.deprecatedEpoch ?? 0) + 1;
}

/** The least S(r) of the ReplicatedJobs that still have members; of all if none has. */
export function leastReleased(stages: readonly Stage[]): number {
  const withMembers = stages.filter(({ isComplete }) => !isComplete);
  const counted = withMembers.length > 0 ? withMembers : stages;
  return counted.length === 0 ? 0 : Math.min(...counted.map(({ released }) => released));
}

/** Slots of the group, counted from the spec whether or not their Pods exist. */
export function slotCount(stages: readonly Stage[]): number {
  return stages.reduce((sum, s) => sum + (s.isComplete ? 0 : s.replicas * s.parallelism), 0);
}

/** What has to happen among the Pods before the group is worth another decision. */
export interface Watchpoint {
  /** C: more than this, or a notice of this, is news. */
  readonly epoch: number;
  /** As many announcements of C may release it; 0 if nobody is left to be released. */
  readonly slots: number;
}

function firstStopped(group: Group): PodFacts | undefined {
  const runs = group.stages.filter(({ released }) => released === group.epoch);
  const isOpen = (pod: PodFacts): boolean => !group.isDismissed(pod);
  return firstMember(runs, group.members.noticing(group.epoch), isOpen);
}

function firstMember(
  stages: readonly Stage[],
  pods: Iterable<PodFacts>,
  isWanted: (pod: PodFacts) => boolean = () => true,
): PodFacts | undefined {
  let jobs: ReadonlySet<string> | undefined;
  for (const pod of pods) {
    jobs ??= memberJobs(stages);
    if (jobs.has(pod.jobUid) && isWanted(pod)) return pod;
  }
  return undefined;
}

function memberJobs(stages: readonly Stage[]): ReadonlySet<string> {
  const uids = new Set<string>();
  for (const stage of stages) {
    if (!stage.isComplete) for (const job of stage.jobs) uids.add(job.metadata.uid);
  }
  return uids;
}

/**
 * Every slot is filled by exactly one live Pod that announced C, and nothing older can be running.
 * All stages are released together, so no slot of a released ReplicatedJob can be without a Pod
 * here; a startup order will have to ask for a list of Pods that is newer than the end of C - 1.
 */
function mayRelease(group: Group): boolean {
  const known = new Set<string>();
  for (const stage of group.stages) {
    if (!stage.isComplete && stage.jobs.length < stage.replicas) return false;
    for (const job of stage.jobs) {
      known.add(job.metadata.uid);
      if (!(stage.isComplete ? isHarmless(group, stage, job) : isAtBarrier(group, stage, job))) {
        return false;
      }
    }
  }
  // Pods of Jobs that are being replaced, deleted or gone: while one lives, it may be running.
  for (const uid of group.members.jobsWithLivingPods()) if (!known.has(uid)) return false;
  return true;
}

function isAtBarrier(group: Group, stage: Stage, job: Stored<Job>): boolean {
  const pods = group.members.ofJob(job.metadata.uid);
  if (pods === undefined) return stage.parallelism === 0;
  return (
    pods.live === stage.parallelism &&
    pods.liveAt(group.epoch) === stage.parallelism &&
    pods.doubledSlots === 0 &&
    isHarmless(group, stage, job)
  );
}

/** No Pod of the Job can be running in an older epoch. */
function isHarmless(group: Group, stage: Stage, job: Stored<Job>): boolean {
  const pods = group.members.ofJob(job.metadata.uid);
  if (pods === undefined) return true;
  return stage.released > 0 ? pods.otherThan(group.epoch) === 0 : pods.below(group.epoch) === 0;
}
