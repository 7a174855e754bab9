/**
 * Everything that `plan` may know. It is read once, does not change while a plan is made, and may
 * be old: the status is written under the resourceVersion of `jobSet`, and everything else is safe
 * at any age.
 */
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Service } from '@lockstep/kube/objects/core.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { Sha1 } from '../derived-names.ts';
import type { Witness } from '../epoch/witness.ts';
import type { FeatureGates } from '../feature-gates.ts';
import type { AgentProgram } from '../injection/agent-mode.ts';
import type { ContainerMinimums } from '../injection/agent-resources.ts';
import type { JobSet } from '../jobset.ts';
import type { RestartWitness } from '../jobset-status.ts';
import type { Recording } from '../overrides/recording.ts';
import type { GroupProgress } from '../progress/group-progress.ts';
import type { MemberEvidence } from '../roster/group-evidence.ts';
import type { Members } from '../roster/members.ts';
import type { PodFacts } from '../roster/pod-facts.ts';
import type { PodHold } from '../roster/pod-hold.ts';
import type { SizeLimits } from '../size-limits.ts';
import type { CountersPutOff } from '../status/counters.ts';

export interface Snapshot {
  /** The JobSet as it is acted on: with the annotations that are recorded, or are to be. */
  readonly jobSet: Stored<JobSet>;
  /** The annotations for its first status to record; absent: it has a status. */
  readonly recording?: Recording | undefined;
  /**
   * The Jobs whose controller is this JobSet, by UID. Their Pod templates need only what `keptJobs`
   * keeps.
   */
  readonly jobs: readonly Stored<Job>[];
  /**
   * Its finished Jobs that were deleted since the last plan that was carried out. The status in the
   * plan keeps what matters of them.
   */
  readonly vanished: readonly Stored<Job>[];
  readonly members: Members;
  /** What became of the members that ran in an epoch; absent: nobody remembers. */
  readonly endsIn?: (epoch: number) => readonly MemberEvidence[];
  /** What its members have reported of their work so far; absent: this operator has no hub. */
  readonly reported?: (() => GroupProgress) | undefined;
  /** Fields of the status that the stored definition does not have, so that writes would lose them. */
  readonly lacks?: ReadonlySet<string> | undefined;
  /** The definition may not be read; `lacks` names all that it may not have. */
  readonly isDefinitionUnread?: boolean | undefined;
  readonly surroundings: Surroundings;
  readonly answers: Answers;
  readonly knowledge: Knowledge;
  readonly agent: AgentProgram;
  readonly gates: FeatureGates;
  readonly sha1: Sha1;
  /** What the hub sees of its agents; absent: this operator has no hub. */
  readonly hubReach?: HubReach | undefined;
  /** What is remembered of members that do not start; absent: nothing is said of them. */
  readonly startLook?: StartLook | undefined;
  readonly limits: SizeLimits;
  readonly nowMs: number;
}

export interface HubReach {
  /** Agents that use it now. */
  readonly streams: number;
  /** Members that have a hub in their settings and no stream, as of the last look. */
  readonly missing: number;
  /** Some of the missing members, and for how long this operator has known that. */
  readonly silent: readonly { readonly pod: PodFacts; readonly silentMs: number }[];
  /** Whether that look was before now, so that another is due. */
  readonly isOld?: boolean;
  /** Whether enough time has passed to read such Pods again. */
  readonly mayLook: boolean;
}

export interface StartLook {
  /** For how long members have been missing without a break. */
  readonly missingForMs: number;
  /** For how long a Job has lacked a Pod without a break. */
  readonly noPodForMs: number;
  /** Since the last read of a Pod for this. */
  readonly sinceLookMs: number;
  /** How often a Pod was read since members are missing. */
  readonly looks: number;
  /** How often since the missing members changed. */
  readonly idleLooks: number;
  /** Pods in a row that were found starting, while no Job lacked a Pod. */
  readonly calmLooks: number;
}

/** Which members are missing. The next plan needs it to know for how long. */
export interface MissingState {
  /** A change of the key is worth a read soon. */
  readonly key: string;
  /** A Job has fewer Pods than it should. */
  readonly lacksPods: boolean;
}

/** The namespace's objects under names that the JobSet needs. */
export interface Surroundings {
  /** The Service with the name of the subdomain. */
  readonly service: Stored<Service> | undefined;
  /** The Job of that name, of any owner. */
  jobNamed(name: string): Stored<Job> | undefined;
  /** Whether a PersistentVolumeClaim of that name is known to exist. */
  hasClaim(name: string): boolean;
  /** Whether its agents are known to have the rights that the operator gives them. */
  readonly hasAgentRights: boolean;
}

/** The memory of the operator between plans. A loss costs repetition, never correctness. */
export interface Knowledge {
  /** Whether a Pod's notice was looked into and showed no failure. */
  isDismissed(pod: PodFacts): boolean;
  /** Whether this Pod's announcement was found to be ahead of a fresh status. */
  isTooFarAhead(pod: PodFacts): boolean;
  /** What the last plan put off. */
  readonly countersPutOff: CountersPutOff | undefined;
  /** Why Jobs could not be made several times; false: they could; absent: not tried yet. */
  readonly jobsRefused?: string | false | undefined;
}

