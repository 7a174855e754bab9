/** The agents of one simulated Pod, one after the other, and what its volume keeps between them. */
import type { Stored } from '@lockstep/kube/meta.ts';
import { COMPLETION_INDEX } from '@lockstep/kube/objects/job.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { ClientPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import type { StreamConnector } from '@lockstep/kube/runtime/ports/stream.ts';
import { type Agent, type Body, startAgent } from '../../agent/agent.ts';
import { createApiChannel } from '../../agent/api-channel.ts';
import type { LeaveReason } from '../../agent/barrier-state.ts';
import type { Channel } from '../../agent/channel.ts';
import { createFallbackChannel } from '../../agent/fallback-channel.ts';
import { createHubChannel } from '../../agent/hub-channel.ts';
import { NO_MARKER, parseMarker } from '../../agent/marker.ts';
import { createMarkerFile } from '../../agent/marker-file.ts';
import type { OwnRanks } from '../../agent/own-ranks.ts';
import type { Dialect } from '../../agent/pod-annotations.ts';
import { MemberProgress, type Reporter } from '../../agent/progress/member-progress.ts';
import { JOB_INDEX, JOBSET_NAME, JOBSET_UID, REPLICATED_JOB_NAME } from '../../jobset/names.ts';
import { carriedProcesses } from '../../jobset/ranks/processes-per-pod.ts';
import { MarkerVolume } from './marker-volume.ts';

/** One run of the agent's container. */
export interface AgentProcess {
  readonly clock: Clock;
  readonly channel: Channel;
  /** Aborts when the process is gone: it writes nothing more. */
  readonly gone?: AbortSignal;
}

export interface PodAgentsOptions {
  /** Undefined: the agent does not know its JobSet. */
  readonly jobSetUid: string | undefined;
  /** Absent: the worker is no rank. */
  readonly ownRanks?: OwnRanks | undefined;
  /** Starts the agent's process; `announced` is what its marker says. */
  readonly boot: (announced: number) => AgentProcess;
  /** By default one of its own. */
  readonly volume?: MarkerVolume;
}

export class PodAgents {
  readonly #options: PodAgentsOptions;
  readonly #volume: MarkerVolume;

  constructor(options: PodAgentsOptions) {
    this.#options = options;
    this.#volume = options.volume ?? new MarkerVolume();
  }

  /** `left`: the agent has left its container; undefined: it could not continue. */
  start<B extends Body>(
    bodyOf: (process: AgentProcess) => B,
    left: (reason: LeaveReason | undefined) => void,
  ): { readonly process: AgentProcess; readonly agent: Agent; readonly body: B } {
    const { jobSetUid, ownRanks, boot } = this.#options;
    const marker = parseMarker(this.#volume.text) ?? NO_MARKER;
    const process = boot(marker.announced);
    const { clock, channel, gone } = process;
    const body = bodyOf(process);
    const agent = startAgent({
      jobSetUid,
      ownRanks,
      marker,
      markers: createMarkerFile(this.#volume.directoryFor(gone), SILENT),
      clock,
      logger: SILENT,
      channel,
      body,
    });
    const leaves = (reason: LeaveReason | undefined): void => {
      if (gone?.aborted !== true) left(reason);
    };
    agent.left.then(leaves, () => leaves(undefined));
    return { process, agent, body };
  }
}

/** As the variables of the Pod's template give them to its agent. */
export function ownRanksOf({ metadata, spec }: Stored<Pod>): OwnRanks | undefined {
  const processes = carriedProcesses({ spec });
  if (processes === undefined) return undefined;
  return {
    replicatedJob: metadata.labels?.[REPLICATED_JOB_NAME] ?? '',
    jobIndex: Number(metadata.annotations?.[JOB_INDEX]),
    completionIndex: Number(metadata.annotations?.[COMPLETION_INDEX]),
    processes,
    hasLogPrefix: true,
  };
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
export class WatchedProgress extends MemberProgress {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    super();
    this.#clock = clock;
  }

  report(line: string, local?: number): void {
    this.look(this.#clock.monotonic());
    this.took(line, local);
  }

  override get reporters(): readonly Reporter[] {
    this.look(this.#clock.monotonic());
    return super.reporters;
  }
}
