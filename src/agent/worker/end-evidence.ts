/** Combines a supervisor's knowledge of the end of its worker. */

import { defined } from '@lockstep/kube/json/defined.ts';
import type { ProcessExit } from '@lockstep/kube/runtime/ports/process-runner.ts';
import type { HowEnded, WorkerEvidence } from '../../jobset/worker-end/worker-evidence.ts';
import type { ProgressWatch } from '../progress/progress-watch.ts';
import type { SeenProcesses } from './tree-watch.ts';

export interface WorkerEnding {
  readonly exit: ProcessExit;
  /** How we ended the worker; undefined: it ended by itself. */
  readonly told: 'Stopped' | 'Killed' | 'Hung' | undefined;
  readonly hadOom: boolean;
  /** The watch at the end of the worker. */
  readonly watch: ProgressWatch;
  readonly seen: SeenProcesses;
  /** The place that a look into the worker found. */
  readonly where: string | undefined;
  /** How long before its end it failed, from `failedMsOf`. */
  readonly failedMs: number | undefined;
  readonly lastWords: string | undefined;
  /** How long before the end it wrote its last words. */
  readonly saidMs: number | undefined;
}

/** A step counts from the look that found it, which may be this late. */
const STEP_LAG_MS = 1000;

/**
 * How long before its end a worker failed, by its first traceback. If the worker made a step after
 * it, it survives exceptions, so its tracebacks prove nothing. A traceback after an order to stop, or
 * before the first step, proves nothing either.
 */
export function failedMsOf(
  tracebackMs: number | undefined,
  times: {
    readonly steppedMs: number | undefined;
    readonly toldMs: number;
    readonly endMs: number;
  },
): number | undefined {
  const { steppedMs, toldMs, endMs } = times;
  if (tracebackMs === undefined || steppedMs === undefined || tracebackMs > toldMs)
    return undefined;
  if (tracebackMs < steppedMs - STEP_LAG_MS) return undefined;
  // The end of a process may be seen before the last of its output.
  return Math.max(0, endMs - tracebackMs);
}

export function evidenceOf(ending: WorkerEnding): WorkerEvidence {
  const { exit, told, hadOom, watch, seen, where, failedMs, lastWords, saidMs } = ending;
  const { exitCode, signal } = exit;
  const byItself: HowEnded = signal === undefined ? 'Exited' : 'Signaled';
  const { progress, longestMs } = watch;
  return {
    how: told ?? byItself,
    ...defined({
      exitCode,
      signal,
      oom: hadOom || undefined,
      byItself: told === undefined || undefined,
      silentMs: whole(progress?.silentMs),
      longestMs: whole(longestMs),
      step: progress?.step,
      inPhase: isInPhase(watch) || undefined,
      // Looks while it ran do not show its state when it ended by itself.
      ...seen,
      ...(told === undefined ? { states: undefined, stoppedMs: undefined } : { where }),
      failedMs: whole(failedMs),
      saidMs: lastWords === undefined ? undefined : whole(saidMs),
      lastWords,
    }),
  };
}

function isInPhase({ allowedSilence, silentMs }: ProgressWatch): boolean {
  if (allowedSilence === undefined) return false;
  return allowedSilence === 'Unlimited' || silentMs <= allowedSilence;
}

function whole(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms);
}
