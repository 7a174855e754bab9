/** What the roster takes in, and what it says about it. */
import type { PartialObjectMetadata, Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { JobSet } from '../jobset.ts';
import type { Owner } from '../membership.ts';
import type { Progress } from '../progress/progress.ts';
import type { Announcement } from '../worker-end/announcement.ts';
import type { WorkerEnd } from '../worker-end/worker-end.ts';
import type { InvalidPod } from './invalid-pod.ts';
import type { PodFacts } from './pod-facts.ts';

type Metadata = Stored<PartialObjectMetadata>;

export type RosterEvent = ObjectEvent | AgentEvent;

/** A change that a watch shows, or a write of our own. */
export type ObjectEvent =
  /** A living Pod, new or changed, and one that lives no more. */
  | { readonly kind: 'PodSeen' | 'PodGone'; readonly pod: Metadata }
  /** A Pod has just succeeded; has succeeded at some time; and is deleted after that. */
  | { readonly kind: 'PodSucceeded' | 'SuccessSeen' | 'SuccessGone'; readonly pod: Metadata }
  /** `JobGone`: with its last state; or it belongs to another JobSet now. */
  | { readonly kind: 'JobSeen' | 'JobGone'; readonly job: Stored<Job> }
  /** A state that the watch shows, or that this operator has written. */
  | { readonly kind: 'JobSetSeen'; readonly jobSet: Stored<JobSet>; readonly isOwn?: true }
  | { readonly kind: 'JobSetGone'; readonly jobSet: Owner }
  /** A Pod of the JobSet was read, because it should have ended. */
  | {
      readonly kind: 'NodeSeen';
      readonly jobSet: Owner;
      readonly podUid: string;
      readonly node: string;
    };

/**
 * What the hub hears of the agent of a Pod. If the Pod does not live or is a stranger, only its streams
 * count.
 */
export type AgentEvent = { readonly podUid: string } & (
  | { readonly kind: 'StreamOpened' }
  /** `seenMs`: when the agent was last known to live (monotonic). */
  | { readonly kind: 'StreamClosed'; readonly seenMs: number }
  | { readonly kind: 'Announced'; readonly announcement: Announcement }
  /** The worker of `epoch` is about to be stopped from outside. */
  | { readonly kind: 'Noticed'; readonly epoch: number }
  /** The worker exited with 0, which the Pod shows only later. */
  | { readonly kind: 'WorkerSucceeded'; readonly success: WorkerEnd }
  /** `progress` is undefined if the worker has said nothing since it started. */
  | { readonly kind: 'Reported'; readonly progress: Progress | undefined }
);

/** When an event came. */
export interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

export type RosterNews =
  /** The JobSet, `namespace/name`, may have something to decide. */
  | { readonly kind: 'Look'; readonly jobSet: string }
  /** The JobSet has its first stream, or one fewer. */
  | { readonly kind: 'ReachChanged'; readonly jobSet: string }
  /** A newer state of a JobSet, for its agents. */
  | { readonly kind: 'NewState'; readonly jobSet: Stored<JobSet> }
  /** The Pod, perhaps of an agent with a stream, is being deleted, or lives no more. */
  | { readonly kind: 'PodEnding' | 'PodGone'; readonly podUid: string }
  /** The agent has announced a newer epoch before, so this announcement changes nothing. */
  | { readonly kind: 'Outdated'; readonly podUid: string; readonly epoch: number }
  /** An agent that has spoken over the hub announces on its Pod now. */
  | { readonly kind: 'FellBack'; readonly podUid: string }
  /** The Pod gets no standbys any more. Perhaps repeatedly. */
  | {
      readonly kind: 'StandbyOff';
      readonly jobSet: Owner;
      readonly pod: PodFacts;
      readonly why: string;
    }
  | { readonly kind: 'InvalidPod'; readonly pod: InvalidPod };