/**
 * What `plan` must know before it can continue. Each question costs a request, so it asks only if it
 * must.
 */
export type Question =
  /** How did this member fail? */
  | { readonly kind: 'Witness'; readonly pod: PodFacts }
  /** Did this member, whose agent was told to stop, fail at all? */
  | { readonly kind: 'Notice'; readonly pod: PodFacts }
  /** Which Pod made this Job fail, and in which epoch? */
  | { readonly kind: 'FailedJob'; readonly job: Stored<Job> }
  /** Are Jobs really suspended, so that a released epoch has lost its Pods? */
  | { readonly kind: 'FreshJobs' }
  /** What do these suspended Jobs say in full? `Snapshot.jobs` need not have all of a Pod template. */
  | { readonly kind: 'WholeJobs'; readonly jobs: readonly Stored<Job>[] }
  /** Which Pods have succeeded by now, so that no nearly complete Job is recreated? */
  | { readonly kind: 'SucceededPods' }
  /** Which Pods live by now, if slots have no known Pod? */
  | { readonly kind: 'FreshPods' }
  /** Do these overdue Pods still exist, and on which nodes? */
  | { readonly kind: 'OverduePods'; readonly pods: readonly PodFacts[] }
  /** How many of this Job's Pods have failed since the epoch began, and not because it ended? */
  | { readonly kind: 'FailedPods'; readonly job: Stored<Job> }
  /** What minimums does the namespace have for containers that share their Pod's resources? */
  | { readonly kind: 'ContainerMinimums' }
  /** Can agents start from volumes of their image on all nodes that the Pods may use? */
  | { readonly kind: 'ImageVolumes' }
  /** On which nodes are these suspects, and how did their containers end? */
  | { readonly kind: 'Suspects'; readonly pods: readonly SuspectPod[] }
  /** Which of these Pods are bound to one node, so that new ones in their place would be too? */
  | { readonly kind: 'Pins'; readonly pods: readonly PodFacts[] }
  /** For how long have the agents of these Pods run? */
  | { readonly kind: 'SilentAgents'; readonly pods: readonly PodFacts[] }
  /** Why does this Pod not start, or if none is named, the first that is `Pending`? */
  | { readonly kind: 'HeldPod'; readonly pod: PodFacts | undefined }
  /** Are these Pods ahead of their time, or is the JobSet at hand old? */
  | { readonly kind: 'FreshJobSet'; readonly pods: readonly PodFacts[] };

export interface Answers {
  readonly witness?: Witness;
  /** By UID, of those that were asked for the ones that could be read. */
  readonly suspects?: ReadonlyMap<string, SuspectAnswer>;
  readonly failedJob?: FailedJobAnswer;
  /** True if `jobs` are no older than the question. */
  readonly areJobsFresh?: boolean;
  /** By UID, of those that were asked for the ones that still exist, as far as memory allows. */
  readonly wholeJobs?: ReadonlyMap<string, Stored<Job>>;
  /** The Pods that lived when the question was asked: a second view beside `members`. */
  readonly freshPods?: Members;
  readonly failedPods?: FailedPodsAnswer;
  /** By UID, of those that were asked for the ones that are still there. */
  readonly overduePods?: ReadonlyMap<string, { readonly node: string | undefined }>;
  /** True if `members` holds every Pod that had succeeded when the question was asked. */
  readonly isSuccessFresh?: boolean;
  readonly hasImageVolumes?: boolean;
  /** By UID, what binds the Pod to its node, in words, of those that are bound. */
  readonly pins?: ReadonlyMap<string, string>;
  /** By UID, for how long the agent has run in this container, of those that run. */
  readonly silentAgents?: ReadonlyMap<string, number>;
  /** Without a name, there is no such Pod; without a hold, it starts. */
  readonly heldPod?: { readonly name?: string; readonly hold?: PodHold };
  /** By resource, what a LimitRange of the namespace demands of each container. */
  readonly minimums?: ContainerMinimums;
  /** True if the JobSet was read from the API after the question. */
  readonly isJobSetFresh?: boolean;
}

export type SuspectPod = Pick<PodFacts, 'name' | 'uid'>;

export interface SuspectAnswer {
  readonly node?: string;
  readonly isNodeLost?: true;
  /** How the first failed container of this epoch ended; absent: the Pod shows none. */
  readonly witness?: RestartWitness;
}

/** `epoch` and `witness` are absent if no failed Pod of the Job is left, or none ever was. */
export interface FailedJobAnswer {
  readonly jobUid: string;
  readonly epoch?: number;
  readonly witness?: Witness;
}

export interface FailedPodsAnswer {
  readonly jobUid: string;
  /** Pods that failed on the way to the current epoch. */
  readonly inEpoch: number;
  readonly witness?: Witness;
}
