/**
 * One Pod from the moment at which the node sees it until no trace of it is left. Its life
 * (`pod-step.ts`) decides what follows from each event, and this class carries it out.
 */
import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import type { Timer } from '@lockstep/kube/runtime/ports/clock.ts';
import type { ContainerRecord } from '../container/container-record.ts';
import { ContainerRuns } from '../container/container-runs.ts';
import { missingNamespacesNote } from '../namespaces/missing-namespaces.ts';
import type { NodeContext } from '../ports/node-context.ts';
import { StatusWriter } from '../status/status-writer.ts';
import { ignoredFieldsNote } from './ignored-fields.ts';
import { PodCheckpoint } from './pod-checkpoint.ts';
import { confirmDeletion } from './pod-deletion.ts';
import { PodEvents } from './pod-events.ts';
import {
  type Instant,
  newLife,
  type PodEffect,
  type PodLife,
  type PodNews,
  type PodState,
} from './pod-life.ts';
import { preparePod } from './pod-preparation.ts';
import { PodSandbox } from './pod-sandbox.ts';
import { step } from './pod-step.ts';

export class PodWorker {
  readonly uid: string;
  readonly sandbox: PodSandbox;
  readonly containers: ContainerRuns;
  readonly #context: NodeContext;
  readonly #events: PodEvents;
  readonly #writer: StatusWriter;
  readonly #checkpoint: PodCheckpoint | undefined;
  readonly #onChange: () => Promise<void>;
  /** Aborts when the Pod is not to run any longer. */
  readonly #ended = new AbortController();
  /** Aborts when the node stops, or the object is gone. */
  readonly #closed = new AbortController();
  #life: PodLife;
  /** What happened while effects of something before were carried out. */
  readonly #news: PodNews[] = [];
  #isFollowing = false;
  #wake: Timer | undefined;
  #lifetime: Timer | undefined;
  #preparing: Promise<unknown> = Promise.resolve();
  #takingOver: Promise<void> | undefined;
  #confirming: Promise<void> = Promise.resolve();
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
    const { files, rootDirectory, keeper, client, clock, network, backoff } = context;
    this.uid = uid;
    this.#context = { ...context, logger };
    this.#onChange = onChange;
    this.#life = newLife(pod, { hostIP: network.hostIP, backoff }, this.#now(), resumed);
    this.#events = new PodEvents(context.events, pod);
    this.#writer = new StatusWriter(pod, client, clock, logger);
    this.sandbox = new PodSandbox(this.#context, pod);
    if (resumed?.podIP !== undefined) this.sandbox.reserve(resumed.podIP);
    this.#checkpoint =
      keeper === undefined
        ? undefined
        : new PodCheckpoint(files, logger, rootDirectory, uid, () => stateOf(this.#life));
    this.containers = new ContainerRuns({
      context: this.#context,
      podUid: uid,
      sandbox: () => this.sandbox.forContainers(this.#life.pod, this.podIP ?? ''),
      saved: async () => this.#checkpoint?.saved(),
      tell: (news) => this.#tell(news),
      onFailure: (container, reason, note) => {
        const about = this.records.find((record) => record.name === container);
        this.#events.record(about, 'Warning', reason, note);
      },
    });
  }

  /** The Pod with the newest status, written or not. */
  get pod(): Pod {
    const { pod, status } = this.#life;
    return status === undefined ? pod : { ...pod, status };
  }

  get podIP(): string | undefined {
    return this.#life.podIP;
  }

  get records(): readonly ContainerRecord[] {
    return this.#life.records;
  }

  /** Nothing of it runs and nothing will. */
  get hasFinished(): boolean {
    return this.#life.stage.name === 'CleanedUp';
  }

  /** Begins, or continues an earlier life of this node. */
  begin(): void {
    this.#tell({ type: 'begun' });
  }

  /** The object has changed. With its annotations a user asks for fresh files, as of a kubelet. */
  update(pod: Pod): void {
    const { annotations } = this.#life.pod.metadata;
    const isAsked = !deepEqual(annotations, pod.metadata.annotations);
    if (isAsked && this.podIP !== undefined) this.sandbox.refreshFiles(pod, this.podIP);
    this.#tell({ type: 'updated', pod });
  }

  /**
   * The object is gone: running containers are stopped without a status. Resolves when no trace is
   * left.
   */
  async podGone(): Promise<void> {
    this.#writer.stop();
    this.#closed.abort(new Error('the Pod is gone'));
    this.#tell({ type: 'gone' });
    await this.#finished;
    await this.#context.files.remove(this.sandbox.logDirectory);
  }

  /** Ends every process and writes nothing more. Resolves when no trace is left but the logs. */
  async stop(): Promise<void> {
    this.#writer.stop();
    this.#closed.abort(new Error('the node stops'));
    this.#tell({ type: 'nodeStops' });
    await this.#takingOver;
    await this.containers.shutDown();
    this.#tell({ type: 'allShutDown' });
    await this.#finished;
    await this.#checkpoint?.remove();
  }

  /** One thing after the other: what effects cause at once comes after them. */
  #tell(news: PodNews): void {
    this.#news.push(news);
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    try {
      for (let next = this.#news.shift(); next !== undefined; next = this.#news.shift()) {
        this.#follow(next);
      }
    } finally {
      this.#isFollowing = false;
    }
  }

  #follow(news: PodNews): void {
    const before = this.#life;
    const { life, effects } = step(before, { ...news, at: this.#now() });
    this.#life = life;
    if (news.type === 'begun' || !isSameState(before, life)) this.#checkpoint?.changed();
    for (const effect of effects) this.#carryOut(effect);
  }

  #carryOut(effect: PodEffect): void {
    switch (effect.type) {
      case 'writeStatus':
        this.#writer.write(effect.status, effect.importance);
        break;
      case 'tellOthers':
        void this.#onChange();
        break;
      case 'event':
        this.#events.record(effect.about, effect.severity, effect.reason, effect.note);
        break;
      case 'logRestartOfAll':
        this.#context.logger.info('all containers restart', { sources: effect.sources });
        break;
      case 'takeOver':
        this.#takingOver = this.containers.takeOver(effect.runs);
        void this.#takingOver.then(() => this.#tell({ type: 'allTakenOver' }));
        break;
      case 'prepare':
        this.#sayWhatIsIgnored();
        this.#limitLifetime();
        this.#preparing = this.#prepare();
        break;
      case 'abandonPreparation':
        this.#ended.abort(new Error('the Pod ends'));
        break;
      case 'introduce':
        void this.#onChange().then(() => this.#tell({ type: 'introduced' }));
        break;
      case 'renewAddress':
        this.#tell({ type: 'addressRenewed', podIP: this.sandbox.renewAddress() });
        break;
      case 'start':
        this.containers.start(effect);
        break;
      case 'stop':
        this.containers.stop(effect.name, effect.graceMs, effect.runsPreStop);
        break;
      case 'killAfter':
        this.containers.killAfter(effect.delayMs);
        break;
      case 'wake':
        this.#wakeAfter(effect.delayMs);
        break;
      case 'cleanUp':
        this.#confirming = this.#cleanUp();
        break;
      case 'confirmDeletion':
        this.#confirming = this.#confirming.then(() => this.#confirmDeletion());
        break;
    }
  }

  #wakeAfter(delayMs: number | undefined): void {
    this.#wake?.cancel();
    this.#wake =
      delayMs === undefined
        ? undefined
        : this.#context.clock.setTimer(delayMs, () => this.#tell({ type: 'woken' }));
  }

  async #prepare(): Promise<void> {
    const podIP = await preparePod(this.#context, this.#life.pod, this.sandbox, {
      signal: this.#ended.signal,
      onProblem: (reason, problem) => this.#tell({ type: 'notPrepared', reason, problem }),
    });
    if (podIP !== undefined) this.#tell({ type: 'prepared', podIP });
  }

  #sayWhatIsIgnored(): void {
    const { spec, status } = this.#life.pod;
    if (status?.startTime !== undefined) return;
    const { namespaces } = this.#context;
    const note = ignoredFieldsNote(spec, namespaces?.type === 'available');
    if (note !== undefined) this.#events.record(undefined, 'Warning', 'FieldsIgnored', note);
    if (namespaces?.type !== 'unavailable') return;
    const difference = missingNamespacesNote(spec, namespaces.reason);
    if (difference === undefined) return;
    this.#events.record(undefined, 'Normal', 'NoNamespaces', difference);
  }

  #limitLifetime(): void {
    const { pod, seenMs } = this.#life;
    const { activeDeadlineSeconds } = pod.spec;
    if (activeDeadlineSeconds === undefined) return;
    const { clock } = this.#context;
    const startMs = Date.parse(pod.status?.startTime ?? '') || seenMs;
    const delayMs = Math.max(0, startMs + activeDeadlineSeconds * 1000 - clock.now());
    this.#lifetime = clock.setTimer(delayMs, () => this.#tell({ type: 'deadlineExceeded' }));
  }

  /** Everything is down. The status was handed over; the Pod keeps its logs until it is deleted. */
  async #cleanUp(): Promise<void> {
    this.#lifetime?.cancel();
    this.#ended.abort(new Error('the Pod has ended'));
    this.sandbox.close();
    await this.#preparing;
    try {
      await this.sandbox.remove();
    } catch (error) {
      this.#context.logger.error('the directory of a Pod could not be removed', { err: error });
    }
    this.#tell({ type: 'cleanedUp' });
    this.#resolveFinished();
    // Until the API has the last status, only the file has it.
    await this.#writer.flushed();
    await this.#checkpoint?.remove();
  }

  async #confirmDeletion(): Promise<void> {
    await this.#writer.flushed();
    await confirmDeletion(this.#context, this.#life.pod, this.#closed.signal);
  }

  #now(): Instant {
    const { clock } = this.#context;
    return { nowMs: clock.now(), monotonicMs: clock.monotonic() };
  }
}

function stateOf({ records, mode, ending, podIP }: PodLife): PodState {
  return { records, mode, ending, podIP };
}

function isSameState(one: PodLife, other: PodLife): boolean {
  return (
    one.records === other.records &&
    one.mode === other.mode &&
    one.ending === other.ending &&
    one.podIP === other.podIP
  );
}
