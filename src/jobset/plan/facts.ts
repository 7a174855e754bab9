/** The input of the steps of one plan: the snapshot, and what follows from it. */
import { askedOf, type ChildJobs, classifyJobs } from '../child-jobs/child-jobs.ts';
import { replicatedJobsStatus } from '../child-jobs/replicated-jobs-status.ts';
import { withoutSuccessesOf, withSucceededIndexes } from '../child-jobs/succeeded-jobs.ts';
import type { DefaultedSpec } from '../defaults.ts';
import { currentEpoch, type Group } from '../epoch/in-place-restart.ts';
import { type GroupStages, groupJobs, groupStages } from '../epoch/stages.ts';
import { startableStages, startupOrderIn } from '../epoch/startup-stages.ts';
import type { JobSetStatus, ReplicatedJobStatus } from '../jobset-status.ts';
import { restartsInPlace } from '../policies/restart-strategy.ts';
import type { StartupOrder } from '../policies/startup-order.ts';
import type { PodFacts } from '../roster/pod-facts.ts';
import { isFinished } from '../status/conditions.ts';
import type { Snapshot } from './snapshot.ts';

export interface Facts extends Snapshot {
  readonly spec: DefaultedSpec;
  /** The stored status; empty before the first write. */
  readonly status: JobSetStatus;
  readonly children: ChildJobs;
  /** Counted now; the status may hold older counts. */
  readonly counters: readonly ReplicatedJobStatus[];
  /** Undefined unless failures restart the group in place. */
  readonly group: (Group & GroupStages) | undefined;
  /** Which ReplicatedJobs may be started in the current epoch. */
  readonly startup: StartupOrder;
}

/** The facts of a group that restarts in place. */
export interface GroupFacts extends Facts {
  readonly group: Group & GroupStages;
}

export function isOfGroup(facts: Facts): facts is GroupFacts {
  return facts.group !== undefined;
}

export function factsOf(snapshot: Snapshot, spec: DefaultedSpec): Facts {
  const { jobSet, jobs, vanished, members, gates, knowledge } = snapshot;
  const { status = {} } = jobSet;
  const { replicatedJobs } = spec;
  const isInPlace = restartsInPlace(spec, jobSet.metadata.annotations);
  const isOver = isFinished(status.conditions);
  const classified = classifyJobs(jobs, askedOf(replicatedJobs, status, gates), vanished);
  const grouped = isInPlace && !isOver ? groupJobs(classified, status) : classified;
  const stages = isInPlace ? groupStages(replicatedJobs, grouped, status, members) : undefined;
  const startsOver = isOver ? undefined : stages?.startsOver;
  const children = startsOver === undefined ? grouped : withoutSuccessesOf(grouped, startsOver);
  const { replicatedJobsStatus: stored = [] } = status;
  const counted = replicatedJobsStatus(replicatedJobs, children, stored);
  const counters = withSucceededIndexes(counted, children, startsOver);
  const epoch = currentEpoch(status);
  const group = stages && {
    ...stages,
    epoch,
    members,
    isDismissed: (pod: PodFacts) => knowledge.isDismissed(pod),
    startable: startableStages(spec, counters, stages.stages, epoch),
  };
  const startup = startupOrderIn(epoch, { spec, counters, group });
  return { ...snapshot, spec, status, children, counters, group, startup };
}
