/**
 * What is done with a Pod after every change: `pod-actions.ts` is asked what to do with its
 * containers, it is done, and the outcome is shown in the Pod's status. Everything that happens comes
 * in as a call and is acted on at once; no restart waits for the API server.
 */
import type { Pod } from '../../../kube/objects/pod.ts';
import type { Timer } from '../../../runtime/ports/clock.ts';
import { type ContainerSet, MIN_GRACE_MS } from '../container/container-set.ts';
import type { NodeContext } from '../node-context.ts';
import type { PodReport } from '../status/pod-report.ts';
import type { PodEnding } from '../status/pod-status.ts';
import type { StatusImportance } from '../status/status-writer.ts';
import {
  type PodMode,
  type PodPlan,
  type PodView,
  planPod,
  restartSources,
} from './pod-actions.ts';
import type { PodState } from './pod-checkpoint.ts';
import type { PodEvents } from './pod-events.ts';
import type { PodSandbox } from './pod-sandbox.ts';

const DEFAULT_GRACE_SECONDS = 30;
/**
 * Restarts of all containers of one Pod begin at least this far apart: a command that fails at once
 * would otherwise restart as fast as the machine can.
 */
const RESTART_ALL_INTERVAL_MS = 500;

export interface PodStepsOptions {
  readonly context: NodeContext;
  /** As it is now. */
  readonly pod: () => Pod;
  readonly containers: ContainerSet;
  readonly sandbox: PodSandbox;
  readonly events: PodEvents;
  readonly report: PodReport;
  /** Something that an agent which was killed would have to know has changed. */
  readonly onRecord: () => void;
  /** The Pod's address may have changed; resolves once the other Pods can know. Never rejects. */
  readonly onChange: () => Promise<void>;
  /** The Pod is to run no longer. */
  readonly onEnd: () => void;
  /** Nothing of it runs any more, and that is shown. */
  readonly onDown: () => void;
}

/** How long the Pod has to end, where nobody says otherwise. */
export function graceMsOf({ spec }: Pod): number {
  return (spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS) * 1000;
}

export class PodSteps {
  readonly #options: PodStepsOptions;
  readonly #context: NodeContext;
  readonly #pod: () => Pod;
  readonly #containers: ContainerSet;
  readonly #sandbox: PodSandbox;
  readonly #events: PodEvents;
  #mode: PodMode = 'running';
  #ending: PodEnding | undefined;
  /** On the monotonic clock: when all that is left is killed. */
  #endDeadlineMs = Number.POSITIVE_INFINITY;
  #isPrepared = false;
  /** Taken up from an earlier life of the node, whose last status holds until all is there again. */
  #isResuming = false;
  /** Nothing is done until it is known what an earlier life of the node has left. */
  #isHeld = false;
  /** Nothing is done any more. */
  #isOver = false;
  /** Something of the Pod was stopped because it ends: its address goes with that. */
  #wasStopped = false;
  #isVerdictShown = false;
  #preparationProblem: string | undefined;
  #wake: Timer | undefined;
  #lastRestartAllMs = Number.NEGATIVE_INFINITY;

  constructor(options: PodStepsOptions) {
    this.#options = options;
    this.#context = options.context;
    this.#pod = options.pod;
    this.#containers = options.containers;
    this.#sandbox = options.sandbox;
    this.#events = options.events;
  }

  get mode(): PodMode {
    return this.#mode;
  }

  get ending(): PodEnding | undefined {
    return this.#ending;
  }

