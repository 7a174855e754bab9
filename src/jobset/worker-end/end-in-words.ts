/** How a worker ended, in the words of suspects and messages. */
import { type Exit, isByItself, type WorkerEnd } from './worker-end.ts';

/** Signals that no worker survives, whatever the others do. Shells add 128 for the exit code. */
const FATAL_SIGNALS: ReadonlyMap<string, number> = new Map([
  ['SIGILL', 4],
  ['SIGBUS', 7],
  ['SIGFPE', 8],
  ['SIGKILL', 9],
  ['SIGSEGV', 11],
]);
const SHELL_CODES = 128;

/** How a worker hung that its agent killed for that; undefined for another end. */
export function hangInWords(end: WorkerEnd): string | undefined {
  return end.how === 'Hung' ? silenceInWords(end) : undefined;
}

/** How one worker made no progress: `made no progress for 61 s at step 330`. */
export function silenceInWords({ silentMs, step }: WorkerEnd): string {
  if (silentMs === undefined) return 'never reported progress';
  const where = step === undefined ? '' : ` at step ${step}`;
  return `made no progress for ${Math.round(silentMs / 1000)} s${where}`;
}

/** An end that no failure of another worker can cause; undefined for other ends. */
export function fatalEnd(end: WorkerEnd): string | undefined {
  const { exit, oom, how } = end;
  if (oom === true && (isByItself(end) || how === 'Hung')) {
    return `${endInWords(end)} after its memory had run out`;
  }
  if (!isByItself(end) || exit === undefined) return undefined;
  if ('signal' in exit) return isFatal(exit) ? endInWords(end) : undefined;
  for (const [name, number] of FATAL_SIGNALS) {
    if (exit.exitCode === SHELL_CODES + number) return `${endInWords(end)} (${name})`;
  }
  return undefined;
}

/** Whether a process died of such a signal. */
export function isFatal(exit: Exit | undefined): boolean {
  return exit !== undefined && 'signal' in exit && FATAL_SIGNALS.has(exit.signal);
}

export function endInWords(end: WorkerEnd): string {
  return hangInWords(end) ?? exitInWords(end.exit);
}

/** How the failure of a member began: with a rank, as far as that is known, or with its own end. */
export function rankEndInWords(end: WorkerEnd): string {
  switch (end.firstRank) {
    case 'Raised':
      return 'raised an exception';
    case 'Killed':
      return 'died of a signal';
    case 'Silent':
      return 'ended without a word';
    case 'Left':
      return 'exited with code 0';
    case 'Open':
      return 'lost a process';
    case 'None':
    case undefined:
      break;
  }
  return endInWords(end);
}

/** `was killed by SIGKILL` or `exited with code 1` */
export function exitInWords(exit: Exit | undefined): string {
  if (exit === undefined) return 'ended';
  return 'signal' in exit ? `was killed by ${exit.signal}` : `exited with code ${exit.exitCode}`;
}
