/** Whether a group that runs again has lost more than its restart: what it had saved, too. */
import type { JobSet } from '../jobset.ts';
import type { GroupProgress } from '../progress/group-progress.ts';
import { jobSetState } from './jobset-state.ts';

/** A program may name a checkpoint by the step before or after those that it reports. */
const STEPS_OF_CHANCE = 2;
/** Clocks of the operator and of the reader may differ by that much. */
const CLOCK_NOISE_MS = 2000;

/**
 * The workers of the running epoch make steps, and are still below a checkpoint that an epoch before
 * it has reported. The text has nothing that changes with each step. Undefined: there is nothing to
 * warn of, or it is not known.
 */
export function restoreWarning(
  jobSet: JobSet,
  reported: GroupProgress | undefined,
  nowMs: number,
): string | undefined {
  const { goodput, progress: ended, syncedTime } = jobSet.status ?? {};
  const saved = goodput?.checkpoint;
  const { highestStep, checkpoint, stepsPerSecond = 0, firstStepMs } = reported ?? {};
  if (saved === undefined || highestStep === undefined || firstStepMs === undefined)
    return undefined;
  if (jobSetState(jobSet) !== 'Released') return undefined;
  // Agents tell of the worker before until the next one reports.
  const releasedForMs = nowMs - Date.parse(syncedTime ?? '');
  if (!(firstStepMs <= releasedForMs + CLOCK_NOISE_MS)) return undefined;
  // It may have written its first line before it had loaded anything.
  if (stepsPerSecond === 0 || highestStep >= saved - STEPS_OF_CHANCE) return undefined;
  // Its workers have loaded this one, or saved it themselves: their steps are counted again.
  if (checkpoint !== undefined && checkpoint >= saved) return undefined;
  // Steps that never reach the number of a checkpoint count something else.
  const isOther = (step = 0, number = 0): boolean => number > step + STEPS_OF_CHANCE;
  if (isOther(highestStep, checkpoint) || isOther(ended?.step ?? saved, ended?.checkpoint)) {
    return undefined;
  }
  const step = saved.toLocaleString('en');
  return `the run is behind the checkpoint of step ${step} that was reported: its restore may have failed, or have taken an older one`;
}
