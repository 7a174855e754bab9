/**
 * Checks the machine after a worker that failed, with a command of the user. Its result may move the
 * member to another node, so a command that cannot run at all counts as passed.
 */

import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type { ProcessCommand, ProcessExit } from '@lockstep/kube/runtime/ports/process-runner.ts';
import type { Random } from '@lockstep/kube/runtime/ports/random.ts';
import { workerEnvironment } from '../../jobset/injection/worker-environment.ts';
import { ENV_WORKER } from '../../jobset/names.ts';
import { MAX_UNFIT_BYTES } from '../../jobset/worker-end/ended.ts';
import { lastLines } from '../../jobset/worker-end/limited-text.ts';
import { runShell, type ShellOptions } from './shell-command.ts';

const LIMIT_MS = 60_000;
const TOOK_TOO_LONG = 'it took longer than 60 s';

/** The exit codes of shells for what cannot be executed, and for what is missing. */
const CANNOT_RUN_CODES: ReadonlySet<number | undefined> = new Set([126, 127]);
/** A line that the shell cannot parse would exit with 2, like many commands that find a fault. */
const PARSED_FIRST = 'sh -n -c "$1" || exit 126; exec sh -c "$1"';

export interface PreflightOptions extends ShellOptions {
  /** The worker, with the environment and the directory of the agent. */
  readonly command: ProcessCommand;
  readonly random: Random;
  readonly logger: Logger;
}

/**
 * Runs a line of shell. Resolves with why it did not pass, once its processes are gone, soon after
 * `signal` aborts. Never rejects. It has no epoch, because it is not a worker's process.
 */
export async function runPreflight(
  line: string,
  options: PreflightOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { command, processes, random, logger } = options;
  const id = random.uuid();
  const env = { ...workerEnvironment(command.env), [ENV_WORKER]: id };
  const shell = { script: [PARSED_FIRST, 'sh', line], env, cwd: command.cwd } as const;
  logger.info('runs the preflight');
  try {
    const { exit, tail } = await runShell({ ...shell, limitMs: LIMIT_MS }, options, signal);
    await processes.killByEnvironment(ENV_WORKER, id);
    if (exit === undefined && signal.aborted) logger.info('the preflight was cut short');
    else if (exit?.exitCode === 0) logger.info('the preflight passed');
    else if (exit !== undefined && CANNOT_RUN_CODES.has(exit.exitCode)) {
      logger.warn('the preflight cannot run, so it says nothing', { ...exit });
    } else {
      const unfit = exit === undefined ? TOOK_TOO_LONG : lastLine(tail) || inWords(exit);
      logger.warn('the preflight did not pass', { unfit, ...exit });
      return unfit;
    }
  } catch (error) {
    logger.warn('the preflight could not be started', { err: error });
  }
  return undefined;
}

/** Empty if there is none. */
function lastLine(text: string): string {
  const lines = text.replaceAll('\0', '').split(/[\n\v\f\r\u0085\u2028\u2029]/);
  const line = lines.findLast((each) => each.trim() !== '') ?? '';
  return lastLines(line.trim(), MAX_UNFIT_BYTES);
}

function inWords({ exitCode, signal }: ProcessExit): string {
  return signal === undefined ? `it exited with ${exitCode}` : `${signal} ended it`;
}
