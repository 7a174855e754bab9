/**
 * Everything that `plan` may know. It is read once, does not change while a plan is made, and may
 * be old: the status is written under the resourceVersion of `jobSet`, and everything else is safe
 * at any age.
 */
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Service } from '@lockstep/kube/objects/core.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { Sha1 } from '../derived-names.ts';
import type { FeatureGates } from '../feature-gates.ts';
import type { AgentProgram } from '../injection/agent-mode.ts';
import type { JobSet } from '../jobset.ts';
import type { Recording } from '../overrides/recording.ts';
import type { GroupProgress } from '../progress/group-progress.ts';
import type { MemberEvidence } from '../roster/group-evidence.ts';
import type { Members } from '../roster/members.ts';
import type { PodFacts } from '../roster/pod-facts.ts';
import type { SizeLimits } from '../size-limits.ts';
import type { CountersPutOff } from '../status/counters.ts';
import type { Answer } from './questions.ts';

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
  readonly answer: Answer;
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

export interface JobsRefusal {
  readonly reason: 'CreationFailed' | 'ResumeFailed';
  /** In the API server's words. */
  readonly message: string;
}

/** The memory of the operator between plans. A loss costs repetition, never correctness. */
export interface Knowledge {
  /** Whether a Pod's notice was looked into and showed no failure. */
  isDismissed(pod: PodFacts): boolean;
  /** Whether this Pod's announcement was found to be ahead of a fresh status. */
  isTooFarAhead(pod: PodFacts): boolean;
  /** What the last plan put off. */
  readonly countersPutOff: CountersPutOff | undefined;
  /** Why Jobs could not be started; false: they could; absent: not tried yet, or not often enough. */
  readonly jobsRefused?: JobsRefusal | false | undefined;
  /** The API server dropped the numbers of ranks: they wait, or are to be written again. */
  readonly droppedRanks?: 'Wait' | 'Again' | undefined;
}
