import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import type { Writable } from 'node:stream';
import {
  type ProcessCommand,
  type ProcessExit,
  type ProcessInput,
  type ProcessRunner,
  type ProcessSignal,
  ProcessStartError,
  type RunningProcess,
} from '../ports/process-runner.ts';
import { EnvironmentKiller } from './environment-killer.ts';

/**
 * Processes of this machine. Each is the leader of a new session, and so of a group of its own, but
 * for those that ask at our terminal.
 */
export function createNodeProcessRunner(): ProcessRunner {
  const killer = new EnvironmentKiller();
  return {
    start,
    killByEnvironment: (name, value) => killer.kill(name, value),
  };
}

/** After the process ended, output that is still in the pipe may take this long without a pause. */
const OUTPUT_PAUSE_MS = 50;
/** A descendant that goes on writing into the pipe is not listened to for longer than this. */
const OUTPUT_LIMIT_MS = 1_000;

async function start(command: ProcessCommand): Promise<RunningProcess> {
  const child = await spawned(command);
  const { pid, stdout, stderr } = child;
  if (pid === undefined) throw new ProcessStartError('the process has no identifier', 'ESRCH');
  const output = new OutputWatch(child);
  const { onOutput } = command;
  if (onOutput !== undefined) {
    stdout?.on('data', (chunk: Buffer) => {
      output.received();
      onOutput('stdout', chunk);
    });
    stderr?.on('data', (chunk: Buffer) => {
      output.received();
      onOutput('stderr', chunk);
    });
  }
  return {
    pid,
    exited: output.exited,
    signalGroup: groupSignaller(command.user === 'Asked' ? pid : -pid),
    ...(child.stdin === null ? {} : { input: inputOf(child.stdin) }),
    holdOutput: (until) => output.hold(until),
  };
}

function inputOf(stdin: Writable): ProcessInput {
  // A process may end, or close its input, with something unread in it.
  stdin.on('error', () => undefined);
  return {
    write: (chunk) =>
      new Promise((resolve) => {
        if (stdin.destroyed || stdin.writableEnded) resolve();
        else stdin.write(chunk, () => resolve());
      }),
    end: () => void stdin.end(),
  };
}

/** Resolves once the program runs. The output must be read from then on, in the same turn. */
function spawned(command: ProcessCommand): Promise<ChildProcess> {
  const [program, ...args] = command.argv;
  const isAsked = command.user === 'Asked';
  const output = command.onOutput === undefined ? 'inherit' : 'pipe';
  const input = command.takesInput === true ? 'pipe' : 'ignore';
  const stdio: StdioOptions = [
    isAsked ? 'inherit' : input,
    output,
    command.user === undefined ? output : 'inherit',
  ];
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown): void => reject(startError(command, cause));
    try {
      const { env, cwd } = command;
      const child = spawn(program, args, { env, cwd, stdio, detached: !isAsked });
      child.once('error', fail);
      child.once('spawn', () => {
        child.off('error', fail);
        child.on('error', () => undefined);
        resolve(child);
      });
    } catch (error) {
      fail(error);
    }
  });
}

/** Says what could not be executed, in the words of the system, and which part is to blame. */
function startError(command: ProcessCommand, cause: unknown): ProcessStartError {
  const [program] = command.argv;
  const code =
    cause instanceof Error && 'code' in cause && typeof cause.code === 'string'
      ? cause.code
      : 'EINVAL';
  if (!isDirectory(command.cwd)) {
    const message = `working directory ${JSON.stringify(command.cwd)}: not a directory`;
    return new ProcessStartError(message, code === 'ENOENT' ? 'ENOENT' : 'ENOTDIR', cause);
  }
  return executionError(program, code, cause);
}

/** `code` as `ENOENT`. */
export function executionError(program: string, code: string, cause?: unknown): ProcessStartError {
  const why =
    code === 'ENOENT' && !program.includes('/')
      ? 'executable file not found in PATH'
      : (SYSTEM_TEXTS[code] ?? (cause instanceof Error ? cause.message : code));
  return new ProcessStartError(`exec ${JSON.stringify(program)}: ${why}`, code, cause);
}

const SYSTEM_TEXTS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
  E2BIG: 'argument list too long',
  ENOEXEC: 'exec format error',
};

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Resolves `exited` after the process ended and what it wrote was handed over. */
class OutputWatch {
  readonly exited: Promise<ProcessExit>;
  readonly #child: ChildProcess;
  /** How many reasons there are to deliver nothing now. */
  #holds = 0;
  #isQuiet = true;
  #timer: NodeJS.Timeout | undefined;

  constructor(child: ChildProcess) {
    this.#child = child;
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        const end = (): void => {
          clearTimeout(this.#timer);
          resolve(exitOf(code, signal));
        };
        child.once('close', end);
        this.#whenQuiet(performance.now() + OUTPUT_LIMIT_MS, () => {
          child.stdout?.destroy();
          child.stderr?.destroy();
          end();
        });
      });
    });
  }

  received(): void {
    this.#isQuiet = false;
  }

  hold(until: Promise<unknown>): void {
    const { stdout, stderr } = this.#child;
    this.#holds++;
    stdout?.pause();
    stderr?.pause();
    const resume = (): void => {
      if (--this.#holds > 0) return;
      this.received();
      stdout?.resume();
      stderr?.resume();
    };
    until.then(resume, resume);
  }

  /**
   * A descendant may keep the pipe open for ever, so silence counts as its end. Time alone is no
   * silence: the pipe is polled once more, in case this process itself was held up.
   */
  #whenQuiet(deadline: number, done: () => void): void {
    this.#isQuiet = true;
    const look = (): void => {
      if (this.#holds > 0) this.#whenQuiet(performance.now() + OUTPUT_LIMIT_MS, done);
      else if (this.#isQuiet || performance.now() > deadline) done();
      else this.#whenQuiet(deadline, done);
    };
    this.#timer = setTimeout(() => setImmediate(look), OUTPUT_PAUSE_MS);
  }
}

function exitOf(code: number | null, signal: NodeJS.Signals | null): ProcessExit {
  return signal === null
    ? { exitCode: code ?? 0, signal: undefined }
    : { exitCode: undefined, signal };
}

/** `target` as `kill` has it: negative for a group. */
function groupSignaller(target: number): (signal: ProcessSignal) => void {
  let isGone = false;
  return (signal) => {
    if (isGone) return;
    try {
      process.kill(target, signal);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error;
      // Once the group is gone its number may be given to strangers: never signal it again. EPERM is
      // what macOS says for a group of zombies.
      if (error.code === 'ESRCH') isGone = true;
      else if (error.code !== 'EPERM') throw error;
    }
  };
}
