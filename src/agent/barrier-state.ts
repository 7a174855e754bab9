/** The states, events and effects of the barrier. */

import type { MemberRanks } from '../jobset/ranks/member-ranks.ts';
import type { Announcement } from '../jobset/worker-end/announcement.ts';
import type { GroupSnapshot } from './channel.ts';
import type { HungWorker, Marker } from './marker.ts';
import type { OwnRanks } from './own-ranks.ts';
import type { OwnEnd } from './worker-exit.ts';

export interface Barrier {
  readonly mode: 'Sidecar' | 'Supervisor';
  /** Supervisor: after a worker that failed, a command checks the machine. */
  readonly hasPreflight?: boolean;
  /** Undefined if a template with its own agent does not say: then the first snapshot decides. */
  readonly jobSetUid: string | undefined;
  /** The marker as it is on disk, or will be after the write under way. */
  readonly marker: Marker;
  /** The newest version of the JobSet that was seen. */
  readonly known: GroupSnapshot | undefined;
  /** The Pod is being deleted, so the barrier does not lift any more. */
  readonly isPodEnding: boolean;
  /**
   * The Pod has been unconfirmed for so long that the operator may count it as dead
   * (`docs/design/release-hazards.md#a-lost-node-keeps-its-pod-for-ever`).
   */
  readonly isCutOff: boolean;
  readonly stage: BarrierStage;
  /** The worker is several ranks, which need their numbers. */
  readonly ownRanks?: OwnRanks | undefined;
  /** D when the agent said last that it waits for numbers. */
  readonly missedAfter?: number;
  /** The last worker that is known to have ended. */
  readonly end?: OwnEnd | undefined;
}

export type BarrierStage =
  /** There is no consistent snapshot yet, or the agent only waits for its end. */
  | { readonly name: 'Unsynced' }
  /**
   * Supervisor only: the worker was stopped because the Pod was not confirmed. The agent waits for a
   * confirmation.
   */
  | { readonly name: 'CutOff' }
  /** `marker.announced` is being written. */
  | { readonly name: 'Marking'; readonly announcement: Announcement }
  /** The announcement is on its way. */
  | { readonly name: 'Announcing'; readonly epoch: number }
  /** At the barrier. */
  | { readonly name: 'Waiting'; readonly epoch: number }
  /** `marker.started` is being written. */
  | { readonly name: 'Starting'; readonly epoch: number; readonly isAnnounced: boolean }
  /** The barrier is lifted. */
  | {
      readonly name: 'Running';
      readonly epoch: number;
      readonly isAnnounced: boolean;
      /** The worker is being ended because it made no progress. */
      readonly isHung?: true;
    }
  /** Supervisor only: the worker failed, which is announced once the preflight has ended. */
  | { readonly name: 'Checking' }
  /** Supervisor only: the worker was told to stop, because its epoch is over. */
  | { readonly name: 'Stopping'; readonly epoch: number }
  /** Supervisor only: the agent was told to end and waits for its worker, or for a preflight. */
  | {
      readonly name: 'Ending';
      readonly signal: string;
      /** The agent stopped the worker itself, so the worker's exit says nothing about its work. */
      readonly isStopped: boolean;
    }
  /** The agent leaves its container. */
  | { readonly name: 'Left' };

export type BarrierEvent =
  | { readonly type: 'snapshot'; readonly snapshot: GroupSnapshot }
  | { readonly type: 'markerWritten' }
  | { readonly type: 'announced'; readonly epoch: number }
  | { readonly type: 'podEnding' }
  /** The hub or the API server confirmed that the Pod exists. */
  | { readonly type: 'podLives' }
  /** The last confirmation of the Pod is too old. */
  | { readonly type: 'cutOff' }
  /** The worker made no progress for too long, and the hub or the API server answers. */
  | { readonly type: 'hung'; readonly worker: HungWorker }
  /** A signal asks the agent to end. */
  | { readonly type: 'stop'; readonly signal: string }
  /** Supervisor: the worker and all its descendants have ended. */
  | { readonly type: 'workerEnded'; readonly end: OwnEnd }
  /** Supervisor: the preflight and all its descendants have ended. It says why it did not pass. */
  | { readonly type: 'preflightEnded'; readonly unfit: string | undefined };

export type Effect =
  | { readonly type: 'writeMarker'; readonly marker: Marker }
  | { readonly type: 'announce'; readonly announcement: Announcement }
  /** Sidecar: let the worker start. Supervisor: start it, with these numbers of its ranks. */
  | { readonly type: 'lift'; readonly epoch: number; readonly ranks?: MemberRanks | undefined }
  /** The worker may run, but nothing says which numbers its ranks have. */
  | { readonly type: 'missNumbers' }
  /** Answered by `workerEnded`. */
  | { readonly type: 'stopWorker' }
  /** Supervisor: look into the worker and kill it. Answered by `workerEnded`. */
  | { readonly type: 'killHung' }
  /** Supervisor: nothing runs, so check the machine. Answered by `preflightEnded`. */
  | { readonly type: 'preflight' }
  /** Supervisor: end the preflight at once, without a result. */
  | { readonly type: 'cutPreflight' }
  /** Hint that this Pod's worker is being stopped from outside. */
  | { readonly type: 'giveNotice'; readonly epoch: number }
  | { readonly type: 'leave'; readonly reason: LeaveReason };

export type LeaveReason =
  /** The epoch is over: the Pod has to restart in place. */
  | { readonly type: 'EpochOver' }
  /** The worker has to stop. The Pod restarts in place, and runs again when it is confirmed. */
  | { readonly type: 'CutOff' }
  /** Sidecar: the worker made no progress. The Pod restarts in place. */
  | { readonly type: 'Hung' }
  | { readonly type: 'Signal'; readonly signal: string }
  | { readonly type: 'WorkerExit'; readonly end: OwnEnd };

export interface Step {
  readonly state: Barrier;
  readonly effects: readonly Effect[];
}
