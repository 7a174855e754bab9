/**
 * The runs of one Pod's containers: it starts, takes over and stops them as `pod/pod-step.ts`
 * decides, and reports the results.
 */
import type { Container } from '@lockstep/kube/objects/pod.ts';
import { ProcessStartError } from '@lockstep/kube/runtime/ports/process-runner.ts';
import { KEPT_RUNS, removeOldLog } from '../log/container-log.ts';
import type { ContainerKind } from '../pod-containers.ts';
import type { NodeContext } from '../ports/node-context.ts';
import type { ProbeKind } from '../probe/probe-worker.ts';
import { LaunchBlockedError, markerOf, prepareLaunch, type Sandbox } from './container-launch.ts';
import type { ContainerExit } from './container-process.ts';
import type { Running } from './container-record.ts';
import {
  type ContainerFailure,
  type ContainerListener,
  RunningContainer,
} from './running-container.ts';

/** Short, because the node itself stops. */
const SHUTDOWN_GRACE_MS = 1_000;

/** A run of a container, and how it is made. */
export interface StartOrder {
  readonly container: Container;
  readonly kind: ContainerKind;
  /** The number of the run. */
  readonly restart: number;
}

/** A run that an earlier life of the node has started, or was about to. */
export interface TakeOver {
  readonly container: Container;
  readonly restart: number;
  /** What is known of it; undefined if its start was still to be reported. */
  readonly run: Running | undefined;
}

export type ContainerNews = { readonly name: string } & (
  | { readonly type: 'started'; readonly containerID: string; readonly startedMs: number }
  /** Its command cannot be executed. */
  | { readonly type: 'notStarted'; readonly why: string; readonly containerID: string }
  /** The start could not even be tried; `mayPass`: what is missing can still appear. */
  | {
      readonly type: 'blocked';
      readonly reason: string;
      readonly message: string;
      readonly mayPass: boolean;
    }
  /** `wasOver`: it had ended before. */
  | { readonly type: 'takenOver'; readonly wasOver: boolean }
  | { readonly type: 'missing' }
  | ({ readonly type: 'exited' } & ContainerExit)
  /** `Startup` also stands for the postStart hook of a container without that probe. */
  | {
      readonly type: 'probed';
      readonly probe: ProbeKind;
      readonly verdict: 'success' | 'failure';
    }
);

export type NewsOf<T extends ContainerNews['type']> = Extract<ContainerNews, { readonly type: T }>;

export interface ContainerRunsOptions {
  readonly context: NodeContext;
  readonly podUid: string;
  /** For the present Pod. */
  readonly sandbox: () => Sandbox;
  /** Resolves once the present records are on file. */
  readonly saved: () => Promise<void>;
  readonly tell: (news: ContainerNews) => void;
  /** A probe attempt or a hook failed, which is worth an Event. */
  readonly onFailure: (name: string, reason: ContainerFailure, note: string) => void;
}

export class ContainerRuns {
  readonly #options: ContainerRunsOptions;
  readonly #running = new Map<string, RunningContainer>();
  /** Starts and stops that are under way; none rejects. */
  readonly #work = new Set<Promise<void>>();
  #isClosed = false;

  constructor(options: ContainerRunsOptions) {
    this.#options = options;
  }

  /** The container's process while there is one. */
  running(name: string): RunningContainer | undefined {
    return this.#running.get(name);
  }

  start(order: StartOrder): void {
    this.#track(this.#start(order));
  }

  /** Takes over what is there of the runs, one after the other. */
  async takeOver(runs: readonly TakeOver[]): Promise<void> {
    for (const run of runs) await this.#takeOver(run);
  }

  /** Asks it to end and kills it after `graceMs`; nothing if there is no process. */
  stop(name: string, graceMs: number, runsPreStop: boolean): void {
    const one = this.#running.get(name);
    if (one !== undefined) this.#track(one.stop(graceMs, runsPreStop));
  }