  /** Its containers may start: address, directory and volumes are there. */
  get isPrepared(): boolean {
    return this.#isPrepared;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Waits for `takeUp`. */
  hold(): void {
    this.#isResuming = true;
    this.#isHeld = true;
  }

  /** Goes on where an earlier life of the node was. */
  takeUp({ mode, ending }: Pick<PodState, 'mode' | 'ending'>): void {
    this.#isHeld = false;
    // Told to end meanwhile.
    if (this.#mode === 'ending') this.step();
    if (mode === 'ending') this.end(ending ?? { type: 'containers' }, graceMsOf(this.#pod()));
    else if (this.#mode !== 'ending') this.#mode = mode;
  }

  prepared(): void {
    this.#isPrepared = true;
    this.#isResuming = false;
    this.#preparationProblem = undefined;
    // As the Pod is by now: containers may have been added while it was prepared.
    this.#containers.redefine(this.#pod().spec);
    this.step();
  }

  /** Cannot be prepared yet, as `problem` says. */
  notPrepared(problem: string): void {
    this.#preparationProblem = problem;
    this.publish('latest');
  }

  /** Nothing is done from now on. */
  close(): void {
    this.#mode = 'ending';
    this.#isOver = true;
    this.#wake?.cancel();
  }

  /** Begins the end, or brings it forward. The first reason stays. */
  end(ending: PodEnding, graceMs: number): void {
    if (this.#isOver) return;
    const leftMs = Math.max(graceMs, MIN_GRACE_MS);
    const deadlineMs = this.#context.clock.monotonic() + leftMs;
    const isNew = this.#mode !== 'ending';
    if (!isNew && deadlineMs < this.#endDeadlineMs) this.#containers.killAfter(leftMs);
    this.#endDeadlineMs = Math.min(this.#endDeadlineMs, deadlineMs);
    this.#mode = 'ending';
    this.#isResuming = false;
    this.#ending ??= ending;
    this.#options.onEnd();
    if (isNew) this.step();
  }

  /** Does what is to be done now. Called after every change. */
  step(): void {
    if (this.#isOver || this.#isHeld) return;
    this.#wake?.cancel();
    if (this.#mode !== 'ending' && !this.#isPrepared) {
      this.publish('latest');
      return;
    }
    const plan = planPod(this.#view(), this.#context.clock.now());
    switch (plan.type) {
      case 'run':
        this.#carryOut(plan);
        break;
      case 'restart-all':
        this.#restartAll();
        break;
      case 'replace-sandbox':
        this.#mode = 'replacing-sandbox';
        this.step();
        break;
      case 'end':
        this.publish('step');
        this.end({ type: 'containers' }, graceMsOf(this.#pod()));
        break;
      case 'take-down':
        this.#takeDown(plan.stop, plan.isDown);
        break;
    }
  }

  #view(): PodView {
    return { spec: this.#pod().spec, records: this.#containers.records, mode: this.#mode };
  }

  #carryOut({ start, stop, backOff, wakeMs }: Extract<PodPlan, { type: 'run' }>): void {
    // An exit code is shown before the next start or the back-off hides it.
    const { records } = this.#containers;
    const hides = [...start, ...backOff.map(({ name }) => name)];
    const hidesExit = hides.some((name) => records.get(name)?.life.state === 'exited');
    this.publish(hidesExit ? 'must' : 'latest');
    for (const name of stop) this.#containers.giveUp(name);
    for (const action of backOff) this.#containers.backOff(action);
    for (const name of start) this.#containers.start(name);
    if (wakeMs !== undefined) this.#wakeAfter(wakeMs - this.#context.clock.now());
    this.publish('latest');
  }

  #wakeAfter(delayMs: number): void {
    this.#wake = this.#context.clock.setTimer(Math.max(0, delayMs), () => this.step());
  }

  #restartAll(): void {
    const { clock, logger } = this.#context;
    const waitMs = this.#lastRestartAllMs + RESTART_ALL_INTERVAL_MS - clock.monotonic();
    if (waitMs > 0) {
      this.publish('latest');
      this.#wakeAfter(waitMs);
      return;
    }
    this.#lastRestartAllMs = clock.monotonic();
    logger.info('all containers restart', { sources: restartSources(this.#view()) });
    this.#mode = 'restarting-all';
    this.publish('must');
    this.step();
  }

  #takeDown(stop: readonly string[], isDown: boolean): void {
    if (!isDown) {
      for (const name of stop) this.#stop(name);
      this.publish('latest');
    } else if (this.#mode === 'ending') {
      this.#showEnd();
      this.#options.onDown();
    } else if (this.#mode === 'replacing-sandbox') {
      this.#replaceSandbox();
    } else {
      this.#containers.removeAll();
      this.#mode = 'running';
      this.publish('latest');
      this.step();
    }
  }

  #stop(name: string): void {
    switch (this.#mode) {
      case 'ending':
        this.#wasStopped = true;
        this.#containers.stopForEnd(
          name,
          'PodEnd',
          this.#endDeadlineMs - this.#context.clock.monotonic(),
        );
        break;
      case 'replacing-sandbox':
        this.#containers.stopForEnd(name, 'SandboxChanged', graceMsOf(this.#pod()));
        break;
      case 'running':
      case 'restarting-all':
        this.#containers.stopForRestart(name);
        break;
    }
  }

  /** All is down because nothing was left to keep; now the rules look at how it ended. */
  #replaceSandbox(): void {
    const next = planPod({ ...this.#view(), mode: 'running' }, this.#context.clock.now());
    if (next.type === 'end') {
      this.#wasStopped = true;
      this.end({ type: 'containers' }, graceMsOf(this.#pod()));
      return;
    }
    this.#mode = next.type === 'restart-all' ? 'restarting-all' : 'running';
    this.#isPrepared = false;
    this.publish('must');
    const note = 'Pod sandbox changed, it will be killed and re-created.';
    this.#events.pod('Normal', 'SandboxChanged', note);
    this.#isPrepared = true;
    // A kubelet learns the new address a moment after the new sandbox.
    this.publish('step');
    this.#sandbox.renewAddress();
    this.publish('must');
    void this.#options.onChange().then(() => this.step());
  }

  /** As a kubelet: the conditions say it first, then the phase, then the containers left waiting. */
  #showEnd(): void {
    if (this.#wasStopped) this.#isPrepared = false;
    if (this.#ending?.type === 'containers') this.publish('step');
    this.#isPrepared = false;
    this.#isVerdictShown = true;
    this.publish('must');
    this.#containers.settle();
    this.publish('latest');
  }

  /** Shows the Pod as it is now. */
  publish(importance: StatusImportance): void {
    this.#options.onRecord();
    if (this.#isResuming) return;
    const facts = {
      records: this.#containers.records,
      isPrepared: this.#isPrepared,
      preparationProblem: this.#preparationProblem,
      isRestartingAll: this.#mode === 'restarting-all',
      ending: this.#ending,
      isVerdictShown: this.#isVerdictShown,
      podIP: this.#sandbox.podIP,
    };
    this.#options.report.publish(this.#pod(), facts, importance);
  }
}
