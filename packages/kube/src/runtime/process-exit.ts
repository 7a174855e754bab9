import type { ProcessExit } from './ports/process-runner.ts';

/**
 * The exit code, 0 to 255; for a death by signal 128 + its number, as in shells and container
 * runtimes.
 */
export function exitCodeOf(exit: ProcessExit): number {
  return exit.signal === undefined ? exit.exitCode : exitCodeOfSignal(exit.signal);
}

export function exitCodeOfSignal(signal: string): number {
  const number = SIGNAL_NUMBERS[signal];
  return number === undefined ? UNKNOWN_SIGNAL_EXIT_CODE : 128 + number;
}

/** Linux's numbers, on any system, so that restart rules mean the same everywhere. */
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
