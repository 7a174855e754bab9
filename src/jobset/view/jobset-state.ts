/** What a JobSet does at the moment, in one word. */
import { epochsOf } from '../epoch/dialect.ts';
import type { JobSet } from '../jobset.ts';

/**
 * `Released` and `AtBarrier` are of groups that restart in place: the current epoch runs, or its
 * members still gather. `Running` is of all others.
 */
export const JOBSET_STATES = [
  'Completed',
  'Failed',
  'Suspended',
  'Released',
  'AtBarrier',
  'Running',
] as const;
export type JobSetState = (typeof JOBSET_STATES)[number];

export function jobSetState({ spec, status = {} }: JobSet): JobSetState {
  const { terminalState } = status;
  if (terminalState === 'Completed' || terminalState === 'Failed') return terminalState;
  if (spec.suspend === true) return 'Suspended';
  if (!hasEpochs({ spec })) return 'Running';
  const { deprecated, synced } = epochsOf(status);
  return synced > deprecated ? 'Released' : 'AtBarrier';
}

/** Whether its strategy is to restart in place. */
export function hasEpochs({ spec }: Pick<JobSet, 'spec'>): boolean {
  return spec.failurePolicy?.restartStrategy === 'InPlaceRestart';
}
