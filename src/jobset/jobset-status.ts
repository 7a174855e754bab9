/** The types of a JobSet's status. */
import type { Condition, StringMap } from '@lockstep/kube/meta.ts';

/** Who restarts the workers of a group in place: the node, or an agent that is their parent. */
export type RestartMode = (typeof RESTART_MODES)[number];
export const RESTART_MODES = ['Sidecar', 'Supervisor'] as const;

export interface JobSetStatus {
  /** The generation of the spec that the rest follows from; -1, by default, before any does. */
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
  readonly terminalState?: 'Completed' | 'Failed' | '';
  /** Job-level restarts: all Jobs were recreated. */
  readonly restarts?: number;
  readonly restartsCountTowardsMax?: number;
  readonly replicatedJobsStatus?: readonly ReplicatedJobStatus[];
  /** D: workers of this epoch and of all before it have to stop. The current epoch is D + 1. */
  readonly deprecatedEpoch?: number;
  /** The least released epoch of the ReplicatedJobs that still have members. */
  readonly syncedEpoch?: number;
  /** `metav1.MicroTime` of the status write that released the current epoch. */
  readonly syncedTime?: string;
  /**
   * The spec's generation when the current epoch was first released; before that, the last epoch's.
   */
  readonly releasedGeneration?: number;
  readonly inPlaceRestarts?: number;
  readonly inPlaceRestartsCountTowardsMax?: number;
  /** `deprecatedEpoch` and `syncedEpoch` in upstream's words; see `status/epochs.ts`. */
  readonly previousInPlaceRestartAttempt?: number;
  readonly currentInPlaceRestartAttempt?: number;
  /** How often the JobSet was run: absent before the first run, 0 in it (KEP-1282). */
  readonly executionAttempts?: number;
  /**
   * Annotations that the JobSet obeys, as they were when it began: annotations for fields of the spec
   * that no webhook wrote, and defaults of its Namespace. Absent: there are none.
   */
  readonly recordedAnnotations?: StringMap;
  /** The mode of new Jobs; it stays if the annotation `lockstep/restart-mode` leaves it open. */
  readonly restartMode?: RestartMode;
  /** Since when the JobSet has been active without a break; absent while suspended (KEP-1186). */
  readonly startTime?: string;
  /** The last restarts of the group, newest first, at most `RESTART_HISTORY_LIMIT`. */
  readonly restartHistory?: readonly RestartRecord[];
  /** Nodes that replaced members have left, newest first, at most `MAX_AVOIDED_NODES`. */
  readonly avoidedNodes?: readonly AvoidedNode[];
  /** How far the group had come when its epochs ended. */
  readonly progress?: EndedProgress;
  /** What became of the time since the JobSet was created. */
  readonly goodput?: Goodput;
  /** The numbers of the ranks in one epoch; absent: no member has ranks. */
  readonly ranks?: StoredRanks;
}

/** An older operator keeps them as they are, so they say for which epoch they were counted. */
export interface StoredRanks extends GroupRanks {
  readonly epoch: number;
  /** The size changed while barriers were open, so members of the epoch may have other numbers. */
  readonly mixed?: boolean;
}

export interface GroupRanks {
  /** All ranks of the group. */
  readonly world: number;
  /** Members that have ranks. */
  readonly groups: number;
  /** The host name of the member with rank 0. */
  readonly master: string;
  /** Only ReplicatedJobs whose members have ranks, in the order of the spec. */
  readonly replicatedJobs: readonly ReplicatedJobRanks[];
}

/** Its other members are counted on from the first one, by job index and completion index. */
export interface ReplicatedJobRanks {
  readonly name: string;
  /** The number of its first member among all that have ranks. */
  readonly firstGroupRank: number;
  /** The rank of process 0 of that member. */
  readonly firstRank: number;
  readonly processesPerPod: number;
  readonly podsPerJob: number;
}

export const MAX_AVOIDED_NODES = 16;

