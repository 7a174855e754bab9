/**
 * Looks into a worker that hangs, for people: its threads go into the log, and so does what a
 * command of the user prints. It is bounded in time and size, and can be cut short.
 */
import { ENV_WORKER_PID } from '../../jobset/names.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { Logger } from '../../runtime/ports/logger.ts';
import type {
  ProcessCommand,
  ProcessExit,
  ProcessRunner,
} from '../../runtime/ports/process-runner.ts';
import type { ProcessLooks, ThreadLook } from './process-looks.ts';

const COMMAND_LIMIT_MS = 10_000;
/** Limits what the command prints. */
const MAX_OUTPUT_BYTES = 64 * 1024;
/** Threads in one line of the log, which is then short enough to be written at once. */
const THREADS_PER_LINE = 16;

export interface HangLookOptions {
  /** A line of shell. */
  readonly command: string | undefined;
  /** Passes on a line that the command printed, without its end. */
  readonly say: (line: string) => void;
  readonly looks: ProcessLooks;
  readonly processes: ProcessRunner;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface HungWorker extends Pick<ProcessCommand, 'env' | 'cwd'> {
  readonly pid: number;
}

/** Resolves at the latest when `signal` aborts. Never rejects. */
export async function lookIntoHung(
  { pid, env, cwd }: HungWorker,
  options: HangLookOptions,
  signal: AbortSignal,
): Promise<void> {
  const { command, say, looks, processes, logger } = options;
  logThreads(looks.threads(pid), logger);
  if (command === undefined) return;
  const output = new BoundedLines(say);
  try {
    const running = await processes.start({
      argv: ['sh', '-c', command],
      env: { ...env, [ENV_WORKER_PID]: String(pid) },
      cwd,
      onOutput: (_stream, chunk) => output.add(chunk),
    });
    const exit = await inTime(running.exited, options, signal);
    running.signalGroup('SIGKILL');
    output.end();
    if (exit?.exitCode === 0 && !output.isCut) return;
    const problem = output.isCut ? 'it printed more than 64 KiB' : 'it failed';
    const late = signal.aborted ? 'the worker had to end' : 'it took longer than 10 s';
    logger.warn('the hang command did not complete', {
      problem: exit === undefined ? late : problem,
      ...exit,
    });
  } catch (error) {
    logger.warn('the hang command could not be started', { err: error });
  }
}

function logThreads(threads: readonly ThreadLook[], logger: Logger): void {
  for (let at = 0; at < threads.length; at += THREADS_PER_LINE) {
    logger.warn('threads of the hung worker', {
      threads: threads.slice(at, at + THREADS_PER_LINE),
    });
  }
}

function inTime(
  exited: Promise<ProcessExit>,
  { clock }: HangLookOptions,
  signal: AbortSignal,
): Promise<ProcessExit | undefined> {
  return new Promise((resolve) => {
    const settle = (exit?: ProcessExit): void => {
      timer.cancel();
      signal.removeEventListener('abort', giveUp);
      resolve(exit);
    };
    const giveUp = (): void => settle();
    const timer = clock.setTimer(COMMAND_LIMIT_MS, giveUp);
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    void exited.then(settle);
  });
}

class BoundedLines {
  isCut = false;
  readonly #say: (line: string) => void;
  readonly #decoder = new TextDecoder();
  #left = MAX_OUTPUT_BYTES;
  #begun = '';

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  add(chunk: Uint8Array): void {
    this.isCut ||= chunk.length > this.#left;
    const taken = chunk.subarray(0, this.#left);
    this.#left -= taken.length;
    const lines = (this.#begun + this.#decoder.decode(taken, { stream: true })).split('\n');
    this.#begun = lines.pop() ?? '';
    for (const line of lines) this.#say(line);
  }

  /** What comes later is dropped. */
  end(): void {
    if (this.#begun !== '') this.#say(this.#begun);
    this.#begun = '';
    this.#left = 0;
  }
}
