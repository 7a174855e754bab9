/**
 * The port between an agent and whoever coordinates its group (design, section 6, "The channel is a
 * port"). JobSet status is the source of what comes in, whichever way it comes; nothing in the
 * barrier may know which channel it has.
 */
import type { GroupState } from '../jobset/epoch/group-state.ts';
import type { WorkerEnd } from '../jobset/epoch/notice.ts';

/** What an agent needs to know of its JobSet, as of one version of it. */
export interface Snapshot extends GroupState {
  /**
   * It was read consistently after all earlier snapshots, so it is newer than they are, whatever its
   * version: an API that was restored from a copy counts from there again.
   */
  readonly isFresh: boolean;
}

export interface Announcement {
  readonly epoch: number;
  /** How many agents of this Pod have announced this epoch by now, this one included. */
  readonly starts: number;
  /** How the worker of an earlier epoch ended, if that is why this one is announced. */
  readonly cause?: { readonly epoch: number; readonly end: WorkerEnd } | undefined;
}

/** What the channel tells the agent. Calls come one at a time and in order. */
export interface ChannelListener {
  /** Snapshots start with one that is no older than the call of `open`. */
  snapshot(snapshot: Snapshot): void;
  /** The announcement of this epoch is durable. Superseded announcements may never be confirmed. */
  announced(epoch: number): void;
  /** The agent's Pod is being deleted, is gone, or belongs to no Job any more. */
  podEnding(): void;
  /** Answers `askForPod`: it was there, and not being deleted, after `askedMs`, monotonic. */
  podLives(askedMs: number): void;
}

export interface Channel {
  /** Starts to follow. Called once; the channel keeps trying whatever happens, until `close`. */
  open(listener: ChannelListener): void;
  /** Makes the announcement known. A later call supersedes an earlier one and never loses to it. */
  announce(announcement: Announcement): void;
  /**
   * Hints that the worker of `epoch` is about to be stopped by someone else. Resolves when it was
   * told or when telling takes too long; never rejects.
   */
  giveNotice(epoch: number): Promise<void>;
  /** Asks for the agent's Pod by its UID, of whoever has it in storage. An answer may never come. */
  askForPod(): void;
  close(): void;
}
