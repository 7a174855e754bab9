/** The progress of all groups together, for the metrics. */
import { hasNoStandbys } from '../../jobset/progress/standby.ts';
import type { GroupView } from '../../jobset/roster/roster-group.ts';

export interface ProgressMeasures {
  /** Members with a stream whose workers have reported anything. */
  readonly reporting: number;
  /** The longest time since the last report of a worker; 0 if none has reported. */
  readonly longestSilenceMs: number;
  /** Warm standbys that wait for the next epoch. */
  readonly standbysReady: number;
  /** Members whose Pods get no standbys any more. */
  readonly standbysOff: number;
}

export const NO_PROGRESS: ProgressMeasures = {
  reporting: 0,
  longestSilenceMs: 0,
  standbysReady: 0,
  standbysOff: 0,
};

export function measureProgress(
  groups: Iterable<Pick<GroupView, 'steps'>>,
  nowMs: number,
): ProgressMeasures {
  let { reporting, longestSilenceMs, standbysReady, standbysOff } = NO_PROGRESS;
  for (const group of groups) {
    for (const member of group.steps(nowMs)) {
      reporting++;
      longestSilenceMs = Math.max(longestSilenceMs, member.silentMs);
      if (member.standby === 'Ready') standbysReady++;
      if (hasNoStandbys(member)) standbysOff++;
    }
  }
  return { reporting, longestSilenceMs, standbysReady, standbysOff };
}
