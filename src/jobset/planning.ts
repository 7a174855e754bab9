import type { ChildJobs } from './child-jobs.ts';
import type { DefaultedSpec } from './defaults.ts';
import { currentEpoch, type Group } from './in-place-restart.ts';
import type { ReplicatedJobStatus } from './jobset.ts';
import { RESTART_BACKOFF } from './names.ts';
import type { Snapshot } from './snapshot.ts';
import type { GroupStages } from './stages.ts';
import type { StatusDraft } from './status-draft.ts';

/** What the steps of one plan share: the snapshot, what follows from it, and the draft. */
export interface Planning {
  readonly snapshot: Snapshot;
  readonly spec: DefaultedSpec;
  readonly draft: StatusDraft;
  readonly children: ChildJobs;
  /** Counted now; the status may hold older ones. */
  readonly counters: readonly ReplicatedJobStatus[];
  /** Undefined unless failures restart the group in place. */
  readonly stages: GroupStages | undefined;
  /** The success policy will be met as soon as the Job controller has counted what succeeded. */
  readonly successIsNear: boolean;
}

export function groupOf({ snapshot }: Planning, { stages }: GroupStages): Group {
  return {
    epoch: currentEpoch(snapshot.jobSet.status ?? {}),
    stages,
    members: snapshot.members,
    isDismissed: (pod) => snapshot.knowledge.isDismissed(pod),
  };
}

/** Whether a group that ends again and again right after its release is held at the barrier. */
export function hasBackoff({ snapshot }: Planning): boolean {
  return snapshot.jobSet.metadata.annotations?.[RESTART_BACKOFF] !== 'Disabled';
}
