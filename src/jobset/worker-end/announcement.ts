/** What an agent says of its worker, over its stream to the hub or as annotations of its Pod. */
import type { Exit } from './worker-end.ts';
import type { EndedWorker } from './worker-evidence.ts';

/**
 * An agent's announcement, repeated at will: the newest epoch counts. In a message, the time of an
 * end counts from when that is sent.
 */
export interface Announcement {
  readonly epoch: number;
  /** How many agents of this Pod have announced this epoch by now, including this one. */
  readonly starts: number;
  /** How the worker of an earlier epoch ended, if that is the reason for this announcement. */
  readonly cause?: { readonly epoch: number; readonly end: Exit } | undefined;
  /** How the worker of the epoch before this one ended; absent: the agent does not know. */
  readonly ended?: EndedWorker | undefined;
}

/** How the worker of `epoch` exited with 0 by itself. */
export interface WorkerSuccess {
  readonly epoch: number;
  readonly ended: EndedWorker;
}
