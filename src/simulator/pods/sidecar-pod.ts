/** A Pod whose agent is a sidecar: its node starts and stops the agent and the worker, as containers. */
import type { PlayContainer, PlayedRun } from '@lockstep/embedded-kubernetes/in-memory';
import { type Clock, sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import { exitCodeOfSignal } from '@lockstep/kube/runtime/process-exit.ts';
import type { LeaveReason } from '../../agent/barrier-state.ts';
import { createSidecar, type Sidecar } from '../../agent/sidecar.ts';
import { exitCodeOf } from '../../agent/worker-exit.ts';
import {
  AGENT_CONTAINER_NAME,
  BARRIER_PATH,
  DEFAULT_RESTART_EXIT_CODE,
} from '../../jobset/names.ts';
import type { Exit } from '../../jobset/worker-end/worker-end.ts';
import { type AgentProcess, PodAgents, WatchedProgress } from './pod-agents.ts';
import type { SupervisedPodOptions } from './supervised-pod.ts';

export interface SidecarPodOptions extends SupervisedPodOptions {
  /** The node's. */
  readonly clock: Clock;
  /** Ends the agent's process at once. */
  readonly kill: () => void;
}

/** The probe comes once a second, and the agent holds each answer for the rest of that time. */
const BETWEEN_PROBES_MS = 200;
const KILLED: Exit = { signal: 'SIGKILL' };
const FAILED_EXIT_CODE = 1;
/** The epoch of a worker that no barrier has let through. */
const NEVER_RELEASED = Number.MAX_SAFE_INTEGER;

export class SidecarPod {
  readonly #options: SidecarPodOptions;
  readonly #agents: PodAgents;
  #agent: PlayedRun | undefined;
  #worker: PlayedRun | undefined;
  #progress: WatchedProgress | undefined;
  /** The epoch for which the barrier was lifted last. */
  #lifted: number | undefined;
  #epoch: number | undefined;
  #isOver = false;
  #silence: () => void = () => undefined;

  constructor(options: SidecarPodOptions) {
    this.#options = options;
    this.#agents = new PodAgents(options);
  }

  readonly play: PlayContainer = (name, run) => {
    if (this.#isOver) return () => run.exited(exitCodeOf(KILLED));
    return name === AGENT_CONTAINER_NAME ? this.#startAgent(run) : this.#startWorker(run);
  };

  /** The epoch in which the worker runs; undefined if none does. */
  get epoch(): number | undefined {
    return this.#epoch;
  }

  exit(exit: Exit): void {
    if (this.#worker !== undefined) this.#workerEnds(this.#worker, exit);
  }

  /** The worker does nothing more, and runs on. */
  hang(): void {
    this.#silence();
  }

  /** The agent dies. */
  crash(): void {
    this.#options.kill();
    this.#agent?.exited(exitCodeOf(KILLED));
  }

  /** All processes are gone at once, and none starts again. */
  die(): void {
    this.#isOver = true;
    this.crash();
    this.exit(KILLED);
  }

  #startAgent(run: PlayedRun): ReturnType<PlayContainer> {
    this.#agent = run;
    const { process, agent, body } = this.#agents.start(
      ({ clock }) => this.#bodyOf(clock),
      (reason) => this.#left(run, reason),
    );
    this.#progress = body.progress;
    this.#probe(body, process, run).catch((error: unknown) => {
      if (process.gone?.aborted !== true) throw error;
    });
    return (signal) => {
      if (signal === 'SIGTERM') agent.stop(signal);
      else this.crash();
    };
  }

  #bodyOf(clock: Clock): Sidecar & { readonly progress: WatchedProgress } {
    const sidecar = createSidecar(clock, BARRIER_PATH);
    const progress = new WatchedProgress(clock);
    return {
      ...sidecar,
      progress,
      lift: (epoch, ended) => {
        progress.begin(clock.monotonic());
        this.#lifted = epoch;
        sidecar.lift(epoch, ended);
      },
    };
  }

  /** As a node does it, until it succeeds or the process is gone. */
  async #probe({ handler }: Sidecar, { gone }: AgentProcess, run: PlayedRun): Promise<void> {
    const signal = gone ?? new AbortController().signal;
    while (!signal.aborted) {
      const answer = await handler({ method: 'GET', path: BARRIER_PATH, headers: {}, signal });
      if (answer.status === 200) return run.passed();
      await sleep(this.#options.clock, BETWEEN_PROBES_MS, signal);
    }
  }

  #left(run: PlayedRun, reason: LeaveReason | undefined): void {
    const { told, kill } = this.#options;
    kill();
    const isOver = reason?.type === 'EpochOver' || reason?.type === 'CutOff';
    if (isOver && this.#epoch !== undefined) told.stopped?.(this.#epoch);
    if (reason === undefined) run.exited(FAILED_EXIT_CODE);
    else if (reason.type === 'Signal') run.exited(exitCodeOfSignal(reason.signal));
    else run.exited(DEFAULT_RESTART_EXIT_CODE);
  }

  #startWorker(run: PlayedRun): ReturnType<PlayContainer> {
    const epoch = this.#lifted ?? NEVER_RELEASED;
    this.#worker = run;
    this.#epoch = epoch;
    const { train, told } = this.#options;
    this.#silence = train?.((line) => this.#progress?.report(line)) ?? this.#silence;
    told.started(epoch);
    return (signal) => {
      const delayMs = signal === 'SIGTERM' ? (this.#options.stopMs?.() ?? 0) : 0;
      const end = (): void => this.#workerEnds(run, { signal });
      if (delayMs === 0) end();
      else this.#options.clock.setTimer(delayMs, end);
    };
  }

  #workerEnds(run: PlayedRun, exit: Exit): void {
    const epoch = this.#epoch;
    if (this.#worker === run && epoch !== undefined) {
      this.#silence();
      this.#worker = undefined;
      this.#epoch = undefined;
      this.#options.told.ended?.(epoch, exit);
    }
    run.exited(exitCodeOf(exit));
  }
}
