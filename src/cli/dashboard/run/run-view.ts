/** All about a JobSet that changes seldom, for the page, and how fast its group is. */

import type { Stored } from '@lockstep/kube/meta.ts';
import {
  type DatedCondition,
  MAX_SLOWEST,
  type RunView,
  type Sample,
} from '../../../dashboard/messages/run.ts';
import { restartCosts } from '../../../jobset/goodput/restart-cost.ts';
import { timelineOf } from '../../../jobset/goodput/timeline.ts';
import type { JobSet } from '../../../jobset/jobset.ts';
import type { GroupProgress } from '../../../jobset/progress/group-progress.ts';
import { FOR_TOOLS } from '../../../jobset/status/conditions.ts';
import type { StatusView } from '../../../jobset/view/status-view.ts';

/** `reported` is undefined if members were not asked. */
export function runView(
  jobSet: Stored<JobSet>,
  view: StatusView,
  reported: GroupProgress | undefined,
  more: Pick<RunView, 'actions' | 'spec' | 'clusterFlags' | 'atMs'>,
): RunView {
  const { metadata, status } = jobSet;
  const { atMs } = more;
  return {
    uid: metadata.uid,
    createdMs: Date.parse(metadata.creationTimestamp ?? ''),
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
    ...more,
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

/** How fast a group is at one moment, for the plot. Undefined if no member tells of steps. */
export function sampleOf({ jobSet, members }: StatusView, atMs: number): Sample | undefined {
  const { progress, syncedEpoch } = jobSet;
  if (progress?.lowestStep === undefined && progress?.stepsPerSecond === undefined)
    return undefined;
  const slowest = members
    .flatMap(({ pod, progress: own }) => {
      const stepsPerSecond = own?.stepsPerSecond;
      return stepsPerSecond === undefined ? [] : [{ pod, stepsPerSecond }];
    })
    .sort((a, b) => a.stepsPerSecond - b.stepsPerSecond)
    .slice(0, MAX_SLOWEST);
  return {
    atMs,
    epoch: syncedEpoch,
    lowestStep: progress.lowestStep ?? null,
    highestStep: progress.highestStep ?? null,
    stepsPerSecond: progress.stepsPerSecond ?? null,
    slowest,
  };
}
