/**
 * A restart in place of a group of any size over the hub, under a virtual clock. The operator, its
 * caches and hub, the barriers of the agents, their messages and the API server are the real code. What
 * is not there costs virtual time (`costs.ts`): TLS and sockets, the network, and a real API server.
 * The start of the group is free.
 */
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import type { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Transport } from '@lockstep/kube/runtime/ports/transport.ts';
import { JOBSETS } from '../../jobset/jobset.ts';
import { RESTART_BACKOFF } from '../../jobset/names.ts';
import { DEFAULT_SIZE_LIMITS } from '../../jobset/size-limits.ts';
import { STREAM_KIB } from '../../operator/configuration/stream-memory.ts';
import type { HubAgent } from '../hub-group/hub-agent.ts';
import { HubGroup, supervisedJobSet } from '../hub-group/hub-group.ts';
import { BusyThread } from './busy-thread.ts';
import {
  API_REQUEST_MS,
  MESSAGE_MS,
  NETWORK_MS,
  OPERATOR_REQUEST_MS,
  PROGRAM_MIB,
  shareAtRest,
} from './costs.ts';

/** Kubernetes allows an Indexed Job no more. */
export const MAX_COMPLETIONS = 100_000;
/** More than anybody asks for. */
const MAX_RESTARTS = 1000;
const POD_START_MS = 5000;
/** Bounds each wait, in virtual time. */
const LIMIT_MS = 30 * 60_000;
const KIB_PER_MIB = 1024;

export const MAX_PREDICTED_MEMBERS: number = DEFAULT_SIZE_LIMITS.maxPods;

/** How the work of the hub is shared. */
export interface Sharing {
  /** Replicas of the operator that share the streams. Today the leader has all: 1. */
  readonly operators: number;
  /** How many times as long the operator's CPU takes as in `costs.ts`. */
  readonly slower: number;
}

export interface PredictionOptions extends Sharing {
  /** From 1 to `MAX_PREDICTED_MEMBERS`; even above `MAX_COMPLETIONS`. */
  readonly members: number;
}

export interface Prediction extends PredictionOptions {
  /** From the failure of one worker to the start of the last one. */
  readonly restartMs: number;
  /** From there to the end of the last worker. */
  readonly stoppedMs: number;
  /** CPU of the busiest replica during the restart, pings included. */
  readonly cpuMs: number;
  /** The peak of each replica. */
  readonly memoryMib: number;
  /** Share of a core that pings take in each replica. From 1 on they do not fit, and are left out above. */
  readonly shareAtRest: number;
  readonly requests: number;
  /** Between agents and the hub, in both directions. */
  readonly messages: number;
}

export class PredictedGroup {
  readonly #members: number;
  readonly #group: HubGroup;
  readonly #clock: VirtualClock;
  /** The leader, which also plans and asks the API server. */
  readonly #leader: BusyThread;
  /** One for each replica that has streams, the leader first. */
  #threads: readonly BusyThread[];
  readonly #agents: HubAgent[] = [];
  /** Workers that have started since the last failure, or ever. */
  #started = 0;
  /** When a worker ended last. */
  #stoppedMs = 0;
  #requests = 0;
  #messages = 0;

  private constructor(members: number, group: HubGroup) {
    this.#members = members;
    this.#group = group;
    this.#clock = group.clock;
    this.#leader = new BusyThread(group.clock);
    this.#threads = [this.#leader];
  }

  /** Resolves when all workers of a group of that size run. */
  static async started(members: number): Promise<PredictedGroup> {
    const group = new PredictedGroup(members, await HubGroup.started());
    await group.#start();
    return group;
  }