  /** Whatever still runs after the delay is killed. */
  killAfter(delayMs: number): void {
    for (const { main } of this.#running.values()) main.killAfter(delayMs);
  }

  /** Ends every process, and resolves when none is left. */
  async shutDown(): Promise<void> {
    this.#isClosed = true;
    const left = [...this.#running.values()];
    for (const one of left) this.#track(one.stop(SHUTDOWN_GRACE_MS, false));
    await Promise.all(left.map(({ main }) => main.exited));
    // A start that was under way ends its process when it notices.
    while (this.#work.size > 0) await Promise.all(this.#work);
  }

  async #start({ container, kind, restart }: StartOrder): Promise<void> {
    const { name } = container;
    const { context, tell } = this.#options;
    try {
      const sandbox = this.#sandboxFor(container, kind);
      const launch = await prepareLaunch(context, sandbox, container, restart);
      removeOldLog(context.files, `${sandbox.logDirectory}/${name}`, restart - KEPT_RUNS);
      await this.#options.saved();
      const listener = this.#listener(name);
      const one = await RunningContainer.start(
        context,
        sandbox,
        container,
        launch,
        restart,
        listener,
      );
      if (this.#isClosed) {
        await one.stop(SHUTDOWN_GRACE_MS, false);
        await one.main.exited;
      } else {
        this.#started(name, one);
      }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (error instanceof ProcessStartError) {
        const containerID = `lockstep://${context.random.uuid().replaceAll('-', '')}`;
        tell({ type: 'notStarted', name, why: message, containerID });
      } else {
        const isKnown = error instanceof LaunchBlockedError;
        const reason = isKnown ? error.reason : 'CreateContainerError';
        tell({ type: 'blocked', name, reason, message, mayPass: !isKnown || error.mayPass });
      }
    }
  }

  async #takeOver({ container, restart, run }: TakeOver): Promise<void> {
    const { context, podUid, sandbox, tell } = this.#options;
    const { name } = container;
    const known = {
      marker: markerOf(podUid, name, restart),
      restart,
      containerID: run?.containerID,
      startedMs: run?.startedMs,
    };
    const listener = this.#listener(name);
    const one = await RunningContainer.resume(context, sandbox(), container, known, listener);
    if (one === undefined) {
      tell({ type: 'missing', name });
    } else if (run === undefined) {
      this.#started(name, one);
    } else {
      this.#running.set(name, one);
      tell({ type: 'takenOver', name, wasOver: one.main.wasOver });
      one.goOn(run.started);
    }
  }

  #started(name: string, one: RunningContainer): void {
    this.#running.set(name, one);
    const { containerID, startedMs } = one.main;
    this.#options.tell({ type: 'started', name, containerID, startedMs });
    one.begin();
  }

  /** An ephemeral container sees the processes of the one that it inspects. */
  #sandboxFor({ name }: Container, kind: ContainerKind): Sandbox {
    const sandbox = this.#options.sandbox();
    if (kind !== 'ephemeral') return sandbox;
    const { spec } = sandbox.facts.pod;
    const { ephemeralContainers = [] } = spec;
    const target = ephemeralContainers.find((one) => one.name === name)?.targetContainerName;
    if (target === undefined || target === '' || spec.hostPID === true) return sandbox;
    const pid = this.#running.get(target)?.main.launch.entry?.pid;
    if (pid !== undefined) return { ...sandbox, holder: () => Promise.resolve(pid) };
    if (this.#options.context.namespaces?.type !== 'available') return sandbox;
    const message = `the container "${target}", whose processes it is to see, does not run`;
    throw new LaunchBlockedError('CreateContainerError', message, true);
  }

  #listener(name: string): ContainerListener {
    const { tell, onFailure } = this.#options;
    return {
      onVerdict: (probe, verdict) => tell({ type: 'probed', name, probe, verdict }),
      onFailure: (reason, note) => onFailure(name, reason, note),
      onExit: (exit) => this.#exited(name, exit),
    };
  }

  #exited(name: string, exit: ContainerExit): void {
    const one = this.#running.get(name);
    if (one === undefined) return;
    this.#running.delete(name);
    const { tell, saved, context } = this.#options;
    tell({ type: 'exited', name, ...exit });
    const { keeper } = context;
    const { marker } = one.main.launch;
    if (keeper !== undefined) void saved().then(() => keeper.forget(marker));
  }

  #track(work: Promise<void>): void {
    this.#work.add(work);
    void work.finally(() => this.#work.delete(work));
  }
}