/** A node that a member left because its worker failed there. New Pods go elsewhere if they can. */
export interface AvoidedNode {
  readonly node: string;
  /** `metav1.MicroTime` of the status write that decided it. */
  readonly time: string;
  /** In words. */
  readonly reason: string;
  /** The Pod that is deleted for it. */
  readonly pod: string;
  /** The rank of the member in words: `worker 5 of workers (workers-0, index 5)`. */
  readonly worker: string;
}

/** The progress that members had reported when epochs ended for a failure. */
export interface EndedProgress {
  /** The highest checkpoint; absent: none was ever reported. */
  readonly checkpoint?: number;
  /** The highest step; absent: none was ever reported. */
  readonly step?: number;
  /** Charged ends in a row without a higher checkpoint, or without a higher step if none is saved. */
  readonly restartsWithoutProgress: number;
}

/**
 * Each millisecond since the creation is in one sum, up to `time`; an absent sum is 0. Since then
 * the JobSet has been doing what `phase` says. A running epoch is classified as far as its members
 * have reported checkpoints, and the rest when it has ended.
 */
export interface Goodput {
  /** `metav1.MicroTime`. */
  readonly time: string;
  readonly phase: GoodputPhase;
  /** The highest checkpoint that has been accounted for. */
  readonly checkpoint?: number;
  /** The time up to the first step of the running epoch, or the pending one, is accounted for. */
  readonly stepped?: true;
  /** Before the first release, and from a resume to the next. */
  readonly waitingMs?: number;
  readonly suspendedMs?: number;
  /** From a release to the first step. */
  readonly startingMs?: number;
  /** Work that is in a checkpoint, or in a success. */
  readonly productiveMs?: number;
  /** Work since the newest checkpoint, when an epoch ended. */
  readonly lostMs?: number;
  /** Silence that ended a hung worker. */
  readonly hungMs?: number;
  /** From the end of an epoch to the next release, and while Jobs are recreated. */
  readonly restartingMs?: number;
  /** Workers ran, and reported no checkpoint by which to judge. */
  readonly runningMs?: number;
  /** The end of an epoch, up to `time`, until all its members have reported; absent after that. */
  readonly pendingMs?: number;
  readonly held?: HeldWork;
  /** The time since the newest record that has a course, up to `time`; absent: no record has one. */
  readonly course?: Course;
}

export type GoodputPhase = (typeof GOODPUT_PHASES)[number];
export const GOODPUT_PHASES = [
  'Waiting',
  'Suspended',
  'Running',
  'Restarting',
  'Finished',
] as const;

export interface ReplicatedJobStatus {
  readonly name: string;
  readonly ready: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly active: number;
  readonly suspended: number;
  /** By job index: how often the failure policy recreated that Job alone. Absent: never any. */
  readonly jobRestarts?: readonly number[];
  readonly jobRestartsCountTowardsMax?: readonly number[];
  /** Jobs that have succeeded in this attempt, such as `0,2-5`: `child-jobs/succeeded-jobs.ts`. */
  readonly succeededIndexes?: string;
  /** S(r): the newest epoch in which this ReplicatedJob was released. */
  readonly syncedEpoch?: number;
  /**
   * By job index: how many Pods of the Job had failed when the current epoch began. If more than a few
   * fail after that, before the release, the epoch ends. Absent: none had failed
   * (`docs/design/member-hazards.md#containers-crash-before-the-barrier`).
   */
  readonly failedPods?: readonly number[];
}

/** One ended epoch: what ended it, what it cost, and how long each phase of the restart took. */
export interface RestartRecord {
  /** The epoch that ended. */
  readonly epoch: number;
  /** `metav1.MicroTime` of the status write that ended it. */
  readonly time: string;
  readonly cause: RestartCause;
  readonly counted: boolean;
  /**
   * The spec's generation when this epoch was first released, or if it never was, the last one
   * before it.
   */
  readonly generation?: number;
  /** How long the ended epoch had run since its release; absent if it was never released. */
  readonly ranMs?: number;
  readonly witness?: RestartWitness;
  /** Who failed first, the likeliest first, at most `MAX_SUSPECTS`; absent or empty: unknown. */
  readonly suspects?: readonly Suspect[];
  /** Only in the newest record. */
  readonly lastWords?: LastWords;
  readonly phases?: RestartPhases;
  /** What became of the time from the last epoch's end to this one's; absent: it is not known. */
  readonly course?: Course;
}

