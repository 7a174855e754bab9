/**
 * One Pod from the moment at which the node sees it until no trace of it is left: it is prepared, or
 * taken up from an earlier life of the node, runs (`pod-steps.ts`), and is cleaned up after its end.
 */
import type { Pod } from '../../../kube/objects/pod.ts';
import type { Timer } from '../../../runtime/ports/clock.ts';
import { ContainerSet, MIN_GRACE_MS } from '../container/container-set.ts';
import { missingNamespacesNote } from '../namespaces/missing-namespaces.ts';
import type { NodeContext } from '../node-context.ts';
import { PodReport } from '../status/pod-report.ts';
import { ignoredFieldsNote } from './ignored-fields.ts';
import { PodCheckpoint, type PodState } from './pod-checkpoint.ts';
import { confirmDeletion } from './pod-deletion.ts';
import { PodEvents } from './pod-events.ts';
import { preparePod } from './pod-preparation.ts';
import { PodSandbox } from './pod-sandbox.ts';
import { graceMsOf, PodSteps } from './pod-steps.ts';

export class PodWorker {
  readonly uid: string;
  readonly sandbox: PodSandbox;
  readonly containers: ContainerSet;
  readonly #context: NodeContext;
  readonly #events: PodEvents;
  readonly #report: PodReport;
  readonly #steps: PodSteps;
  readonly #onChange: () => Promise<void>;
  /** Aborted when the Pod is to run no longer. */
  readonly #ended = new AbortController();
  /** Aborted when the node stops, or the object is gone. */
  readonly #closed = new AbortController();
  readonly #resumed: PodState | undefined;
  readonly #checkpoint: PodCheckpoint | undefined;
  #pod: Pod;
  #lifetime: Timer | undefined;
  #preparing: Promise<void> = Promise.resolve();
  #resuming: Promise<void> | undefined;
  #confirming: Promise<void> = Promise.resolve();
  #isFinishing = false;
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
      onChange: () => this.#steps.step(),
      onStep: () => this.#steps.publish('step'),
    });
    this.#steps = new PodSteps({
      context: this.#context,
      pod: () => this.#pod,
      containers: this.containers,
      sandbox,
      events: this.#events,
      report: this.#report,
      onRecord: () => this.#checkpoint?.changed(),
      onChange,
      onEnd: () => this.#ended.abort(new Error('the Pod ends')),
      onDown: () => this.#finish(),
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
      this.#finish();
      return;
    }
    if (this.#resumed === undefined) this.#live();
    else void this.#resume(this.#resumed);
  }

  #live(): void {
    if (this.#steps.isOver) return;
    if (this.#pod.status?.startTime === undefined) this.#sayWhatIsIgnored();
    this.#limitLifetime();
    this.#preparing = this.#prepare();
    if (this.#pod.metadata.deletionTimestamp !== undefined) this.#delete();
    else this.#steps.publish('latest');
  }

  async #resume(state: PodState): Promise<void> {
    this.#steps.hold();
    this.#resuming = this.containers.resume();
    await this.#resuming;
    this.#steps.takeUp(state);
    this.#live();
  }

  #state(): PodState {
    const records = [...this.containers.records.values()];
    const { mode, ending } = this.#steps;
    return { records, mode, ending, podIP: this.sandbox.podIP };
  }

  /** The object has changed. */
  update(pod: Pod): void {
    const before = this.#pod.metadata;
    const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
    this.#pod = pod;
    this.#report.contradict(pod.status);
    const isNews =
      pod.metadata.generation !== before.generation || pod.spec.readinessGates !== undefined;
    if (isNews && this.#steps.isPrepared && !this.#steps.isOver) {
      const isRunning = this.#steps.mode === 'running';
      if (isRunning) this.containers.redefine(pod.spec);
      this.#steps.publish('latest');
      if (isRunning) this.#steps.step();
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
    this.#steps.end({ type: 'deleted' }, MIN_GRACE_MS);
    await this.#finished;
    await this.#context.files.remove(this.sandbox.logDirectory);
  }

  /** Ends every process and writes nothing more. Resolves when no trace is left but the logs. */
  async stop(): Promise<void> {
    this.#report.stop();
    this.#closed.abort(new Error('the node stops'));
    this.#steps.close();
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
        this.#events.pod('Warning', reason, problem);
        this.#steps.notPrepared(problem);
      },
    });
    if (!isReady) return;
    await this.#onChange();
    this.#steps.prepared();
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
      this.#steps.end(
        { type: 'failed', reason: 'DeadlineExceeded', message },
        graceMsOf(this.#pod),
      );
    });
  }

  #delete(): void {
    const seconds = this.#pod.metadata.deletionGracePeriodSeconds;
    this.#steps.end(
      { type: 'deleted' },
      seconds === undefined ? graceMsOf(this.#pod) : seconds * 1000,
    );
  }

  /** Everything is down. The status was handed over; the Pod keeps its logs until it is deleted. */
  #finish(): void {
    if (this.#isFinishing) return;
    this.#isFinishing = true;
    this.#steps.close();
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
}
