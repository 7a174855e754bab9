/**
 * The ends of a group's workers, as far as the operator knows them when their epoch is over
 * (`docs/design/culprits.md`). Times are milliseconds of the operator's monotonic clock.
 */
import type { WorkerEnd } from '../worker-end/worker-end.ts';

export interface GroupEvidence {
  /** Members that ran in the epoch, whether or not anything is known of their ends. */
  readonly size: number;
  readonly members: readonly MemberEvidence[];
}

export interface MemberEvidence {
  readonly member: Member;
  readonly end: MemberEnd;
}

/** One member slot, and the Pod that filled it in the epoch. */
export interface Member {
  readonly replicatedJob: string;
  readonly jobIndex: number;
  /** Completion indexes of its Job. */
  readonly completions: number;
  /** Absent in a NonIndexed Job. */
  readonly completionIndex?: number;
  readonly pod: string;
  readonly podUid: string;
  readonly node?: string;
}

/** How the worker of a member ended in an epoch, as far as the operator knows. */
export type MemberEnd =
  /** Its agent reported how the worker ended. Over the API server its date is less sure. */
  | ({ readonly kind: 'Ended'; readonly isOverApi?: true } & WorkerEnd)
  /** Its Pod succeeded. */
  | { readonly kind: 'Succeeded'; readonly atMs: number }
  /**
   * Its Pod is gone, or being deleted, and the operator did not do that. `seenMs`: its agent was
   * last known to live.
   */
  | {
      readonly kind: 'Lost';
      readonly seenMs: number;
      /** When its deletion was seen; absent: it vanished, or failed. */
      readonly deletedMs?: number;
      /** Its node is not ready, or gone. */
      readonly isNodeLost?: true;
    }
  /** Its agent came back as a new process without a report; `atMs` is when the old stream ended. */
  | { readonly kind: 'Returned'; readonly atMs: number };
