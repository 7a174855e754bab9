/**
 * The agent as the entry point of the worker container. It starts the worker when the barrier
 * lifts, stops it when its epoch is over, and judges its exit by the container's own rules. As in a
 * container, all processes that the worker started end with it.
 */
import { workerEnvironment } from '../jobset/injection/worker-environment.ts';
import { ENV_EPOCH, ENV_WORKER } from '../jobset/names.ts';
import type { ContainerRestartRule } from '../kube/objects/pod.ts';
import type { Clock, Timer } from '../runtime/ports/clock.ts';
import type { Logger } from '../runtime/ports/logger.ts';
import {
  type ProcessCommand,
  type ProcessRunner,
  type ProcessSignal,
  ProcessStartError,
  type RunningProcess,
} from '../runtime/ports/process-runner.ts';
import type { Random } from '../runtime/ports/random.ts';
import type { Body } from './agent.ts';
import { ProgressWatch } from './progress/progress-watch.ts';
import { restartsGroup, type WorkerExit, workerExit } from './worker-exit.ts';

export interface SupervisorOptions {
  /** The worker, with the environment and the directory of the agent. */
  readonly command: ProcessCommand;
  /**
   * The container's restart rules; undefined: not known, so no exit restarts the group from here.
   */
  readonly rules: readonly ContainerRestartRule[] | undefined;
  /** The time between SIGTERM and SIGKILL. */
  readonly stopGraceMs: number;
  readonly processes: ProcessRunner;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

export interface Supervisor extends Body {
  /** Hands a signal on to the worker; false if there is none. */
  forward(signal: ProcessSignal): boolean;
}

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const progress = new ProgressWatch();
  let worker: Worker | undefined;
  return {
    mode: 'Supervisor',
    progress,
    lift: (epoch, ended) => {
      const started = new Worker(options, epoch);
      worker = started;
      progress.begin(options.clock.monotonic());
      void started.ended.then((exit) => {
        worker = undefined;
        ended(exit, restartsGroup(options.rules, exit.exitCode));
      });
    },
    stopWorker: ({ isSilent }) => (isSilent ? worker?.killHung() : worker?.stop()),
    killHung: () => worker?.killHung(),
    hurry: () => undefined,
    forward: (signal) => {
      worker?.signal(signal);
      return worker !== undefined;
    },
  };
}

/** The exit codes of shells for a program that is missing, and for one that cannot be executed. */
const NOT_FOUND_EXIT_CODE = 127;
const NOT_EXECUTABLE_EXIT_CODE = 126;

/** One run of the worker, from before its process exists until all of its descendants are gone. */
class Worker {
  readonly ended: Promise<WorkerExit>;
  readonly #options: SupervisorOptions;
  #child: RunningProcess | undefined;
  /** Signals that came before the process existed. */
  readonly #early: ProcessSignal[] = [];
  #killTimer: Timer | undefined;
  #isHung = false;

  constructor(options: SupervisorOptions, epoch: number) {
    this.#options = options;
    this.ended = this.#run(epoch);
  }

  signal(signal: ProcessSignal): void {
    if (this.#child === undefined) this.#early.push(signal);
    else this.#child.signalGroup(signal);
  }

  stop(): void {
    this.signal('SIGTERM');
    const { clock, stopGraceMs } = this.#options;
    this.#killTimer ??= clock.setTimer(stopGraceMs, () => this.signal('SIGKILL'));
  }

  killHung(): void {
    this.#isHung = true;
    this.signal('SIGKILL');
  }

  async #run(epoch: number): Promise<WorkerExit> {
    const { command, processes, random, logger } = this.#options;
    const id = random.uuid();
    const own = workerEnvironment(command.env);
    const env = { ...own, [ENV_EPOCH]: String(epoch), [ENV_WORKER]: id };
    try {
      this.#child = await processes.start({ ...command, env });
    } catch (error) {
      this.#killTimer?.cancel();
      if (!(error instanceof ProcessStartError)) throw error;
      logger.error('the worker could not be started', { err: error.message, epoch });
      const isMissing = error.code === 'ENOENT';
      return workerExit({
        exitCode: isMissing ? NOT_FOUND_EXIT_CODE : NOT_EXECUTABLE_EXIT_CODE,
        signal: undefined,
      });
    }
    for (const signal of this.#early) this.#child.signalGroup(signal);
    const exit = await this.#child.exited;
    this.#killTimer?.cancel();
    this.#child.signalGroup('SIGKILL');
    await processes.killByEnvironment(ENV_WORKER, id);
    return this.#isHung ? { ...workerExit(exit), isHung: true } : workerExit(exit);
  }
}
