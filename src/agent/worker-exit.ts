/** How a supervised worker ended, and what that means by the rules of its container. */
import type { WorkerEnd } from '../jobset/notice.ts';
import type { ContainerRestartRule } from '../kube/pod.ts';
import { matchingAction, restartsPod } from '../kube/restart-rule.ts';
import type { ProcessExit } from '../runtime/ports/process-runner.ts';

export interface WorkerExit {
  readonly end: WorkerEnd;
  /** 0 to 255; for a signal `128 + number`, as shells and container runtimes have it. */
  readonly exitCode: number;
}

export function workerExit(exit: ProcessExit): WorkerExit {
  return exit.signal === undefined
    ? { end: { exitCode: exit.exitCode }, exitCode: exit.exitCode }
    : { end: { signal: exit.signal }, exitCode: exitCodeOfSignal(exit.signal) };
}

/**
 * Whether the exit restarts the group without leaving the container: a rule says so, or there are no
 * rules and the worker failed. `Restart` counts too, since the agent that would restart its worker
 * alone would leave it in an epoch that the others have left.
 */
export function restartsGroup(rules: readonly ContainerRestartRule[], exitCode: number): boolean {
  if (rules.length === 0) return exitCode !== 0;
  const action = matchingAction(rules, exitCode);
  return action === 'Restart' || restartsPod(action);
}

const SIGNAL_NUMBERS: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGTRAP: 5,
  SIGABRT: 6,
  SIGBUS: 7,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGUSR1: 10,
  SIGSEGV: 11,
  SIGUSR2: 12,
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
  SIGXCPU: 24,
  SIGXFSZ: 25,
  SIGSYS: 31,
};

const UNKNOWN_SIGNAL_EXIT_CODE = 255;

/** Linux' numbers, wherever the agent runs, so that rules mean the same everywhere. */
export function exitCodeOfSignal(signal: string): number {
  const number = SIGNAL_NUMBERS[signal];
  return number === undefined ? UNKNOWN_SIGNAL_EXIT_CODE : 128 + number;
}
