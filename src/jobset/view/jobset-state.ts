/** What a JobSet does at the moment, in one word. */
import { withDefaults } from '../defaults.ts';
import type { JobSet } from '../jobset.ts';
import { asRecorded } from '../overrides/recorded-annotations.ts';
import { restartsInPlace } from '../policies/restart-strategy.ts';
import { epochsOf } from '../status/epochs.ts';

/**
 * Groups that restart in place are `Released` while the current epoch runs, and `AtBarrier` while its
 * members gather. All other JobSets are `Running`.
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

/** Whether the JobSet restarts in place. If it no longer does, its epochs stand still. */
export function hasEpochs(jobSet: JobSet): boolean {
  const { metadata, spec } = asRecorded(jobSet);
  return restartsInPlace(withDefaults(spec), metadata.annotations);
}
