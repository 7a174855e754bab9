/**
 * A container from the start of its process until nothing of it is left: its hooks, its probes and
 * how it is stopped. The Pod's worker decides what follows.
 */
import type { Container } from '@lockstep/kube/objects/pod.ts';
import { endsWithin } from '@lockstep/kube/runtime/deadline.ts';
import type { NodeContext } from '../ports/node-context.ts';
import { attemptProbe, type CheckTarget, runHook } from '../probe/container-check.ts';
import type { ProbeKind } from '../probe/probe-worker.ts';
import { type Prober, startProber } from '../probe/prober.ts';
import type { Launch, Sandbox } from './container-launch.ts';
import { type AdoptedRun, type ContainerExit, ContainerProcess } from './container-process.ts';

export type ContainerFailure =
  | 'Unhealthy'
  | 'ProbeWarning'
  | 'FailedPostStartHook'
  | 'FailedPreStopHook';

export interface ContainerListener {
  onVerdict(kind: ProbeKind, verdict: 'success' | 'failure'): void;
  /** One probe attempt failed, or a hook did. */
  onFailure(reason: ContainerFailure, note: string): void;
  onExit(exit: ContainerExit): void;
}

export class RunningContainer {
  /** The process of its command. */
  readonly main: ContainerProcess;
  readonly #context: NodeContext;
  readonly #target: CheckTarget;
  readonly #listener: ContainerListener;
  readonly #ended = new AbortController();
  #prober: Prober | undefined;
  #isStopping = false;

  /** Rejects with `ProcessStartError` if the command cannot be executed. */
  static async start(
    context: NodeContext,
    sandbox: Sandbox,
    container: Container,
    launch: Launch,
    restart: number,
    listener: ContainerListener,
  ): Promise<RunningContainer> {
    const { logDirectory, facts, ports } = sandbox;
    const main = await ContainerProcess.start(context, container, launch, logDirectory, restart);
    const target = { container, launch: main.launch, podIP: facts.podIP, ports };
    return new RunningContainer(context, main, target, listener);
  }

  /** Takes over a run that an earlier life of the node has started; undefined if there is none. */
  static async resume(
    context: NodeContext,
    sandbox: Sandbox,
    container: Container,
    run: AdoptedRun,
    listener: ContainerListener,
  ): Promise<RunningContainer | undefined> {
    const { logDirectory, facts, ports } = sandbox;
    const main = await ContainerProcess.adopt(context, container, logDirectory, run);
    if (main === undefined) return undefined;
    const target = { container, launch: main.launch, podIP: facts.podIP, ports };
    return new RunningContainer(context, main, target, listener);
  }

  private constructor(
    context: NodeContext,
    main: ContainerProcess,
    target: CheckTarget,
    listener: ContainerListener,
  ) {
    this.#context = context;
    this.main = main;
    this.#target = target;
    this.#listener = listener;
  }

  /** From now on the listener gets events. Runs the postStart hook, then the probes. */
  begin(): void {
    this.#awaitEnd();
    const hook = this.#target.container.lifecycle?.postStart;
    if (hook === undefined) {
      this.#startProbes();
      return;
    }
    runHook(this.#context, this.#target, hook, this.#ended.signal).then(
      () => {
        if (this.#target.container.startupProbe === undefined) {
          this.#listener.onVerdict('Startup', 'success');
        }
        this.#startProbes();
      },
      (error: unknown) => {
        if (this.#ended.signal.aborted) return;
        this.#listener.onFailure('FailedPostStartHook', textOf(error));
        this.#listener.onVerdict('Startup', 'failure');
      },
    );
  }

  /** Continues a run that was taken over; its hook has had its chance. */
  goOn(hasStarted: boolean): void {
    this.#awaitEnd();
    const { container } = this.#target;
    if (!hasStarted && container.startupProbe === undefined) {
      this.#listener.onVerdict('Startup', 'success');
    }
    const { startupProbe: _, ...withoutStartup } = container;
    this.#startProbes(hasStarted ? withoutStartup : container);
  }

  #awaitEnd(): void {
    void this.main.exited.then((exit) => {
      this.#prober?.stop();
      this.#ended.abort(new Error('the container has ended'));
      this.#listener.onExit(exit);
    });
  }

  /** Asks it to stop and kills it after `graceMs`, which includes the preStop hook. */
  async stop(graceMs: number, runsPreStop: boolean): Promise<void> {
    const isFirst = !this.#isStopping;
    this.#isStopping = true;
    this.#prober?.stop();
    const hook = this.#target.container.lifecycle?.preStop;
    const { clock } = this.#context;
    if (hook === undefined || !runsPreStop || !isFirst) {
      this.main.terminate(graceMs);
      return;
    }
    this.main.killAfter(graceMs);
    const startMs = clock.monotonic();
    const done = runHook(this.#context, this.#target, hook, this.#ended.signal).catch(
      (error: unknown) => {
        if (this.#ended.signal.aborted) return;
        this.#listener.onFailure('FailedPreStopHook', textOf(error));
      },
    );
    await endsWithin(clock, graceMs, done);
    this.main.terminate(Math.max(0, graceMs - (clock.monotonic() - startMs)));
  }

  #startProbes(container: Container = this.#target.container): void {
    if (this.#isStopping || this.#ended.signal.aborted) return;
    this.#prober = startProber(container, {
      clock: this.#context.clock,
      attempt: (probe, timeoutMs) => attemptProbe(this.#context, this.#target, probe, timeoutMs),
      onVerdict: (kind, verdict) => this.#listener.onVerdict(kind, verdict),
      onFailure: (kind, note) =>
        this.#listener.onFailure('Unhealthy', `${kind} probe failed: ${note}`),
      onWarning: (kind, note) =>
        this.#listener.onFailure('ProbeWarning', `${kind} probe warning: ${note}`),
    });
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