export const MAX_SUSPECTS = 4;

/** A member that may have failed first, from the reports of all members about their ends. */
export interface Suspect {
  /** The rank in words: `worker 5 of workers (workers-0, index 5)`. */
  readonly worker: string;
  readonly replicatedJob: string;
  readonly jobIndex: number;
  /** Absent in a NonIndexed Job. */
  readonly completionIndex?: number;
  /** The process of the Pod by its local rank; absent: the worker as a whole. */
  readonly process?: number;
  /** The rank of that process in the group, as it says itself. */
  readonly rank?: number;
  readonly pod: string;
  readonly node?: string;
  /** In words. */
  readonly why: string;
  readonly confidence: 'Certain' | 'Likely';
}

/** The last words of a suspect, or else of the witness: a message, or the end of standard error. */
export interface LastWords {
  readonly pod: string;
  readonly text: string;
  /** How long before the end it wrote them. */
  readonly beforeEndMs?: number;
}

/**
 * `WorkerFailed`: a member announced the next epoch. `StartFailed`: containers of a member crashed
 * again and again before the barrier. `JobsRecreated`: the failure policy restarted Jobs. Never
 * counted: `Resumed`, the JobSet was resumed while its released epoch had lost its Pods, or a user
 * asked for the restart, and `Scaled`, its size changed.
 */
export type RestartCause = 'WorkerFailed' | 'StartFailed' | 'JobsRecreated' | 'Resumed' | 'Scaled';

/**
 * Records kept in `status.restartHistory`. The crash-loop back-off reaches its longest delay after
 * 10 short epochs and must see all of them. Every status is sent to every agent, so no more are
 * kept than needed.
 */
export const RESTART_HISTORY_LIMIT = 16;

/** The first failing Pod that the controller saw, as read once. */
export interface RestartWitness {
  readonly pod: string;
  /** Its rank in words: `worker 5 of workers (workers-0, index 5)`. */
  readonly worker?: string;
  /** As in `Suspect`. */
  readonly process?: number;
  readonly rank?: number;
  readonly node?: string;
  readonly container?: string;
  /** Null if it cannot be known. */
  readonly exitCode: number | null;
  readonly signal?: string;
  readonly reason: string;
  /** How a worker hung: `made no progress for 61 s at step 330`. */
  readonly message?: string;
}

/**
 * Milliseconds. `detectMs` is absent if the container's finish time cannot be known, the others
 * until the next epoch is released.
 */
export interface RestartPhases {
  /** From the container's end to the status write that ended the epoch. */
  readonly detectMs?: number;
  /** From that write to the last announcement of the new epoch. */
  readonly announceMs?: number;
  /**
   * The part of `releaseMs` for which a crash loop held the group back; absent: none.
   */
  readonly backoffMs?: number;
  /** From the last announcement to the status write that released the new epoch. */
  readonly releaseMs?: number;
}

export interface Course {
  /** The beginning: milliseconds since the creation of the JobSet, as they are accounted for. */
  readonly fromMs: number;
  /** At most `MAX_COURSE_PARTS`: the older ones are dropped, and it begins later. */
  readonly parts: readonly CoursePart[];
}

export interface CoursePart {
  readonly class: AccountedClass;
  readonly ms: number;
}

/** Work of an earlier epoch. It is not known yet whether a checkpoint holds it. */
export interface HeldWork {
  /** The beginning, as in `Course`. A course has a gap there, after one of its parts. */
  readonly fromMs: number;
  readonly ms: number;
}

/** Classes of time whose sums never fall. Within one epoch, they come in this order. */
export const ACCOUNTED = [
  'Waiting',
  'Suspended',
  'Starting',
  'Productive',
  'Lost',
  'Running',
  'Hung',
  'Restarting',
] as const;
export type AccountedClass = (typeof ACCOUNTED)[number];
