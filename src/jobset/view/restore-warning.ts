/** Warns if a group that runs again has not loaded its newest checkpoint. */
import type { JobSet } from '../jobset.ts';
import type { GroupProgress } from '../progress/group-progress.ts';
import { jobSetState } from './jobset-state.ts';

/** A program may name a checkpoint by a step before or after the step that it reports. */
const STEPS_OF_CHANCE = 2;
/** Clocks of the operator and of the reader may differ by this much. */
const CLOCK_NOISE_MS = 2000;

/**
 * Warns if the workers of the running epoch make steps below a checkpoint that an earlier epoch has
 * reported. The text does not change with each step. Undefined: nothing is wrong, or it is not known.
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
  // Agents report the last worker until the next one reports.
  const releasedForMs = nowMs - Date.parse(syncedTime ?? '');
  if (!(firstStepMs <= releasedForMs + CLOCK_NOISE_MS)) return undefined;
  // A worker may have written its first line before it loaded a checkpoint.
  if (stepsPerSecond === 0 || highestStep >= saved - STEPS_OF_CHANCE) return undefined;
  // The workers have loaded this checkpoint, or saved it themselves: they count steps again.
  if (checkpoint !== undefined && checkpoint >= saved) return undefined;
  // Steps that never reach the number of a checkpoint count something else.
  const isOther = (step = 0, number = 0): boolean => number > step + STEPS_OF_CHANCE;
  if (isOther(highestStep, checkpoint) || isOther(ended?.step ?? saved, ended?.checkpoint)) {
    return undefined;
  }
  const step = saved.toLocaleString('en');
  return `the run is behind the checkpoint of step ${step} that was reported: its restore may have failed, or have taken an older one`;
}
