/** What a JobSet does at the moment, in one word. */
import { withDefaults } from '../defaults.ts';
import type { JobSet } from '../jobset.ts';
import { asRecorded } from '../overrides/recorded-annotations.ts';
import { restartsInPlace } from '../policies/restart-strategy.ts';
import { epochsOf } from '../status/epochs.ts';

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

export function jobSetState(jobSet: JobSet): JobSetState {
  const { spec, status = {} } = jobSet;
  const { terminalState } = status;
  if (terminalState === 'Completed' || terminalState === 'Failed') return terminalState;
  if (spec.suspend === true) return 'Suspended';
  if (!hasEpochs(jobSet)) return 'Running';
  const { deprecated, synced } = epochsOf(status);
  return synced > deprecated ? 'Released' : 'AtBarrier';
}

/** Whether it restarts in place. The epochs of one that does no longer stand still. */
export function hasEpochs(jobSet: JobSet): boolean {
  const { metadata, spec } = asRecorded(jobSet);
  return restartsInPlace(withDefaults(spec), metadata.annotations);
}
