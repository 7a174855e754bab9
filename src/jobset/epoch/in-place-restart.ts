/** What the counts of Pods and the status allow: the end of an epoch, or the release of the next. */
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { JobSetStatus } from '../jobset-status.ts';
import type { Members } from '../roster/members.ts';
import type { PodFacts } from '../roster/pod-facts.ts';
import type { Watchpoint } from '../roster/watch.ts';
import { epochsOf } from '../status/epochs.ts';

/**
 * The current epoch is always C = deprecatedEpoch + 1. These functions decide from two sources: the
 * status under whose resourceVersion the answer will be written, and counts of Pods, which may be
 * old. Every rule holds for a view of any age: a Pod that announces C has stopped what it ran before,
 * and can never again run anything older (`docs/design/protocol.md#the-groups-epoch`).
 */
export interface Group {
  /** C. */
  readonly epoch: number;
  /** In the order of the spec. */
  readonly stages: readonly Stage[];
  readonly members: Members;
  /** Whether the operator read the Pod of a notice, and found no failure. */
  readonly isDismissed: (pod: PodFacts) => boolean;
  /**
   * ReplicatedJobs that may start in C by the startup order of the spec; undefined if it has none,
   * so that all are released together.
   */
  readonly startable: ReadonlySet<string> | undefined;
}

/** One ReplicatedJob as a part of the group. */
export interface Stage {
  readonly name: string;
  /** S(r). */
  readonly released: number;
  /** Every Job has succeeded in all its indexes, so no member is left to restart. */
  readonly isComplete: boolean;
  /** How many Jobs the spec asks for. */
  readonly replicas: number;
  /** Slots of each Job. */
  readonly parallelism: number;
  /** Its existing Jobs of this attempt that are neither being deleted nor to be recreated. */
  readonly jobs: readonly Stored<Job>[];
  /** The completion indexes of a Job that have succeeded. */
  readonly succeededIn: (job: Stored<Job>) => ReadonlySet<string>;
}

export type GroupDecision =
  /** A member has failed: end C. `firstFailed` was the first to announce it. */
  | {
      readonly kind: 'End';
      readonly cause: 'WorkerFailed' | 'StartFailed';
      readonly firstFailed: PodFacts;
    }
  /** A member's agent was told to stop in C; only its Pod can show whether that is a failure. */
  | { readonly kind: 'ExamineNotice'; readonly pod: PodFacts }
  /**
   * All required members are at the barrier: let these ReplicatedJobs run in C, provided that the
   * Jobs were read after the last release, and that a fresh list of Pods agrees (`mayRun`).
   */
  | {
      readonly kind: 'Release';
      readonly stages: readonly string[];
      readonly needsFreshJobs: boolean;
      readonly needsFreshPods: boolean;
    }
  /** Nothing to write. */
  | { readonly kind: 'Wait' };

export function decideGroup(group: Group): GroupDecision {
  const { epoch, members, stages } = group;
  const failed = firstMember(stages, members.announcing(epoch + 1));
  if (failed !== undefined) return { kind: 'End', cause: 'WorkerFailed', firstFailed: failed };
  const crashing = firstMember(stages, members.crashing(epoch));
  if (crashing !== undefined) return { kind: 'End', cause: 'StartFailed', firstFailed: crashing };
  const stopped = firstStopped(group);
  if (stopped !== undefined) return { kind: 'ExamineNotice', pod: stopped };
  const gathered = gatheredStages(group);
  if (gathered.length === 0) return { kind: 'Wait' };
  if (!isClear(group, members)) return { kind: 'Wait' };
  return {
    kind: 'Release',
    stages: gathered.map(({ name }) => name),
    needsFreshJobs: group.startable !== undefined && (epoch > 1 || isReleased(group)),
    needsFreshPods: stages.some((stage) => stage.released > 0 && missesPods(group, stage)),
  };
}

/** The ReplicatedJobs whose turn it is to be released. */
export function nextStages({ epoch, stages, startable }: Group): readonly Stage[] {
  return stages.filter(
    (stage) =>
      !stage.isComplete &&
      stage.released < epoch &&
      stage.replicas > 0 &&
      (startable === undefined || startable.has(stage.name)),
  );
}

/** The stages whose members are all at the barrier, so that only older Pods hold them back. */
export function gatheredStages(group: Group): readonly Stage[] {
  const next = nextStages(group);
  const gathered = next.filter((stage) => hasGathered(group, stage));
  // Without an order, all start together.
  return group.startable === undefined && gathered.length < next.length ? [] : gathered;
}

/**
 * Pods of ReplicatedJobs that wait for a release, even if it is not their turn, or others of them
 * are missing. Nothing older than C runs in them.
 */