  /** One worker fails, and all run again. A group can do this a few times. */
  async restart({ operators, slower }: Sharing): Promise<Prediction> {
    const members = this.#members;
    const clock = this.#clock;
    const streams = Math.ceil(members / operators);
    const pings = shareAtRest(streams, slower);
    const others = Array.from({ length: operators - 1 }, () => new BusyThread(clock));
    this.#threads = [this.#leader, ...others];
    // Pings take their share of the thread all the time, so all else takes longer.
    const pace = slower / (pings < 1 ? 1 - pings : 1);
    for (const thread of this.#threads) thread.pace = pace;
    const beganMs = clock.monotonic();
    const before = this.#leader.busyMs;
    this.#started = 0;
    this.#messages = 0;
    this.#requests = 0;
    this.#agents[0]?.fail();
    await this.#untilStarted();
    return {
      members,
      operators,
      slower,
      restartMs: clock.monotonic() - beganMs,
      stoppedMs: this.#stoppedMs - beganMs,
      cpuMs: Math.max(this.#leader.busyMs - before, ...others.map(({ busyMs }) => busyMs)),
      memoryMib: PROGRAM_MIB + (streams * STREAM_KIB) / KIB_PER_MIB,
      shareAtRest: pings,
      requests: this.#requests,
      messages: this.#messages,
    };
  }

  async stop(): Promise<void> {
    this.#leader.pace = 0;
    await this.#group.stop();
  }

  async #start(): Promise<void> {
    const group = this.#group;
    const { clock } = this.#leader;
    const ports = { clock, transport: this.#charged() };
    await group.startOperator(ports, this.#members);
    // As few Jobs as Kubernetes allows, all of the same size.
    const replicas = Math.ceil(this.#members / MAX_COMPLETIONS);
    const jobSet = await group.client.create(
      JOBSETS,
      supervisedJobSet(
        { replicas, pods: this.#members / replicas },
        { restartStrategy: 'InPlaceRestart', maxRestarts: MAX_RESTARTS },
        { [RESTART_BACKOFF]: 'Disabled' },
      ),
    );
    await this.#clock.runUntil(async () => (await group.jobs()).length === replicas, LIMIT_MS);
    const pods: Stored<Pod>['metadata'][] = [];
    for (const job of await group.jobs()) {
      for (let slot = 0; slot < (job.spec.completions ?? 0); slot++) {
        pods.push((await group.createPod(job, slot, `${job.metadata.name}-${slot}`)).metadata);
      }
    }
    // So that the Pods are older than their first epoch.
    await this.#clock.advance(POD_START_MS);
    for (const pod of pods) await this.#connect(pod, jobSet.metadata.uid);
    for (const agent of this.#agents) agent.greet();
    await this.#untilStarted();
  }

  /** The way of the operator to the API server. Watches are free. */
  #charged(): Transport {
    const leader = this.#leader;
    const { transport } = this.#group;
    const clock = this.#clock;
    return {
      send: async (request) => {
        const isFree = leader.pace === 0 || request.path.includes('watch=true');
        if (isFree) return transport.send(request);
        this.#requests++;
        await new Promise<void>((resolve) => leader.run(OPERATOR_REQUEST_MS, resolve));
        await sleep(clock, NETWORK_MS + API_REQUEST_MS, request.signal);
        const response = await transport.send(request);
        await sleep(clock, NETWORK_MS, request.signal);
        return response;
      },
    };
  }

  /** A stream between a new agent and the hub, always through the thread of one replica. */
  async #connect(pod: Stored<Pod>['metadata'], jobSetUid: string): Promise<void> {
    const clock = this.#clock;
    const index = this.#agents.length;
    const thread = (): BusyThread => this.#threads[index % this.#threads.length] ?? this.#leader;
    const { agent } = await this.#group.connect(pod, jobSetUid, {
      toHub: (_, deliver) => {
        this.#messages++;
        clock.setTimer(NETWORK_MS, () => {
          thread().run(MESSAGE_MS, deliver);
        });
      },
      toAgent: (deliver) => {
        this.#messages++;
        clock.setTimer(thread().charge(MESSAGE_MS) + NETWORK_MS, deliver);
      },
      started: () => this.#started++,
      stopped: () => {
        this.#stoppedMs = clock.monotonic();
      },
    });
    this.#agents.push(agent);
  }

  #untilStarted(): Promise<void> {
    return this.#clock.runUntil(() => this.#started === this.#members, LIMIT_MS);
  }
}
