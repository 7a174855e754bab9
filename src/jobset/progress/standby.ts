/** The reports of agents about warm standbys, in words. */
import type { Progress, StandbyState } from './progress.ts';

/** Why a Pod gets no standbys any more. */
export type StandbyRefusal = Exclude<StandbyState, 'Ready'>;

/** Whether the Pod of a worker gets no standbys any more. */
export function hasNoStandbys<P extends Pick<Progress, 'standby'>>(
  progress: P,
): progress is P & { readonly standby: StandbyRefusal } {
  return progress.standby !== undefined && progress.standby !== 'Ready';
}

export const WHY_NO_STANDBYS: Readonly<Record<StandbyRefusal, string>> = {
  Reported: 'a standby reported something else than phase=standby',
  Exited: 'a standby exited with 0',
  OutOfMemory: 'memory ran out beside a standby, or its agent was killed',
};
