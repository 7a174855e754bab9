/**
 * The port between an agent and the coordinator of its group, which is the hub or the API server
 * (`docs/design/protocol.md`). Both pass on the JobSet's status. The barrier must not know which
 * channel it has.
 */

import type { GroupState } from '../jobset/epoch/group-state.ts';
import type { Progress } from '../jobset/progress/progress.ts';
import type { Announcement } from '../jobset/worker-end/announcement.ts';
import type { WorkerEnd } from '../jobset/worker-end/worker-end.ts';

/** The state of its JobSet that an agent needs, from one version. */
export interface GroupSnapshot extends GroupState {
  /**
   * The read was consistent and began after all earlier snapshots, so this one is newer than they
   * are. Its version may still be lower: an API restored from a copy counts from there again.
   */
  readonly isFresh: boolean;
  /** Pods of the whole group. */
  readonly members: number;
}

/** The channel's calls to the agent. They come one at a time and in order. */
export interface ChannelListener {
  /** Snapshots start with one that is no older than the call of `open`. */
  snapshot(snapshot: GroupSnapshot): void;
  /** The announcement of this epoch is durable. Superseded announcements may never be confirmed. */
  announced(epoch: number): void;
  /** The agent's Pod is being deleted, is gone, or belongs to no Job any more. */
  podEnding(): void;
  /**
   * Answers `askForPod`: the Pod existed, and was not being deleted, at some time after `askedMs`
   * (monotonic).
   */
  podLives(askedMs: number): void;
  /** The coordinator answered a `ping` that was sent at `askedMs` (monotonic). */
  answered(askedMs: number): void;
  /** The worker's progress, for messages that are sent anyway. */
  progress(): Progress | undefined;
}

export interface Channel {
  /** Starts to follow the JobSet. Called once. The channel retries all failures until `close`. */
  open(listener: ChannelListener): void;
  /** Makes the announcement known. A later call supersedes an earlier one and never loses to it. */
  announce(announcement: Announcement): void;
  /**
   * Hints that the worker of `epoch` is about to be stopped from outside. Resolves when the hint is
   * sent or takes too long; never rejects.
   */
  giveNotice(epoch: number): Promise<void>;
  /**
   * Reports that the worker exited with 0, so that the time is known. It does not wait for
   * an answer. Only over the hub: the API server would need a request of its own for each member.
   */
  tellSuccess(end: WorkerEnd): void;
  /** Asks the coordinator to confirm the agent's Pod by its UID. An answer may never come. */
  askForPod(): void;
  /** Asks the coordinator for a sign of life. An answer may never come. */
  ping(): void;
  close(): void;
}