export function* membersAtBarrier(
  group: Group,
): Iterable<{ readonly job: Stored<Job>; readonly pod: PodFacts }> {
  const jobs = new Map<string, Stored<Job>>();
  for (const stage of group.stages) {
    if (stage.isComplete || stage.released >= group.epoch) continue;
    for (const job of stage.jobs) jobs.set(job.metadata.uid, job);
  }
  for (const pod of group.members.announcing(group.epoch)) {
    const job = jobs.get(pod.jobUid);
    if (job !== undefined) yield { job, pod };
  }
}

/** An epoch has ended, and a ReplicatedJob whose turn it is waits for its release. */
export function isConverging(group: Group): boolean {
  return nextStages(group).length > 0;
}

/** True if a member may be running in C. */
export function isReleased(group: Group): boolean {
  return group.stages.some((stage) => !stage.isComplete && stage.released === group.epoch);
}

/** Pods that announce more than C + 1: either they are wrong, or our status is old. */
export function aheadOfTheirTime(group: Group): readonly PodFacts[] {
  const ahead: PodFacts[] = [];
  for (const epoch of group.members.announcedEpochs()) {
    if (epoch > group.epoch + 1) ahead.push(...group.members.announcing(epoch));
  }
  return ahead;
}

/** C according to a status. */
export function currentEpoch(status: JobSetStatus): number {
  return epochsOf(status).deprecated + 1;
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

export function watchpointOf(group: Group): Watchpoint {
  const next = nextStages(group);
  const neverRun = group.stages.filter(({ released }) => released === 0);
  return {
    epoch: group.epoch,
    slots: slotCount(next),
    jobs: uidsOfJobs(next),
    neverRun: uidsOfJobs(neverRun),
  };
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
    jobs ??= uidsOfJobs(stages.filter(({ isComplete }) => !isComplete));
    if (jobs.has(pod.jobUid) && isWanted(pod)) return pod;
  }
  return undefined;
}

function uidsOfJobs(stages: readonly Stage[]): ReadonlySet<string> {
  const uids = new Set<string>();
  for (const stage of stages) for (const job of stage.jobs) uids.add(job.metadata.uid);
  return uids;
}

/** Whether these Pods, a second view besides the group's own, let these ReplicatedJobs run in C. */
export function mayRun(group: Group, stages: readonly Stage[], members: Members): boolean {
  const seen = { ...group, members };
  return stages.every((stage) => hasGathered(seen, stage)) && isClear(seen, members);
}

/** Every slot of the stage is filled by exactly one live Pod, and each has announced C. */
function hasGathered({ epoch, members }: Group, stage: Stage): boolean {
  if (stage.jobs.length < stage.replicas) return false;
  return stage.jobs.every((job) => {
    const pods = members.ofJob(job.metadata.uid);
    if (pods === undefined) return stage.parallelism === 0;
    return (
      pods.live === stage.parallelism &&
      pods.liveAt(epoch) === stage.parallelism &&
      pods.doubledSlots === 0 &&
      !pods.hasLivePodBeyond(stage.parallelism)
    );
  });
}

/**
 * Whether nothing older than C can be running, as far as these Pods show. If a ReplicatedJob has been
 * released before, each of its Pods must have announced C. If it has never run, only a Pod that is
 * known to be behind blocks it.
 */
function isClear({ epoch, stages }: Pick<Group, 'epoch' | 'stages'>, members: Members): boolean {
  const known = new Set<string>();
  for (const stage of stages) {
    for (const job of stage.jobs) {
      const { uid } = job.metadata;
      known.add(uid);
      const pods = members.ofJob(uid);
      if (pods === undefined) continue;
      const older = stage.released > 0 ? pods.otherThan(epoch) : pods.below(epoch);
      if (older > 0 || pods.doubledSlots > 0) return false;
    }
  }
  // A living Pod of a Job that is being replaced, deleted or gone may be running.
  for (const uid of members.jobsWithLivingPods()) if (!known.has(uid)) return false;
  return true;
}

/** A slot without a Pod may have a Pod that is not seen yet, and that runs in an older epoch. */
function missesPods({ members }: Group, stage: Stage): boolean {
  const { isComplete, replicas, parallelism, jobs, succeededIn } = stage;
  if (isComplete) return false;
  if (jobs.length < replicas) return true;
  return jobs.some((job) => {
    const pods = members.ofJob(job.metadata.uid);
    if (pods !== undefined && pods.live === parallelism && pods.doubledSlots === 0) return false;
    if (job.spec.completionMode !== 'Indexed') return true;
    const succeeded = succeededIn(job);
    for (let slot = 0; slot < parallelism; slot++) {
      const index = String(slot);
      if (pods?.hasPodIn(index) !== true && !succeeded.has(index)) return true;
    }
    return false;
  });
}
