/** The Pod of one member: its real agent as a supervisor, and a worker that trains. */
import type { Stored } from '@lockstep/kube/meta.ts';
import { COMPLETION_INDEX } from '@lockstep/kube/objects/job.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { createClient } from '@lockstep/kube/runtime/client/http-client.ts';
import type { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { type Logger, SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { Random } from '@lockstep/kube/runtime/ports/random.ts';
import type { StreamConnector } from '@lockstep/kube/runtime/ports/stream.ts';
import type { Transport } from '@lockstep/kube/runtime/ports/transport.ts';
import { type Agent, type Body, startAgent } from '../agent/agent.ts';
import { createApiChannel } from '../agent/api-channel.ts';
import { createFallbackChannel } from '../agent/fallback-channel.ts';
import { createHubChannel } from '../agent/hub-channel.ts';
import { type Marker, NO_MARKER } from '../agent/marker.ts';
import { MemberProgress, type Reporter } from '../agent/progress/member-progress.ts';
import { exitCodeOf, type OwnEnd } from '../agent/worker-exit.ts';
import { JOB_INDEX, JOBSET_NAME, JOBSET_UID, REPLICATED_JOB_NAME } from '../jobset/names.ts';
import type { Exit } from '../jobset/worker-end/worker-end.ts';
import { ProcessLife } from './process-life.ts';
import type { Training } from './training.ts';
import { Weather } from './weather.ts';

export interface MemberOptions {
  readonly pod: Stored<Pod>;
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly server: Transport;
  readonly connector: StreamConnector;
  readonly training: Training;
  readonly told: MemberListener;
  readonly logger?: Logger;
}

/** What the world sees of a member. */
export interface MemberListener {
  started(member: Member, epoch: number): void;
  /** Its agent stops the worker, because the epoch is over. */
  stopped(member: Member, epoch: number): void;
  ended(member: Member, epoch: number, exit: Exit): void;
  /** The container has ended, and the kubelet does not start it again. */
  left(member: Member, exitCode: number): void;
}

/** `replicatedJob/jobIndex/completionIndex` */
export function slotOf({ metadata }: Pod): string {
  const { labels, annotations } = metadata;
  return `${labels?.[REPLICATED_JOB_NAME]}/${labels?.[JOB_INDEX]}/${annotations?.[COMPLETION_INDEX]}`;
}

export class Member {
  readonly pod: Stored<Pod>;
  readonly slot: string;
  readonly weather: Weather;
  readonly #options: MemberOptions;
  /** What the Pod's volume keeps. */
  #marker: Marker = NO_MARKER;
  #life: ProcessLife;
  #agent: Agent;
  #progress: WatchedProgress;
  #epoch: number | undefined;
  #ended: Parameters<Body['lift']>[1] | undefined;
  #stopTraining: () => void = () => undefined;

  constructor(options: MemberOptions) {
    this.pod = options.pod;
    this.slot = slotOf(options.pod);
    this.#options = options;
    this.weather = new Weather(options.random);
    [this.#life, this.#agent, this.#progress] = this.#boot();
  }

  /** The epoch in which the worker runs; undefined if none does. */
  get epoch(): number | undefined {
    return this.#epoch;
  }

  exit(exit: Exit): void {
    const isFailure = 'signal' in exit || exit.exitCode !== 0;
    this.#exited({ how: 'Unknown', exit, ...(isFailure && { restartsGroup: true }) });
  }

  /** The worker does nothing more, and runs on. */
  hang(): void {
    this.#stopTraining();
  }

  /** The agent's container dies, its worker with it, and is started again. */
  crash(): void {
    this.#die();
    [this.#life, this.#agent, this.#progress] = this.#boot();
  }

  /** The Pod is to end. */
  terminate(): void {
    this.#agent.stop('SIGTERM');
    this.exit({ signal: 'SIGTERM' });
  }

  /** Everything in the Pod is gone at once. */
  vanish(): void {
    this.#die();
  }

  #die(): void {
    this.#life.kill();
    const epoch = this.#epoch;
    this.#epoch = undefined;
    this.#ended = undefined;
    this.#stopTraining();
    if (epoch !== undefined) this.#options.told.ended(this, epoch, { signal: 'SIGKILL' });
  }

  #boot(): [ProcessLife, Agent, WatchedProgress] {
    const { clock: world, random, server, connector, logger = SILENT } = this.#options;
    const life = new ProcessLife(world, server, this.weather);
    const { clock, transport } = life;
    const client = createClient({ transport, clock, random, userAgent: 'lockstep-agent' });
    const { name, namespace = '', uid, labels } = this.pod.metadata;
    const jobSetUid = labels?.[JOBSET_UID];
    const runtime = { client, clock, random, logger };
    const marker = this.#marker;
    const channel = createFallbackChannel({
      ...runtime,
      hub: (contact) => createHubChannel({ ...runtime, connector, jobSetUid, contact }),
      api: () =>
        createApiChannel({
          ...runtime,
          namespace,
          dialect: 'Canonical',
          jobSetName: labels?.[JOBSET_NAME] ?? '',
          jobSetUid,
          replicatedJobName: labels?.[REPLICATED_JOB_NAME],
          podName: name,
          podUid: uid,
          announced: marker.announced,
        }),
    });
    const progress = new WatchedProgress(clock);
    const body: Body = {
      mode: 'Supervisor',
      lift: (epoch, ended) => this.#lifted(epoch, ended),
      progress,
      stopWorker: () => {
        if (this.#epoch !== undefined) this.#options.told.stopped(this, this.#epoch);
        this.#exited({ how: 'Unknown', exit: { signal: 'SIGTERM' } });
      },
      killHung: () => {
        const silentMs = Math.round(progress.silentMs);
        this.#exited({ how: 'Hung', exit: { signal: 'SIGKILL' }, silentMs, restartsGroup: true });
      },
      hurry: () => undefined,
    };
    const markers = {
      read: () => Promise.resolve(this.#marker),
      write: (next: Marker) => {
        if (!life.gone.aborted) this.#marker = next;
        return Promise.resolve();
      },
    };
    const agent = startAgent({ jobSetUid, marker, markers, clock, logger, channel, body });
    agent.left.then(
      (reason) => {
        if (life.gone.aborted) return;
        const code = reason.type === 'WorkerExit' ? exitCodeOf(reason.end.exit) : SIGTERM_EXIT_CODE;
        this.#die();
        this.#options.told.left(this, code);
      },
      // The container is started again.
      () => !life.gone.aborted && this.crash(),
    );
    life.gone.addEventListener('abort', () => channel.close(), { once: true });
    return [life, agent, progress];
  }

  #lifted(epoch: number, ended: Parameters<Body['lift']>[1]): void {
    const { clock, training, told } = this.#options;
    this.#progress.begin(clock.monotonic());
    this.#epoch = epoch;
    this.#ended = ended;
    this.#stopTraining = training.start((line) => this.#progress.report(line));
    told.started(this, epoch);
  }

  #exited(known: Omit<OwnEnd, 'epoch' | 'atMs'>): void {
    const epoch = this.#epoch;
    const ended = this.#ended;
    if (epoch === undefined) return;
    this.#epoch = undefined;
    this.#ended = undefined;
    this.#stopTraining();
    this.#options.told.ended(this, epoch, known.exit);
    ended?.({ ...known, epoch, atMs: this.#options.clock.monotonic() });
  }
}

const SIGTERM_EXIT_CODE = 143;

/** Looks when it is asked, instead of several times a second. */
class WatchedProgress extends MemberProgress {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    super();
    this.#clock = clock;
  }

  report(line: string): void {
    this.look(this.#clock.monotonic());
    this.took(line);
  }

  override get reporters(): readonly Reporter[] {
    this.look(this.#clock.monotonic());
    return super.reporters;
  }
}
