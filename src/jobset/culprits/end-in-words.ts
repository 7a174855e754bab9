/** How a worker ended, in the words of suspects and messages. */
import type { WorkerEvidence } from '../worker-end/worker-evidence.ts';

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
export function hangInWords(evidence: WorkerEvidence | undefined): string | undefined {
  return evidence?.how === 'Hung' ? silenceInWords(evidence) : undefined;
}

/** How one worker made no progress: `made no progress for 61 s at step 330`. */
export function silenceInWords({ silentMs, step }: WorkerEvidence): string {
  if (silentMs === undefined) return 'never reported progress';
  const where = step === undefined ? '' : ` at step ${step}`;
  return `made no progress for ${Math.round(silentMs / 1000)} s${where}`;
}

/** An end that no failure of another worker can cause; undefined for other ends. */
export function fatalEnd(evidence: WorkerEvidence): string | undefined {
  const { signal, exitCode = 0, oom, byItself, how } = evidence;
  if (oom === true && (byItself === true || how === 'Hung')) {
    return `${endInWords(evidence)} after its memory had run out`;
  }
  if (byItself !== true) return undefined;
  if (signal !== undefined) return FATAL_SIGNALS.has(signal) ? endInWords(evidence) : undefined;
  for (const [name, number] of FATAL_SIGNALS) {
    if (exitCode === SHELL_CODES + number) return `${endInWords(evidence)} (${name})`;
  }
  return undefined;
}

export function endInWords(evidence: WorkerEvidence): string {
  return evidence.how === 'Hung' ? silenceInWords(evidence) : exitInWords(evidence);
}

/** `was killed by SIGKILL` or `exited with code 1` */
export function exitInWords({
  signal,
  exitCode,
}: Pick<WorkerEvidence, 'signal' | 'exitCode'>): string {
  if (signal !== undefined) return `was killed by ${signal}`;
  return exitCode === undefined ? 'ended' : `exited with code ${exitCode}`;
}
