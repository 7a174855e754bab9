import type { Job } from '../kube/job.ts';
import type { Stored } from '../kube/meta.ts';
import type { AgentProgram } from './agent-mode.ts';
import type { FeatureGates } from './feature-gates.ts';
import type { JobSet } from './jobset.ts';
import type { Members } from './members.ts';
import type { PodFacts } from './pod-facts.ts';
import type { Witness } from './witness.ts';

/**
 * All that `plan` may know. It is read once, it never changes while a plan is made, and it may be
 * old: the status is written under the resourceVersion of `jobSet`, and everything else is safe at
 * any age.
 */
export interface Snapshot {
  readonly jobSet: Stored<JobSet>;
  /** The Jobs whose controller is this JobSet, by UID. */
  readonly jobs: readonly Stored<Job>[];
  readonly members: Members;
  /** Whether a Service with the name of the subdomain exists. */
  readonly hasService: boolean;
  readonly answers: Answers;
  readonly knowledge: Knowledge;
  readonly agent: AgentProgram;
  readonly gates: FeatureGates;
  readonly nowMs: number;
}

/** What the shell remembers between plans. Forgetting it costs repetition, never correctness. */
export interface Knowledge {
  /** Whether a Pod's notice was looked into in vain. */
  isDismissed(pod: PodFacts): boolean;
  /** Whether this Pod's announcement was found to be ahead of a fresh status. */
  isKnownStray(pod: PodFacts): boolean;
  /** Since when the stored counters differ from the Jobs; undefined if they did not. */
  readonly countersDifferSinceMs: number | undefined;
}

/** What `plan` must be told before it can go on: each costs a request, so it asks when it needs to. */
export type Question =
  /** How did this member fail? */
  | { readonly kind: 'Witness'; readonly pod: PodFacts }
  /** Did this member, whose agent was told to stop, fail at all? */
  | { readonly kind: 'Notice'; readonly pod: PodFacts }
  /** Which Pod made this Job fail, and in which epoch? */
  | { readonly kind: 'FailedJob'; readonly job: Stored<Job> }
  /** Are Jobs really suspended, so that a released epoch has lost its Pods? */
  | { readonly kind: 'FreshJobs' }
  /** Which Pods have succeeded by now, so that no Job is made anew that is all but complete? */
  | { readonly kind: 'SucceededPods' }
  /** Are these Pods ahead of their time, or is the JobSet at hand old? */
  | { readonly kind: 'FreshJobSet'; readonly pods: readonly PodFacts[] };

export interface Answers {
  readonly witness?: Witness;
  readonly failedJob?: FailedJobAnswer;
  /** True if `jobs` are no older than the question. */
  readonly areJobsFresh?: boolean;
  /** True if `members` holds every Pod that had succeeded when the question was asked. */
  readonly isSuccessFresh?: boolean;
  /** True if the JobSet was read from the API after the question. */
  readonly isJobSetFresh?: boolean;
}

/** `epoch` and `witness` are absent if no failed Pod of the Job is left, or none ever was. */
export interface FailedJobAnswer {
  readonly epoch?: number;
  readonly witness?: Witness;
}
