import type { ChildJobs } from './child-jobs/child-jobs.ts';
import type { DefaultedSpec } from './defaults.ts';
import { currentEpoch, type Group } from './epoch/in-place-restart.ts';
import type { GroupStages } from './epoch/stages.ts';
import { stageCounters, startableStages } from './epoch/startup-stages.ts';
import type { ReplicatedJobStatus } from './jobset.ts';
import { RESTART_BACKOFF } from './names.ts';
import { type StartupOrder, startableReplicatedJobs } from './policies/startup-order.ts';
import type { Snapshot } from './snapshot.ts';
import type { StatusDraft } from './status/status-draft.ts';

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
  /** Of a group: its success policy will be met when the Job controller has counted what succeeded. */
  readonly successIsNear: boolean;
}

export function groupOf(
  { snapshot, spec, counters }: Pick<Planning, 'snapshot' | 'spec' | 'counters'>,
  { stages }: GroupStages,
): Group {
  const epoch = currentEpoch(snapshot.jobSet.status ?? {});
  return {
    epoch,
    stages,
    members: snapshot.members,
    isDismissed: (pod) => snapshot.knowledge.isDismissed(pod),
    startable: startableStages(spec, counters, stages, epoch),
  };
}

/** Whether a group that ends again and again right after its release is held at the barrier. */
export function hasBackoff({ snapshot }: Planning): boolean {
  return snapshot.jobSet.metadata.annotations?.[RESTART_BACKOFF] !== 'Disabled';
}

/** Which ReplicatedJobs may be started, by what the draft says. */
export function startupOrderOf({ spec, counters, stages, draft }: Planning): StartupOrder {
  const epoch = currentEpoch(draft.status);
  const seen = stages === undefined ? counters : stageCounters(counters, stages.stages, epoch);
  return startableReplicatedJobs(spec, seen, spec.suspend);
}
