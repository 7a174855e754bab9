/** What agents tell of the warm standbys beside their workers, in words. */
import type { Progress, StandbyState } from './progress.ts';

/** Whether the Pod of that worker gets no standbys any more. */
export function hasNoStandbys<P extends Pick<Progress, 'standby'>>(
  progress: P,
): progress is P & { readonly standby: Exclude<StandbyState, 'Ready'> } {
  return progress.standby !== undefined && progress.standby !== 'Ready';
}

/** Why a Pod gets no standbys any more. */
export const WHY_NO_STANDBYS: Readonly<Record<Exclude<StandbyState, 'Ready'>, string>> = {
  Reported: 'a standby reported work before it was told to start',
  Exited: 'a standby exited with 0',
  OutOfMemory: 'memory ran out beside a standby',
};
