/**
 * A restart in place of a group of any size over the hub, under a virtual clock. The operator, its
 * caches and hub, the barriers of the agents, their messages and the API server are the real code. What
 * is not there costs virtual time (`costs.ts`): TLS and sockets, the network, and a real API server.
 * The start of the group is free.
 */
import { TestServer } from '@lockstep/embedded-kubernetes/in-memory';
import type { Stored } from '@lockstep/kube/meta.ts';
import { SERVICE_ACCOUNTS } from '@lockstep/kube/objects/core.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '@lockstep/kube/objects/custom-resource-definition.ts';
import {
  COMPLETION_INDEX,
  JOB_TRACKING_FINALIZER,
  JOBS,
  type Job,
} from '@lockstep/kube/objects/job.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { sha1 } from '@lockstep/kube/runtime/adapters/sha1.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { createClient } from '@lockstep/kube/runtime/client/http-client.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { Transport } from '@lockstep/kube/runtime/ports/transport.ts';
import { UNLIMITED_BACKOFF } from '../../jobset/defaults.ts';
import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import { RESTART_BACKOFF, RESTART_MODE } from '../../jobset/names.ts';
import { JOBSET_CRD } from '../../jobset/schema/crd.ts';
import { DEFAULT_SIZE_LIMITS } from '../../jobset/size-limits.ts';
import { STREAM_KIB } from '../../operator/configuration/stream-memory.ts';
import { type Operator, startOperator } from '../../operator/operator.ts';
import { BusyThread } from './busy-thread.ts';
import {
  API_REQUEST_MS,
  MESSAGE_MS,
  NETWORK_MS,
  OPERATOR_REQUEST_MS,
  PROGRAM_MIB,
  shareAtRest,
} from './costs.ts';
import { PredictedAgent } from './predicted-agent.ts';

const NAMESPACE = 'default';
const NAME = 'train';
const SEED = 7;
/** Kubernetes allows an Indexed Job no more. */
export const MAX_COMPLETIONS = 100_000;
/** One JobSet gets three quarters of the streams of a hub. */
const STREAMS_PER_MEMBER = 2;
const CONTAINERS = [{ name: 'worker', image: 'none', command: ['train'] }];
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
  readonly #server: TestServer;
  readonly #client: Client;
  readonly #random = new SeededRandom(SEED);
  /** The leader, which also plans and asks the API server. */
  readonly #leader: BusyThread;
  /** One for each replica that has streams, the leader first. */
  #threads: readonly BusyThread[];
  readonly #agents: PredictedAgent[] = [];
  #operator: Operator | undefined;
  /** Workers that have started since the last failure, or ever. */
  #started = 0;
  /** When a worker ended last. */
  #stoppedMs = 0;
  #requests = 0;
  #messages = 0;
  #isOver = false;

  private constructor(members: number, server: TestServer) {
    const { transport, clock } = server;
    this.#members = members;
    this.#server = server;
    this.#client = createClient({ transport, clock, random: this.#random, userAgent: 'simulator' });
    this.#leader = new BusyThread(clock);
    this.#threads = [this.#leader];
  }

  /** Resolves when all workers of a group of that size run. */
  static async started(members: number): Promise<PredictedGroup> {
    const group = new PredictedGroup(members, await TestServer.start());
    await group.#start();
    return group;
  }

  /** One worker fails, and all run again. A group can do this a few times. */
  async restart({ operators, slower }: Sharing): Promise<Prediction> {
    const members = this.#members;
    const { clock } = this.#server;
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
    this.#isOver = true;
    this.#leader.pace = 0;
    if (this.#operator !== undefined) await this.#reached(this.#operator.stop());
    await this.#reached(this.#server.api.close());
  }

  async #start(): Promise<void> {
    const { clock } = this.#server;
    const account = { namespace: NAMESPACE, name: 'default' };
    await this.#client.create(CUSTOM_RESOURCE_DEFINITIONS, JOBSET_CRD);
    await this.#client.create(SERVICE_ACCOUNTS, {
      apiVersion: 'v1',
      kind: SERVICE_ACCOUNTS.kind,
      metadata: account,
    });
    await this.#reached(this.#startOperator());
    const jobSet = await this.#client.create(JOBSETS, jobSetOf(this.#members));
    const count = jobSet.spec.replicatedJobs?.[0]?.replicas;
    const jobs = async () => (await this.#client.list(JOBS, { namespace: NAMESPACE })).items;
    await clock.runUntil(async () => (await jobs()).length === count, LIMIT_MS);
    const tokens: string[] = [];
    for (const job of await jobs()) {
      for (let slot = 0; slot < (job.spec.completions ?? 0); slot++) {
        const { metadata } = await this.#client.create(PODS, podOf(job, slot));
        tokens.push(`${metadata.name}/${metadata.uid}`);
      }
    }
    // So that the Pods are older than their first epoch.
    await clock.advance(POD_START_MS);
    for (const token of tokens) await this.#connect(token, jobSet.metadata.uid);
    for (const agent of this.#agents) agent.greet();
    await this.#untilStarted();
  }

  async #startOperator(): Promise<void> {
    const transport = this.#charged();
    const { clock } = this.#leader;
    const random = this.#random;
    this.#operator = await startOperator({
      client: createClient({ transport, clock, random, userAgent: 'lockstep-operator' }),
      clock,
      random,
      logger: SILENT,
      sha1,
      config: { agentImage: 'agent' },
      hub: {
        access: () => ({ url: 'https://hub', authorities: '', channel: 'Auto' }),
        podOf: (token) => {
          const [podName = '', podUid = ''] = token.split('/');
          const claim = { namespace: NAMESPACE, podName, podUid, serviceAccount: 'default' };
          return Promise.resolve({ kind: 'Pod', claim });
        },
        maxStreams: STREAMS_PER_MEMBER * this.#members,
      },
    });
  }

  /** The way of the operator to the API server. Watches are free. */
  #charged(): Transport {
    const leader = this.#leader;
    const { clock, transport } = this.#server;
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
  async #connect(token: string, jobSetUid: string): Promise<void> {
    const { clock } = this.#server;
    const index = this.#agents.length;
    const thread = (): BusyThread => this.#threads[index % this.#threads.length] ?? this.#leader;
    const answer = await this.#operator?.hub?.accept({ token, address: 'memory' });
    if (answer?.kind !== 'Accept') {
      throw new Error(`the hub refused ${token}: ${JSON.stringify(answer)}`);
    }
    const agent = new PredictedAgent({
      jobSetUid,
      send: (bytes) => {
        this.#messages++;
        clock.setTimer(NETWORK_MS, () => {
          thread().run(MESSAGE_MS, () => listener.received(bytes));
        });
      },
      started: () => this.#started++,
      stopped: () => {
        this.#stoppedMs = clock.monotonic();
      },
    });
    const ended = (): void => {
      if (!this.#isOver) throw new Error(`the hub ended the stream of ${token}`);
    };
    const listener = answer.open({
      write: (bytes) => {
        if (this.#isOver) return;
        this.#messages++;
        clock.setTimer(thread().charge(MESSAGE_MS) + NETWORK_MS, () => agent.hear(bytes));
      },
      unreadBytes: 0,
      end: ended,
      destroy: ended,
    });
    this.#agents.push(agent);
  }

  #untilStarted(): Promise<void> {
    return this.#server.clock.runUntil(() => this.#started === this.#members, LIMIT_MS);
  }

  async #reached(work: Promise<void>): Promise<void> {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    // Its failure is thrown below.
    done.catch(() => undefined);
    await this.#server.clock.runUntil(() => isDone, LIMIT_MS);
    await done;
  }
}

