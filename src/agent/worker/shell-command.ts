/** Runs a command of the user beside or after the worker, bounded in time and output. */
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type {
  ProcessCommand,
  ProcessExit,
  ProcessRunner,
} from '@lockstep/kube/runtime/ports/process-runner.ts';
import { StreamTail } from './last-words.ts';

/** Limits how much of its output is passed on. */
const MAX_OUTPUT_BYTES = 64 * 1024;

export interface ShellOptions {
  /** Passes on a line that the command printed, without its end. */
  readonly say: (line: string) => void;
  readonly processes: ProcessRunner;
  readonly clock: Clock;
}

export interface ShellCommand extends Pick<ProcessCommand, 'env' | 'cwd'> {
  /** The arguments after `sh -c`. */
  readonly script: readonly [string, ...string[]];
  readonly limitMs: number;
}

export interface ShellEnd {
  /** Undefined: it was killed, because its time was over or `signal` aborted. */
  readonly exit: ProcessExit | undefined;
  /** The output was longer than the limit. */
  readonly isCut: boolean;
  /** The end of the output. */
  readonly tail: string;
}

/**
 * Resolves at the latest when `signal` aborts, and has killed its process group then. Rejects if
 * there is no shell.
 */
export async function runShell(
  { script, env, cwd, limitMs }: ShellCommand,
  { say, processes, clock }: ShellOptions,
  signal: AbortSignal,
): Promise<ShellEnd> {
  const output = new BoundedLines(say);
  const tail = new StreamTail();
  const running = await processes.start({
    argv: ['sh', '-c', ...script],
    env,
    cwd,
    onOutput: (_stream, chunk) => {
      tail.add(chunk, clock.monotonic());
      output.add(chunk);
    },
  });
  const exit = await inTime(running.exited, clock, limitMs, signal);
  running.signalGroup('SIGKILL');
  output.end();
  return { exit, isCut: output.isCut, tail: tail.text };
}

function inTime(
  exited: Promise<ProcessExit>,
  clock: Clock,
  limitMs: number,
  signal: AbortSignal,
): Promise<ProcessExit | undefined> {
  return new Promise((resolve) => {
    const settle = (exit?: ProcessExit): void => {
      timer.cancel();
      signal.removeEventListener('abort', giveUp);
      resolve(exit);
    };
    const giveUp = (): void => settle();
    const timer = clock.setTimer(limitMs, giveUp);
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

  /** Drops later output. */
  end(): void {
    if (this.#begun !== '') this.#say(this.#begun);
    this.#begun = '';
    this.#left = 0;
  }
}
