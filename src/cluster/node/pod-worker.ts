/**
 * Runs one Pod: asks `pod-actions.ts` after every change what to do with its containers, has it done,
 * and shows the outcome in the Pod's status. Everything that happens comes in as a call and is acted
 * on at once; no restart waits for the API server.
 */
import type { Pod } from '../../kube/pod.ts';
import type { Timer } from '../../runtime/ports/clock.ts';
import { ContainerSet, MIN_GRACE_MS } from './container-set.ts';
import { ignoredFieldsNote } from './ignored-fields.ts';
import { missingNamespacesNote } from './namespaces/missing-namespaces.ts';
import type { NodeContext } from './node-context.ts';
import {
  type PodMode,
  type PodPlan,
  type PodView,
  planPod,
  restartSources,
} from './pod-actions.ts';
import { PodCheckpoint, type PodState } from './pod-checkpoint.ts';
import { confirmDeletion } from './pod-deletion.ts';
import { PodEvents } from './pod-events.ts';
import { preparePod } from './pod-preparation.ts';
import { PodReport } from './pod-report.ts';
import { PodSandbox } from './pod-sandbox.ts';
import type { PodEnding } from './pod-status.ts';
import type { StatusImportance } from './status-writer.ts';

const DEFAULT_GRACE_SECONDS = 30;
/**
 * Restarts of all containers of one Pod begin at least this far apart: a command that fails at once
 * would otherwise restart as fast as the machine can.
 */
const RESTART_ALL_INTERVAL_MS = 500;

