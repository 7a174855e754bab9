/** Puts a supervisor together from its configuration and from this process. */
import { join } from 'node:path';
import { isatty } from 'node:tty';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { createNodeProcessRunner } from '@lockstep/kube/runtime/adapters/node-process-runner.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type { Configuration, WorkerCommand } from '../configuration.ts';
import { createSupervisor, type Supervisor } from '../supervisor.ts';
import { type OutputSink, openSink } from './output-sink.ts';
import { createProcLooks, ownCgroup } from './proc-looks.ts';
import { createProcRanks } from './proc-ranks.ts';
import { createProcessPriorities } from './process-priorities.ts';
import { createWorkerFiles, createWorkerMessages } from './worker-files.ts';
import { createWorkerPipes } from './worker-pipes.ts';
import { workerProgram } from './worker-program.ts';
import { programOnPath } from './worker-shell.ts';

export interface OwnSupervisorOptions {
  readonly configuration: Configuration;
  readonly worker: WorkerCommand;
  /** Our standard error, to which the log goes too. */
  readonly errors: OutputSink;
  readonly logger: Logger;
}

export function createOwnSupervisor(options: OwnSupervisorOptions): Supervisor {
  const { configuration, worker, errors, logger } = options;
  const { root, restartRules: rules, stopGraceMs, markerDirectory } = configuration;
  const { progressPrefix, hangCommand, hasStandby, preflight } = configuration;
  const { lastWords, terminationMessagePath, ownRanks } = configuration;
  const [program, ...rest] = argumentsOf(worker);
  const directory = markerDirectory === undefined ? undefined : join(root, markerDirectory);
  const hasPrefix = progressPrefix !== undefined;
  const processes = ownRanks?.processes ?? 1;
  // Lines of several processes must not mix.
  const isRelayed = hasPrefix || (ownRanks !== undefined && lastWords !== 'Files');
  return createSupervisor({
    command: {
      argv: [workerProgram(root, program), ...rest],
      env: definedVariables(process.env),
      cwd: process.cwd(),
    },
    rules,
    stopGraceMs,
    progressPrefix,
    hangCommand,
    preflight,
    hasStandby,
    hasLastWords: lastWords !== 'Off',
    ...(ownRanks === undefined ? {} : { hasLogPrefix: ownRanks.hasLogPrefix }),
    terminationMessagePath: join(root, terminationMessagePath),
    files: createWorkerFiles(directory, logger, processes),
    messages: createWorkerMessages(logger),
    output: createWorkerPipes({
      sinks: {
        ...(isRelayed ? { stdout: openSink(1) } : {}),
        ...(isRelayed || (lastWords === 'All' && !isatty(2)) ? { stderr: errors } : {}),
      },
      path: process.env['PATH'] ?? '',
      directory,
      processes,
      logger,
    }),
    looks: createProcLooks({
      clock: nodeClock,
      // The containers of the embedded cluster, which has a root of its own, share a cgroup.
      cgroup: root === '' ? ownCgroup() : undefined,
    }),
    rankLooks: createProcRanks(),
    priorities: createProcessPriorities(),
    say: (line) => void errors.write(`${line}\n`),
    processes: createNodeProcessRunner(),
    clock: nodeClock,
    random: systemRandom,
    logger,
  });
}

/** There is neither `SHELL` nor bash to run `WORKER_COMMAND`. */
export class NoShellError extends Error {
  override readonly name = 'NoShellError';
}

function argumentsOf(worker: WorkerCommand): readonly [string, ...string[]] {
  if (worker.kind === 'Arguments') return worker.argv;
  const path = process.env['PATH'] ?? '';
  const shell = worker.shell ?? programOnPath('bash', path);
  if (shell === undefined) {
    const why = `no shell for the worker: SHELL is not set, and PATH, ${JSON.stringify(path)}, has no bash`;
    throw new NoShellError(why);
  }
  return [shell, '-c', worker.line];
}

function definedVariables(env: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
