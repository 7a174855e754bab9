/** How a supervised worker ended, and what the rules of its container say about that. */

import type { ContainerRestartRule } from '@lockstep/kube/objects/pod.ts';
import { matchingAction, restartsPod } from '@lockstep/kube/objects/restart-rule.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { ProcessExit } from '@lockstep/kube/runtime/ports/process-runner.ts';
import { exitCodeOfSignal } from '@lockstep/kube/runtime/process-exit.ts';
import type { Exit, WorkerEnd } from '../jobset/worker-end/worker-end.ts';
import type { HungWorker } from './marker.ts';

/** The end of a worker that this agent has run. */
export interface OwnEnd extends WorkerEnd {
  readonly exit: Exit;
}

export function exitOf({ exitCode, signal }: ProcessExit): Exit {
  return signal === undefined ? { exitCode } : { signal };
}

/** The exit code, 0 to 255; for a death by signal as shells count. */
export function exitCodeOf(exit: Exit): number {
  return 'signal' in exit ? exitCodeOfSignal(exit.signal) : exit.exitCode;
}

/**
 * Whether the exit restarts the group without leaving the container: a rule says so, or there are
 * no rules and the worker failed. `Restart` counts too, because restarting this worker alone would
 * leave it in an epoch that the others have left. Unknown rules restart nothing: the agent exits
 * with the worker's code, and the kubelet applies the rules.
 */
export function restartsGroup(
  rules: readonly ContainerRestartRule[] | undefined,
  { how, exit }: OwnEnd,
): boolean {
  if (how === 'Hung') return true;
  if (rules === undefined) return false;
  const exitCode = exitCodeOf(exit);
  if (rules.length === 0) return exitCode !== 0;
  const action = matchingAction(rules, exitCode);
  return action === 'Restart' || restartsPod(action);
}

/** Why the last agent left its container, if its worker hung. */
export function endOfHung(
  hung: HungWorker | undefined,
  clock: Pick<Clock, 'now' | 'monotonic'>,
): OwnEnd | undefined {
  if (hung === undefined) return undefined;
  const { endedMs, ...silence } = hung;
  const atMs = clock.monotonic() - Math.max(0, clock.now() - endedMs);
  return { ...silence, how: 'Hung', exit: { signal: 'SIGKILL' }, restartsGroup: true, atMs };
}
