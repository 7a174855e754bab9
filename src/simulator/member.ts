/** The Pod of one member in the simulated world: its agent, and a worker that trains. */
import type { PlayContainer } from '@lockstep/embedded-kubernetes/in-memory';
import type { Stored } from '@lockstep/kube/meta.ts';
import { COMPLETION_INDEX } from '@lockstep/kube/objects/job.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { createClient } from '@lockstep/kube/runtime/client/http-client.ts';
import type { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { Random } from '@lockstep/kube/runtime/ports/random.ts';
import type { StreamConnector } from '@lockstep/kube/runtime/ports/stream.ts';
import type { Transport } from '@lockstep/kube/runtime/ports/transport.ts';
import type { LeaveReason } from '../agent/barrier-state.ts';
import type { Channel } from '../agent/channel.ts';
import { exitCodeOf } from '../agent/worker-exit.ts';
import {
  AGENT_CONTAINER_NAME,
  ENV_HUB_URL,
  ENV_PREFLIGHT,
  JOB_INDEX,
  JOBSET_UID,
  REPLICATED_JOB_NAME,
} from '../jobset/names.ts';
import type { MemberRanks } from '../jobset/ranks/member-ranks.ts';
import type { Announcement } from '../jobset/worker-end/announcement.ts';
import type { Exit } from '../jobset/worker-end/worker-end.ts';
import { overhearing } from './overhearing.ts';
import { MarkerVolume } from './pods/marker-volume.ts';
import {
  type AgentProcess,
  apiChannelOf,
  fallbackChannelOf,
  ownRanksOf,
} from './pods/pod-agents.ts';
import { SidecarPod } from './pods/sidecar-pod.ts';
import type { SimulatedPreflight } from './pods/simulated-preflight.ts';
import type { Train } from './pods/simulated-process.ts';
import { SupervisedPod } from './pods/supervised-pod.ts';
import { ProcessLife } from './process-life.ts';
import type { Training } from './training.ts';
import { Weather } from './weather.ts';

export interface MemberOptions {
  readonly pod: Stored<Pod>;
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly server: Transport;
  readonly connector: StreamConnector;
  /** The channel of its agent, or one around it that only listens. */
  readonly overheard: (channel: Channel) => Channel;
  readonly training: Training;
  /** Chance for standbys; absent: there are none. */
  readonly standbys?: Random | undefined;
  /** What a preflight finds. */
  readonly isSound: () => boolean;
  readonly told: MemberListener;
}

/** What the world sees of a member. */
export interface MemberListener {
  started(member: Member, epoch: number, wasStandby: boolean): void;
  /** Its agent stops the worker, because the epoch is over. */
  stopped(member: Member, epoch: number): void;
  ended(member: Member, epoch: number, exit: Exit): void;
  /** The container has ended, and the kubelet does not start it again. */
  left(member: Member, exitCode: number): void;
  /** A process of its standby starts; `beside`: others of its number that live. */
  standbyStarted(member: Member, beside: number): void;
  /** A process of its worker that was a standby is about to die. */
  dies(member: Member, local: number): void;
}

/** `replicatedJob/jobIndex/completionIndex` */
export function slotOf({ metadata }: Pod): string {
  const { labels, annotations } = metadata;
  return `${labels?.[REPLICATED_JOB_NAME]}/${labels?.[JOB_INDEX]}/${annotations?.[COMPLETION_INDEX]}`;
}

/** Its node starts and stops the agent and the worker as containers of their own. */
export function hasSidecar({ spec }: Pod): boolean {
  return spec.initContainers?.some(({ name }) => name === AGENT_CONTAINER_NAME) === true;
}

const SIGTERM_EXIT_CODE = 143;
/** Some workers clean up when they are to stop, which takes up to this long. */
const MAX_STOP_MS = 5000;
const SLOW_STOP_SHARE = 0.3;

export class Member {
  readonly pod: Stored<Pod>;
  readonly slot: string;
  readonly weather: Weather;
  readonly volume = new MarkerVolume();
  readonly #options: MemberOptions;
  readonly #worker: SupervisedPod | SidecarPod;
  #life: ProcessLife | undefined;

  constructor(options: MemberOptions) {
    const { pod, random, training, standbys, isSound, told } = options;
    this.pod = pod;
    this.slot = slotOf(pod);
    this.#options = options;
    this.weather = new Weather(random);
    const shared = {
      jobSetUid: pod.metadata.labels?.[JOBSET_UID],
      ownRanks: ownRanksOf(pod),
      volume: this.volume,
      boot: (announced: number) => this.#boot(announced),
      train: ((report) => training.start(report)) satisfies Train,
      stopMs: () => (random.next() < SLOW_STOP_SHARE ? random.next() * MAX_STOP_MS : 0),
      told: {
        started: (epoch: number, _?: MemberRanks, wasStandby = false) => {
          this.volume.started = epoch;
          told.started(this, epoch, wasStandby);
        },
        stopped: (epoch: number) => told.stopped(this, epoch),
        ended: (epoch: number, exit: Exit) => told.ended(this, epoch, exit),
        left: (reason: LeaveReason | undefined) => this.#left(reason),
        standbyStarted: (beside: number) => told.standbyStarted(this, beside),
        dies: (local: number) => told.dies(this, local),
      },
    };
    const kill = (): void => this.#life?.kill();
    this.#worker = hasSidecar(pod)
      ? new SidecarPod({ ...shared, clock: options.clock, kill })
      : new SupervisedPod({ ...shared, standbys, preflight: preflightOf(pod, isSound) });
  }

  /** Plays the containers for the node; undefined: the agent starts the worker itself. */
  get play(): PlayContainer | undefined {
    return this.#worker instanceof SidecarPod ? this.#worker.play : undefined;
  }

  /** The epoch in which the worker runs; undefined if none does. */
  get epoch(): number | undefined {
    return this.#worker.epoch;
  }

  /** The epochs in which processes of it train. */
  get epochs(): readonly number[] {
    return this.supervised?.epochs ?? (this.epoch === undefined ? [] : [this.epoch]);
  }

  /** Undefined: its agent is a sidecar. */
  get supervised(): SupervisedPod | undefined {
    return this.#worker instanceof SupervisedPod ? this.#worker : undefined;
  }

  /** The numbers of the ranks that run; undefined: the worker is none. */
  get ranks(): MemberRanks | undefined {
    return this.#worker instanceof SidecarPod ? undefined : this.#worker.ranks;
  }

  /** `process`: the process of the worker that ends first; absent: all end. */
  exit(exit: Exit, process?: number): void {
    this.#worker.exit(exit, process);
  }

  /** The process does nothing more, and runs on. */
  hang(process: number): void {
    this.#worker.hang(process);
  }

  /** The agent's container dies, its worker with it, and is started again. */
  crash(): void {
    this.#life?.kill();
    this.#worker.crash();
  }

  /** The wall clock of the agent is this far ahead of the world's. */
  jump(aheadMs: number): void {
    if (this.#life !== undefined) this.#life.aheadMs = aheadMs;
  }

  /** The Pod is to end. Its node tells containers of their own. */
  terminate(): void {
    this.supervised?.terminate();
  }

  /** Everything in the Pod is gone at once. */
  vanish(): void {
    this.#life?.kill();
    this.#worker.die();
  }

  #boot(announced: number): AgentProcess {
    const { pod, clock: world, random, server, connector, overheard } = this.#options;
    const life = new ProcessLife(world, server, this.weather);
    this.#life = life;
    const { clock, transport, gone } = life;
    const client = createClient({ transport, clock, random, userAgent: 'lockstep-agent' });
    const runtime = { client, clock, random, logger: SILENT };
    const channel =
      variableOf(pod, ENV_HUB_URL) === undefined
        ? apiChannelOf(pod, 'Canonical', runtime, announced)
        : fallbackChannelOf(pod, runtime, connector, announced);
    const announces = ({ epoch }: Announcement): void => {
      this.volume.announced = epoch;
    };
    return { clock, gone, channel: overhearing(overheard(channel), { announces }) };
  }

  #left(reason: LeaveReason | undefined): void {
    // The container is started again.
    if (reason === undefined) {
      this.crash();
      return;
    }
    const code = reason.type === 'WorkerExit' ? exitCodeOf(reason.end.exit) : SIGTERM_EXIT_CODE;
    this.vanish();
    this.#options.told.left(this, code);
  }
}

function preflightOf(pod: Pod, isSound: () => boolean): SimulatedPreflight | undefined {
  const line = variableOf(pod, ENV_PREFLIGHT);
  return line === undefined ? undefined : { line, isSound };
}

/** As the Pod's template gives it to its agent. */
function variableOf({ spec }: Pod, name: string): string | undefined {
  const containers = [...(spec.initContainers ?? []), ...spec.containers];
  return containers.flatMap(({ env = [] }) => env).find((each) => each.name === name)?.value;
}

export function runningOf({ slot, pod, epoch, ranks }: Member) {
  return { slot, pod: pod.metadata.name, epoch, ranks };
}
