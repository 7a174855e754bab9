/** All about a JobSet that changes seldom, for the page. */

import type { Stored } from '@lockstep/kube/meta.ts';
import type { ActionOffer, DatedCondition, RunView } from '../../../dashboard/messages/run.ts';
import { restartCosts } from '../../../jobset/goodput/restart-cost.ts';
import { timelineOf } from '../../../jobset/goodput/timeline.ts';
import type { JobSet } from '../../../jobset/jobset.ts';
import type { GroupProgress } from '../../../jobset/progress/group-progress.ts';
import { FOR_TOOLS } from '../../../jobset/status/conditions.ts';
import type { SpecView } from '../../../jobset/view/spec-view.ts';
import type { StatusView } from '../../../jobset/view/status-view.ts';

export interface RunFacts {
  readonly jobSet: Stored<JobSet>;
  readonly view: StatusView;
  /** Undefined: members were not asked. */
  readonly reported: GroupProgress | undefined;
  readonly actions: readonly ActionOffer[];
  readonly spec: SpecView;
  readonly clusterFlags: readonly string[];
  readonly atMs: number;
}

export function runView(facts: RunFacts): RunView {
  const { jobSet, view, reported, actions, spec, clusterFlags, atMs } = facts;
  const { metadata, status } = jobSet;
  return {
    uid: metadata.uid,
    createdMs: Date.parse(metadata.creationTimestamp ?? ''),
    atMs,
    jobSet: view.jobSet,
    segments: timelineOf(jobSet, atMs, reported),
    costs: [...restartCosts(jobSet, atMs, reported)].map(([epoch, cost]) => ({ epoch, ...cost })),
    conditions: (status?.conditions ?? [])
      .filter(({ type }) => !FOR_TOOLS.includes(type))
      .map(
        ({ lastTransitionTime, ...condition }): DatedCondition => ({
          type: condition.type,
          status: condition.status,
          reason: condition.reason,
          message: condition.message,
          timeMs: Date.parse(lastTransitionTime),
        }),
      ),
    spec,
    actions,
    clusterFlags,
  };
}

/** What of it does not change with time alone. */
export function withoutTime(run: RunView): string {
  const { segments, jobSet, ...rest } = { ...run, atMs: 0, costs: [] };
  const { progress, ...view } = { ...jobSet, goodput: null };
  const steps = { ...progress, checkpointMs: 0, firstStepMs: 0, stepsPerSecond: 0 };
  const kinds = segments.map((segment) => [segment.class, segment.epoch, segment.fromMs]);
  return JSON.stringify([view, progress === null ? null : steps, kinds, rest]);
}