export class PodWorker {
  readonly uid: string;
  readonly sandbox: PodSandbox;
  readonly containers: ContainerSet;
  readonly #context: NodeContext;
  readonly #events: PodEvents;
  readonly #report: PodReport;
  readonly #onChange: () => Promise<void>;
  /** Aborted when the Pod is to run no longer. */
  readonly #ended = new AbortController();
  /** Aborted when the node stops, or the object is gone. */
  readonly #closed = new AbortController();
  readonly #resumed: PodState | undefined;
  readonly #checkpoint: PodCheckpoint | undefined;
  #pod: Pod;
  #mode: PodMode = 'running';
  #ending: PodEnding | undefined;
  /** On the monotonic clock: when all that is left is killed. */
  #endDeadlineMs = Number.POSITIVE_INFINITY;
  #isPrepared = false;
  /** Taken up from an earlier life of the node, whose last status holds until all is there again. */
  #isResuming = false;
  /** Something of the Pod was stopped because it ends: its address goes with that. */
  #wasStopped = false;
  #isVerdictShown = false;
  #preparationProblem: string | undefined;
  #wake: Timer | undefined;
  #lifetime: Timer | undefined;
  #lastRestartAllMs = Number.NEGATIVE_INFINITY;
  #preparing: Promise<void> = Promise.resolve();
  #resuming: Promise<void> | undefined;
  #confirming: Promise<void> = Promise.resolve();
  #isFinishing = false;
  #isStopped = false;
  #hasFinished = false;
  #resolveFinished: () => void = () => undefined;
  /** Resolves when everything is down and cleaned up. */
  readonly #finished = new Promise<void>((resolve) => {
    this.#resolveFinished = resolve;
  });

  /**
   * `onChange`: its address or readiness may have changed, or it has finished; resolves once the
   * other Pods can know. Never rejects.
   */
  constructor(
    context: NodeContext,
    pod: Pod,
    onChange: () => Promise<void>,
    resumed: PodState | undefined,
  ) {
    const { name = '', namespace = '', uid = '' } = pod.metadata;
    const logger = context.logger.with({ pod: `${namespace}/${name}` });
    this.uid = uid;
    this.#context = { ...context, logger };
    this.#pod = pod;
    this.#onChange = onChange;
    this.#events = new PodEvents(context.events, pod);
    this.#report = new PodReport(this.#context, pod, () => void onChange());
    const sandbox = new PodSandbox(this.#context, pod);
    this.sandbox = sandbox;
    this.#resumed = resumed;
    if (resumed !== undefined) sandbox.resume(resumed.podIP);
    const { files, rootDirectory, keeper } = context;
    this.#checkpoint =
      keeper === undefined
        ? undefined
        : new PodCheckpoint(files, logger, rootDirectory, uid, () => this.#state());
    this.containers = new ContainerSet({
      context: this.#context,
      pod,
      events: this.#events,
      sandbox: () => sandbox.forContainers(this.#pod),
      records: resumed?.records,
      saved: async () => this.#checkpoint?.saved(),
      onChange: () => this.#step(),
      onStep: () => this.#publish('step'),
    });
  }

  /** The Pod with the newest status, written or not. */
  get pod(): Pod {
    const { status } = this.#report;
    return status === undefined ? this.#pod : { ...this.#pod, status };
  }

  /** Nothing of it runs and nothing will. */
  get hasFinished(): boolean {
    return this.#hasFinished;
  }

  /** Begins, or takes up what an earlier life of this node left. */
  begin(): void {
    const phase = this.#pod.status?.phase;
    if (phase === 'Succeeded' || phase === 'Failed') {
      this.#mode = 'ending';
      this.#finish();
      return;
    }
    if (this.#resumed === undefined) this.#live();
    else void this.#resume(this.#resumed);
  }

  #live(): void {
    if (this.#isStopped) return;
    if (this.#pod.status?.startTime === undefined) this.#sayWhatIsIgnored();
    this.#limitLifetime();
    this.#preparing = this.#prepare();
    if (this.#pod.metadata.deletionTimestamp !== undefined) this.#delete();
    else this.#publish('latest');
  }

  /** Goes on where an earlier life of the node was. */
  async #resume({ mode, ending }: PodState): Promise<void> {
    this.#isResuming = true;
    this.#resuming = this.containers.resume();
    await this.#resuming;
    this.#resuming = undefined;
    // Told to end meanwhile.
    if (this.#mode === 'ending') this.#step();
    if (mode === 'ending') this.#end(ending ?? { type: 'containers' }, this.#graceMs());
    else if (this.#mode !== 'ending') this.#mode = mode;
    this.#live();
  }

  #state(): PodState {
    const records = [...this.containers.records.values()];
    return { records, mode: this.#mode, ending: this.#ending, podIP: this.sandbox.podIP };
  }

  /** The object has changed. */
  update(pod: Pod): void {
    const before = this.#pod.metadata;
    const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
    this.#pod = pod;
    this.#report.contradict(pod.status);
    const isNews =
      pod.metadata.generation !== before.generation || pod.spec.readinessGates !== undefined;
    if (isNews && this.#isPrepared && !this.#isFinishing) {
      const isRunning = this.#mode === 'running';
      if (isRunning) this.containers.redefine(pod.spec);
      this.#publish('latest');
      if (isRunning) this.#step();
    }
    if (deletionTimestamp === undefined) return;
    const isNew = before.deletionTimestamp === undefined;
    if (!isNew && before.deletionGracePeriodSeconds === deletionGracePeriodSeconds) return;
    if (!this.#hasFinished) this.#delete();
    else if (isNew) this.#confirming = this.#confirming.then(() => this.#confirmDeletion());
  }

  /** The object is gone: what runs is stopped and nobody is told. Resolves when no trace is left. */
  async podGone(): Promise<void> {
    this.#report.stop();
    this.#closed.abort(new Error('the Pod is gone'));
    this.#end({ type: 'deleted' }, MIN_GRACE_MS);
    await this.#finished;
    await this.#context.files.remove(this.sandbox.logDirectory);
  }

  /** Ends every process and writes nothing more. Resolves when no trace is left but the logs. */
  async stop(): Promise<void> {
    this.#report.stop();
    this.#closed.abort(new Error('the node stops'));
    this.#mode = 'ending';
    this.#isStopped = true;
    await this.#resuming;
    await this.containers.shutDown();
    this.#finish();
    await this.#finished;
    await this.#checkpoint?.remove();
  }

  async #prepare(): Promise<void> {
    const isReady = await preparePod(this.#context, this.#pod, this.sandbox, {
      signal: this.#ended.signal,
      onProblem: (reason, problem) => {
        this.#preparationProblem = problem;
        this.#events.pod('Warning', reason, problem);
        this.#publish('latest');
      },
    });
    if (!isReady) return;
    await this.#onChange();
    this.#isPrepared = true;
    this.#isResuming = false;
    this.#preparationProblem = undefined;
    // As the Pod is by now: containers may have been added while it was prepared.
    this.containers.redefine(this.#pod.spec);
    this.#step();
  }

  #sayWhatIsIgnored(): void {
    const { namespaces } = this.#context;
    const { spec } = this.#pod;
    const note = ignoredFieldsNote(spec, namespaces?.type === 'available');
    if (note !== undefined) this.#events.pod('Warning', 'FieldsIgnored', note);
    if (namespaces?.type !== 'unavailable') return;
    const difference = missingNamespacesNote(spec, namespaces.reason);
    if (difference !== undefined) this.#events.pod('Normal', 'NoNamespaces', difference);
  }

  #limitLifetime(): void {
    const { activeDeadlineSeconds } = this.#pod.spec;
    if (activeDeadlineSeconds === undefined) return;
    const { clock } = this.#context;
    const startMs = Date.parse(this.#pod.status?.startTime ?? '') || this.#report.startedMs;
    const delayMs = Math.max(0, startMs + activeDeadlineSeconds * 1000 - clock.now());
    this.#lifetime = clock.setTimer(delayMs, () => {
      const message = 'Pod was active on the node longer than the specified deadline';
      this.#events.pod('Normal', 'DeadlineExceeded', message);
      this.#end({ type: 'failed', reason: 'DeadlineExceeded', message }, this.#graceMs());
    });
  }

  #delete(): void {
    const seconds = this.#pod.metadata.deletionGracePeriodSeconds;
    this.#end({ type: 'deleted' }, seconds === undefined ? this.#graceMs() : seconds * 1000);
  }

  #graceMs(): number {
    return (this.#pod.spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS) * 1000;
  }

  /** Begins the end, or brings it forward. The first reason stays. */
  #end(ending: PodEnding, graceMs: number): void {
    if (this.#hasFinished) return;
    const leftMs = Math.max(graceMs, MIN_GRACE_MS);
    const deadlineMs = this.#context.clock.monotonic() + leftMs;
    const isNew = this.#mode !== 'ending';
    if (!isNew && deadlineMs < this.#endDeadlineMs) this.containers.killAfter(leftMs);
    this.#endDeadlineMs = Math.min(this.#endDeadlineMs, deadlineMs);
    this.#mode = 'ending';
    this.#isResuming = false;
    this.#ending ??= ending;
    this.#ended.abort(new Error('the Pod ends'));
    if (isNew) this.#step();
  }

  /** Does what is to be done now. Called after every change. */
  #step(): void {
    if (this.#isStopped || this.#isFinishing || this.#resuming !== undefined) return;
    this.#wake?.cancel();
    if (this.#mode !== 'ending' && !this.#isPrepared) {
      this.#publish('latest');
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
        this.#step();
        break;
      case 'end':
        this.#publish('step');
        this.#end({ type: 'containers' }, this.#graceMs());
        break;
      case 'take-down':
        this.#takeDown(plan.stop, plan.isDown);
        break;
    }
  }

  #view(): PodView {
    return { spec: this.#pod.spec, records: this.containers.records, mode: this.#mode };
  }

  #carryOut({ start, stop, backOff, wakeMs }: Extract<PodPlan, { type: 'run' }>): void {
    // An exit code is shown before the next start or the back-off hides it.
    const { records } = this.containers;
    const hides = [...start, ...backOff.map(({ name }) => name)];
    const hidesExit = hides.some((name) => records.get(name)?.life.state === 'exited');
    this.#publish(hidesExit ? 'must' : 'latest');
    for (const name of stop) this.containers.giveUp(name);
    for (const action of backOff) this.containers.backOff(action);
    for (const name of start) this.containers.start(name);
    if (wakeMs !== undefined) this.#wakeAfter(wakeMs - this.#context.clock.now());
    this.#publish('latest');
  }

  #wakeAfter(delayMs: number): void {
    this.#wake = this.#context.clock.setTimer(Math.max(0, delayMs), () => this.#step());
  }

  #restartAll(): void {
    const { clock, logger } = this.#context;
    const waitMs = this.#lastRestartAllMs + RESTART_ALL_INTERVAL_MS - clock.monotonic();
    if (waitMs > 0) {
      this.#publish('latest');
      this.#wakeAfter(waitMs);
      return;
    }
    this.#lastRestartAllMs = clock.monotonic();
    logger.info('all containers restart', { sources: restartSources(this.#view()) });
    this.#mode = 'restarting-all';
    this.#publish('must');
    this.#step();
  }

  #takeDown(stop: readonly string[], isDown: boolean): void {
    if (!isDown) {
      for (const name of stop) this.#stop(name);
      this.#publish('latest');
    } else if (this.#mode === 'ending') {
      this.#showEnd();
      this.#finish();
    } else if (this.#mode === 'replacing-sandbox') {
      this.#replaceSandbox();
    } else {
      this.containers.removeAll();
      this.#mode = 'running';
      this.#publish('latest');
      this.#step();
    }
  }

  #stop(name: string): void {
    switch (this.#mode) {
      case 'ending':
        this.#wasStopped = true;
        this.containers.stopForEnd(
          name,
          'PodEnd',
          this.#endDeadlineMs - this.#context.clock.monotonic(),
        );
        break;
      case 'replacing-sandbox':
        this.containers.stopForEnd(name, 'SandboxChanged', this.#graceMs());
        break;
      case 'running':
      case 'restarting-all':
        this.containers.stopForRestart(name);
        break;
    }
  }

  /** All is down because nothing was left to keep; now the rules look at how it ended. */
  #replaceSandbox(): void {
    const next = planPod({ ...this.#view(), mode: 'running' }, this.#context.clock.now());
    if (next.type === 'end') {
      this.#wasStopped = true;
      this.#end({ type: 'containers' }, this.#graceMs());
      return;
    }
    this.#mode = next.type === 'restart-all' ? 'restarting-all' : 'running';
    this.#isPrepared = false;
    this.#publish('must');
    const note = 'Pod sandbox changed, it will be killed and re-created.';
    this.#events.pod('Normal', 'SandboxChanged', note);
    this.#isPrepared = true;
    // A kubelet learns the new address a moment after the new sandbox.
    this.#publish('step');
    this.sandbox.renewAddress();
    this.#publish('must');
    void this.#onChange().then(() => this.#step());
  }

  /** As a kubelet: the conditions say it first, then the phase, then the containers left waiting. */
  #showEnd(): void {
    if (this.#wasStopped) this.#isPrepared = false;
    if (this.#ending?.type === 'containers') this.#publish('step');
    this.#isPrepared = false;
    this.#isVerdictShown = true;
    this.#publish('must');
    this.containers.settle();
    this.#publish('latest');
  }

  /** Everything is down. The status was handed over; the Pod keeps its logs until it is deleted. */
  #finish(): void {
    if (this.#isFinishing) return;
    this.#isFinishing = true;
    this.#wake?.cancel();
    this.#lifetime?.cancel();
    this.#ended.abort(new Error('the Pod has ended'));
    this.sandbox.close();
    this.#confirming = this.#cleanUp().then(async () => {
      // Until the API has the last status, the file is all that has it.
      await this.#report.flushed();
      await this.#checkpoint?.remove();
      if (this.#pod.metadata.deletionTimestamp !== undefined) await this.#confirmDeletion();
    });
  }

  async #cleanUp(): Promise<void> {
    await this.#preparing;
    try {
      await this.sandbox.remove();
    } catch (error) {
      this.#context.logger.error('the directory of a Pod could not be removed', { err: error });
    }
    this.#hasFinished = true;
    this.#resolveFinished();
    void this.#onChange();
  }

  async #confirmDeletion(): Promise<void> {
    await this.#report.flushed();
    await confirmDeletion(this.#context, this.#pod, this.#closed.signal);
  }

  #publish(importance: StatusImportance): void {
    this.#checkpoint?.changed();
    if (this.#isResuming) return;
    const facts = {
      records: this.containers.records,
      isPrepared: this.#isPrepared,
      preparationProblem: this.#preparationProblem,
      isRestartingAll: this.#mode === 'restarting-all',
      ending: this.#ending,
      isVerdictShown: this.#isVerdictShown,
      podIP: this.sandbox.podIP,
    };
    this.#report.publish(this.#pod, facts, importance);
  }
}