/** As few Jobs as Kubernetes allows, all of the same size. */
function jobSetOf(members: number): JobSet {
  const replicas = Math.ceil(members / MAX_COMPLETIONS);
  const pods = members / replicas;
  return {
    apiVersion: `${JOBSETS.group}/${JOBSETS.version}`,
    kind: JOBSETS.kind,
    metadata: {
      name: NAME,
      namespace: NAMESPACE,
      annotations: { [RESTART_MODE]: 'Supervisor', [RESTART_BACKOFF]: 'Disabled' },
    },
    spec: {
      failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: MAX_RESTARTS },
      replicatedJobs: [
        {
          name: 'w',
          replicas,
          template: {
            spec: {
              backoffLimit: UNLIMITED_BACKOFF,
              podReplacementPolicy: 'Failed',
              completionMode: 'Indexed',
              completions: pods,
              parallelism: pods,
              template: { spec: { restartPolicy: 'Never', containers: CONTAINERS } },
            },
          },
        },
      ],
    },
  };
}

/**
 * The Pod of a completion index, as the Job controller makes it. Its spec is cut short, because the
 * operator watches metadata only.
 */
function podOf({ metadata, spec }: Stored<Job>, slot: number): Pod {
  const { metadata: template } = spec.template;
  const { name, uid } = metadata;
  const owner = { apiVersion: 'batch/v1', kind: JOBS.kind, name, uid, controller: true };
  return {
    apiVersion: 'v1',
    kind: PODS.kind,
    metadata: {
      namespace: NAMESPACE,
      name: `${name}-${slot}`,
      labels: template?.labels ?? {},
      annotations: { ...template?.annotations, [COMPLETION_INDEX]: String(slot) },
      ownerReferences: [owner],
      finalizers: [JOB_TRACKING_FINALIZER],
    },
    spec: { restartPolicy: 'Never', automountServiceAccountToken: false, containers: CONTAINERS },
  };
}
