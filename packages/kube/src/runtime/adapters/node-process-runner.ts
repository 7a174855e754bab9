/** Runs processes of the operating system. */
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

/** Each process leads a session, and so a group, of its own, except those that use our terminal. */
export function createNodeProcessRunner(): ProcessRunner {
  const killer = new EnvironmentKiller();
  return {
    start,
    killByEnvironment: (name, value) => killer.kill(name, value),
  };
}

/** How long the output of an ended process may pause before it counts as complete. */
const OUTPUT_PAUSE_MS = 50;
/** How long the output of a descendant is read after the process ended. */
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
  // A process may end, or close its input, with unread input.
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

/** Resolves once the program runs. The caller must read the output in the same turn. */
function spawned(command: ProcessCommand): Promise<ChildProcess> {
  const [program, ...args] = command.argv;
  const isAsked = command.user === 'Asked';
  const output = command.onOutput === undefined ? 'inherit' : 'pipe';
  const input = command.takesInput === true ? 'pipe' : 'ignore';
  const { stdout = output, stderr = output } = command.streams ?? {};
  const stdio: StdioOptions = [
    isAsked ? 'inherit' : input,
    stdout,
    command.user === undefined ? stderr : 'inherit',
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

/** Says in the system's words what could not be executed, and names the faulty part. */
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

/** `code` is an error code such as `ENOENT`. */
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

/** Resolves `exited` after the process ended and its output was delivered. */
class OutputWatch {
  readonly exited: Promise<ProcessExit>;
  readonly #child: ChildProcess;
  /** How many callers currently hold the output. */
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
   * Treats silence as the end of the output, because a descendant may keep the pipe open for ever.
   * The pipe is polled once more, because this process itself may have been held up.
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

/** `target` is an argument of `kill`: negative for a group. */
function groupSignaller(target: number): (signal: ProcessSignal) => void {
  let isGone = false;
  return (signal) => {
    if (isGone) return;
    try {
      process.kill(target, signal);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error;
      // Once the group is gone, another process may get its number: never signal it again. macOS
      // answers EPERM for a group of zombies.
      if (error.code === 'ESRCH') isGone = true;
      else if (error.code !== 'EPERM') throw error;
    }
  };
}
