/** How a supervised worker ended, and what the rules of its container say about that. */

import type { ContainerRestartRule } from '@lockstep/kube/objects/pod.ts';
import { matchingAction, restartsPod } from '@lockstep/kube/objects/restart-rule.ts';
import type { ProcessExit } from '@lockstep/kube/runtime/ports/process-runner.ts';
import { exitCodeOf } from '@lockstep/kube/runtime/process-exit.ts';
import type { Exit } from '../jobset/worker-end/worker-end.ts';
import type { EndedWorker } from '../jobset/worker-end/worker-evidence.ts';

export interface WorkerExit {
  readonly end: Exit;
  /** As `exitCodeOf` counts. */
  readonly exitCode: number;
  /** The supervisor's knowledge of this end. */
  readonly ended?: EndedWorker;
  /** It made no progress and lived until the supervisor killed it for that. */
  readonly isHung?: true;
}

export function workerExit(exit: ProcessExit): WorkerExit {
  return exit.signal === undefined
    ? { end: { exitCode: exit.exitCode }, exitCode: exit.exitCode }
    : { end: { signal: exit.signal }, exitCode: exitCodeOf(exit) };
}

/**
 * Whether the exit restarts the group without leaving the container: a rule says so, or there are
 * no rules and the worker failed. `Restart` counts too, because restarting this worker alone would
 * leave it in an epoch that the others have left. Unknown rules restart nothing: the agent exits
 * with the worker's code, and the kubelet applies the rules.
 */
export function restartsGroup(
  rules: readonly ContainerRestartRule[] | undefined,
  exitCode: number,
): boolean {
  if (rules === undefined) return false;
  if (rules.length === 0) return exitCode !== 0;
  const action = matchingAction(rules, exitCode);
  return action === 'Restart' || restartsPod(action);
}
