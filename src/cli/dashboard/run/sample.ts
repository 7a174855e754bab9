/** How fast a group is at one moment, for the plot. */
import { MAX_SLOWEST, type Sample } from '../../../dashboard/messages/run.ts';
import type { StatusView } from '../../../jobset/view/status-view.ts';

/** Undefined if no member tells of steps. */
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
