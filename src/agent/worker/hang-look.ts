/**
 * Looks into a worker that hangs, for people: it logs the worker's threads, and the output of a
 * user's command. It is bounded in time and size, and can be cut short.
 */

import { defined } from '@lockstep/kube/json/defined.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type { ProcessCommand } from '@lockstep/kube/runtime/ports/process-runner.ts';
import { ENV_WORKER_PID } from '../../jobset/names.ts';
import { MAX_WHERE_BYTES } from '../../jobset/worker-end/ended.ts';
import { beginning } from '../../jobset/worker-end/limited-text.ts';
import type { ProcessLooks, ThreadLook } from './process-looks.ts';
import { runShell, type ShellOptions } from './shell-command.ts';

const LIMIT_MS = 10_000;
/** Threads in one line of the log, which is then short enough to be written at once. */
const THREADS_PER_LINE = 16;

export interface HangLookOptions extends ShellOptions {
  /** A line of shell. */
  readonly command: string | undefined;
  readonly looks: ProcessLooks;
  readonly logger: Logger;
}

export interface HungWorker extends Pick<ProcessCommand, 'env' | 'cwd'> {
  readonly pid: number;
  /** The local rank of the process; absent: the worker is one process. */
  readonly local?: number;
}

/**
 * Resolves at the latest when `signal` aborts, with where the worker is if the command printed that.
 * Never rejects.
 */
export async function lookIntoHung(
  { pid, env, cwd, local }: HungWorker,
  options: HangLookOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { command, looks, logger } = options;
  logThreads(looks.threads(pid), local, logger);
  if (command === undefined) return undefined;
  let where: string | undefined;
  const say = (line: string): void => {
    where ??= placeIn(line);
    options.say(line);
  };
  try {
    const shell = {
      script: [command],
      env: { ...env, [ENV_WORKER_PID]: String(pid) },
      cwd,
    } as const;
    const { exit, isCut } = await runShell(
      { ...shell, limitMs: LIMIT_MS },
      { ...options, say },
      signal,
    );
    if (exit?.exitCode === 0 && !isCut) return where;
    const problem = isCut ? 'it printed more than 64 KiB' : 'it failed';
    const late = signal.aborted ? 'the worker had to end' : 'it took longer than 10 s';
    logger.warn('the hang command did not complete', {
      problem: exit === undefined ? late : problem,
      ...defined({ local }),
      ...exit,
    });
  } catch (error) {
    logger.warn('the hang command could not be started', { err: error });
  }
  return where;
}

/** Undefined for a line that is not `where=<text>`. */
function placeIn(line: string): string | undefined {
  const [, text = ''] = /^where=(.*)$/s.exec(line.replaceAll('\0', '')) ?? [];
  return beginning(text.trim(), MAX_WHERE_BYTES) || undefined;
}

function logThreads(
  threads: readonly ThreadLook[],
  local: number | undefined,
  logger: Logger,
): void {
  for (let at = 0; at < threads.length; at += THREADS_PER_LINE) {
    logger.warn('threads of the hung worker', {
      ...defined({ local }),
      threads: threads.slice(at, at + THREADS_PER_LINE),
    });
  }
}
