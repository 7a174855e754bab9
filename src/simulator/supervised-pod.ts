/** The agent of one Pod as a supervisor, and a worker that runs until somebody ends it. */
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { ClientPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import type { StreamConnector } from '@lockstep/kube/runtime/ports/stream.ts';
import { type Agent, type Body, startAgent } from '../agent/agent.ts';
import { createApiChannel } from '../agent/api-channel.ts';
import type { LeaveReason } from '../agent/barrier-state.ts';
import type { Channel } from '../agent/channel.ts';
import { createFallbackChannel } from '../agent/fallback-channel.ts';
import { createHubChannel } from '../agent/hub-channel.ts';
import { formatMarker, NO_MARKER, parseMarker } from '../agent/marker.ts';
import type { OwnRanks } from '../agent/own-ranks.ts';
import type { Dialect } from '../agent/pod-annotations.ts';
import { MemberProgress, type Reporter } from '../agent/progress/member-progress.ts';
import type { OwnEnd } from '../agent/worker-exit.ts';
import { JOBSET_NAME, JOBSET_UID, REPLICATED_JOB_NAME } from '../jobset/names.ts';
import type { MemberRanks } from '../jobset/ranks/member-ranks.ts';
import type { Exit } from '../jobset/worker-end/worker-end.ts';

/** One run of the agent's container. */
export interface AgentProcess {
  readonly clock: Clock;
  readonly channel: Channel;
  /** Aborts when the process is gone: it writes nothing more. */
  readonly gone?: AbortSignal;
}

export interface SupervisedPodOptions {
  /** Undefined: the agent does not know its JobSet. */
  readonly jobSetUid: string | undefined;
  /** Absent: the worker is no rank. */
  readonly ownRanks?: OwnRanks | undefined;
  /** Starts the agent's process; `announced` is what its marker says. */
  readonly boot: (announced: number) => AgentProcess;
  readonly told: WorkerListener;
  /** How long the worker takes to end once it is to stop; by default no time. */
  readonly stopMs?: () => number;
}

export interface WorkerListener {
  started(epoch: number, ranks?: MemberRanks): void;
  /** The agent stops the worker, because the epoch is over. */
  stopped?(epoch: number): void;
  ended?(epoch: number, exit: Exit): void;
  /** The agent has left its container; undefined: it could not continue. */
  left?(reason: LeaveReason | undefined): void;
}

export class SupervisedPod {
  readonly #options: SupervisedPodOptions;
  /** What the Pod's volume keeps. */
  #marker = '';
  #agent: Agent;
  #process: AgentProcess;
  #progress: WatchedProgress;
  #epoch: number | undefined;
  #ended: Parameters<Body['lift']>[1] | undefined;

  constructor(options: SupervisedPodOptions) {
    this.#options = options;
    [this.#process, this.#agent, this.#progress] = this.#boot();
  }

  /** The epoch in which the worker runs; undefined if none does. */
  get epoch(): number | undefined {
    return this.#epoch;
  }

  exit(exit: Exit): void {
    const isFailure = 'signal' in exit || exit.exitCode !== 0;
    this.#exited({ how: 'Unknown', exit, ...(isFailure && { restartsGroup: true }) });
  }

  /** The worker writes a line about its progress. */
  report(line: string): void {
    this.#progress.report(line);
  }

  /** The agent gets SIGTERM, and passes it on. */
  stop(): void {
    this.#agent.stop('SIGTERM');
  }

  /** The worker ends of the signal that it got. */
  endSoon(): void {
    this.#endSoon(() => this.exit({ signal: 'SIGTERM' }));
  }

  /** All processes are gone at once. */
  die(): void {
    this.#process.channel.close();
    const epoch = this.#epoch;
    this.#epoch = undefined;
    this.#ended = undefined;
    if (epoch !== undefined) this.#options.told.ended?.(epoch, { signal: 'SIGKILL' });
  }

  /** The container dies, and is started again. `keeps`: the share of the marker's file that is left. */
  crash(keeps = 1): void {
    this.die();
    this.#marker = this.#marker.slice(0, Math.floor(keeps * this.#marker.length));
    [this.#process, this.#agent, this.#progress] = this.#boot();
  }

  #boot(): [AgentProcess, Agent, WatchedProgress] {
    const { jobSetUid, ownRanks, boot, told } = this.#options;
    const marker = parseMarker(this.#marker) ?? NO_MARKER;
    const process = boot(marker.announced);
    const { clock, channel, gone } = process;
    const progress = new WatchedProgress(clock);
    const body: Body = {
      mode: 'Supervisor',
      lift: (epoch, ended, ranks) => {
        progress.begin(clock.monotonic());
        this.#epoch = epoch;
        this.#ended = ended;
        told.started(epoch, ranks);
      },
      progress,
      stopWorker: () => {
        if (this.#epoch !== undefined) told.stopped?.(this.#epoch);
        this.#endSoon(() => this.#exited({ how: 'Unknown', exit: { signal: 'SIGTERM' } }));
      },
      killHung: () => {
        const silentMs = Math.round(progress.silentMs);
        this.#exited({ how: 'Hung', exit: { signal: 'SIGKILL' }, silentMs, restartsGroup: true });
      },
      hurry: () => undefined,
    };
    const agent = startAgent({
      jobSetUid,
      ownRanks,
      marker,
      markers: {
        read: () => Promise.resolve(parseMarker(this.#marker)),
        write: (next) => {
          if (gone?.aborted !== true) this.#marker = formatMarker(next);
          return Promise.resolve();
        },
      },
      clock,
      logger: SILENT,
      channel,
      body,
    });
    const left = (reason: LeaveReason | undefined): void => {
      if (gone?.aborted !== true) told.left?.(reason);
    };
    agent.left.then(left, () => left(undefined));
    return [process, agent, progress];
  }

  #endSoon(end: () => void): void {
    const delayMs = this.#options.stopMs?.() ?? 0;
    const ended = this.#ended;
    if (delayMs === 0) end();
    else this.#process.clock.setTimer(delayMs, () => this.#ended === ended && end());
  }

  #exited(known: Omit<OwnEnd, 'epoch' | 'atMs'>): void {
    const epoch = this.#epoch;
    const ended = this.#ended;
    if (epoch === undefined) return;
    this.#epoch = undefined;
    this.#ended = undefined;
    this.#options.told.ended?.(epoch, known.exit);
    ended?.({ ...known, epoch, atMs: this.#process.clock.monotonic() });
  }
}

/** The hub, and the API server while the hub does not answer. */
export function fallbackChannelOf(
  pod: Stored<Pod>,
  runtime: ClientPorts,
  connector: StreamConnector,
  announced: number,
): Channel {
  const jobSetUid = pod.metadata.labels?.[JOBSET_UID];
  return createFallbackChannel({
    ...runtime,
    hub: (contact) => createHubChannel({ ...runtime, connector, jobSetUid, contact }),
    api: () => apiChannelOf(pod, 'Canonical', runtime, announced),
  });
}

/** In upstream's dialect an agent knows only its own Pod. */
export function apiChannelOf(
  { metadata }: Stored<Pod>,
  dialect: Dialect,
  runtime: ClientPorts,
  announced: number,
): Channel {
  const { name, namespace = '', uid, labels } = metadata;
  const isTold = dialect === 'Canonical';
  return createApiChannel({
    ...runtime,
    namespace,
    dialect,
    jobSetName: labels?.[JOBSET_NAME] ?? '',
    jobSetUid: isTold ? labels?.[JOBSET_UID] : undefined,
    replicatedJobName: isTold ? labels?.[REPLICATED_JOB_NAME] : undefined,
    podName: name,
    podUid: isTold ? uid : undefined,
    announced,
  });
}

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
