/**
 * One JobSet on an API server in memory, the real operator with its caches, roster, planner and hub,
 * and Pods whose agents are barriers, all in one process under a virtual clock. Nothing costs time but
 * what the caller's ports charge. The caller does the work of the Job controller and of nodes.
 */
import { TestServer } from '@lockstep/embedded-kubernetes/in-memory';
import type { Stored } from '@lockstep/kube/meta.ts';
import { SERVICE_ACCOUNTS } from '@lockstep/kube/objects/core.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '@lockstep/kube/objects/custom-resource-definition.ts';
import { COMPLETION_INDEX, JOBS, type Job } from '@lockstep/kube/objects/job.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { sha1 } from '@lockstep/kube/runtime/adapters/sha1.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { createClient } from '@lockstep/kube/runtime/client/http-client.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import type { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { Transport } from '@lockstep/kube/runtime/ports/transport.ts';
import { UNLIMITED_BACKOFF } from '../../jobset/defaults.ts';
import type { AgentMessage } from '../../jobset/hub/message.ts';
import { JOBSETS, type JobSet, type JobSetSpec } from '../../jobset/jobset.ts';
import { RESTART_MODE } from '../../jobset/names.ts';
import { JOBSET_CRD } from '../../jobset/schema/crd.ts';
import { type Operator, startOperator } from '../../operator/operator.ts';
import { HubAgent } from './hub-agent.ts';

const NAMESPACE = 'default';
const SEED = 7;
const CONTAINERS = [{ name: 'worker', image: 'none', command: ['train'] }];
/** One JobSet gets three quarters of the streams of a hub. */
const STREAMS_PER_MEMBER = 2;
/** Bounds the start and the end of the operator, in virtual time. */
const OPERATOR_LIMIT_MS = 30 * 60_000;

/** What the operator gets in place of the clock of the world and its direct way to the API server. */
export interface OperatorPorts {
  readonly clock: Clock;
  readonly transport: Transport;
}

/** The ways between one agent and the hub. Each calls `deliver` when bytes have arrived. */
export interface AgentNetwork {
  toHub(type: AgentMessage['type'], deliver: () => void): void;
  toAgent(deliver: () => void): void;
  started(epoch: number): void;
  stopped(epoch: number): void;
}

export interface HubMember {
  readonly agent: HubAgent;
  /** Its Pod is gone, and the stream with it. */
  end(): void;
}

export class HubGroup {
  readonly client: Client;
  readonly clock: VirtualClock;
  /** The direct way to the API server. */
  readonly transport: Transport;
  readonly #server: TestServer;
  readonly #random = new SeededRandom(SEED);
  #operator: Operator | undefined;
  #isOver = false;

  private constructor(server: TestServer) {
    const { transport, clock } = server;
    this.#server = server;
    this.transport = transport;
    this.clock = clock;
    this.client = createClient({ transport, clock, random: this.#random, userAgent: 'simulator' });
  }

  /** An API server that knows JobSets, without an operator. */
  static async started(): Promise<HubGroup> {
    const group = new HubGroup(await TestServer.start());
    await group.client.create(CUSTOM_RESOURCE_DEFINITIONS, JOBSET_CRD);
    await group.client.create(SERVICE_ACCOUNTS, {
      apiVersion: 'v1',
      kind: SERVICE_ACCOUNTS.kind,
      metadata: { namespace: NAMESPACE, name: 'default' },
    });
    return group;
  }

  /** Resolves when the operator acts. */
  startOperator(ports: OperatorPorts, members: number): Promise<void> {
    return this.#reached(this.#startOperator(ports, STREAMS_PER_MEMBER * members));
  }

  async jobs(): Promise<readonly Stored<Job>[]> {
    return (await this.client.list(JOBS, { namespace: NAMESPACE })).items;
  }

  /** The Pod of a completion index, as the Job controller makes it. */
  createPod(job: Stored<Job>, slot: number, name: string, nodeName?: string): Promise<Stored<Pod>> {
    const { metadata: template } = job.spec.template;
    const { name: jobName, uid } = job.metadata;
    const owner = { apiVersion: 'batch/v1', kind: JOBS.kind, name: jobName, uid, controller: true };
    return this.client.create(PODS, {
      apiVersion: 'v1',
      kind: PODS.kind,
      metadata: {
        namespace: NAMESPACE,
        name,
        labels: template?.labels ?? {},
        annotations: { ...template?.annotations, [COMPLETION_INDEX]: String(slot) },
        ownerReferences: [owner],
      },
      // Cut short, because the operator watches metadata only.
      spec: {
        restartPolicy: 'Never',
        automountServiceAccountToken: false,
        containers: CONTAINERS,
        ...(nodeName === undefined ? {} : { nodeName }),
      },
    });
  }

  /** A stream between a new agent and the hub. The agent has not greeted yet. */
  async connect(
    { name, uid }: Stored<Pod>['metadata'],
    jobSetUid: string,
    network: AgentNetwork,
  ): Promise<HubMember> {
    const token = `${name}/${uid}`;
    const answer = await this.#operator?.hub?.accept({ token, address: 'memory' });
    if (answer?.kind !== 'Accept') {
      throw new Error(`the hub refused ${token}: ${JSON.stringify(answer)}`);
    }
    let isGone = false;
    const agent = new HubAgent({
      clock: this.clock,
      jobSetUid,
      send: (bytes, type) => network.toHub(type, () => listener.received(bytes)),
      started: (epoch) => network.started(epoch),
      stopped: (epoch) => network.stopped(epoch),
    });
    const ended = (): void => {
      if (!isGone && !this.#isOver) throw new Error(`the hub ended the stream of ${name}`);
    };
    const listener = answer.open({
      write: (bytes) => {
        if (!this.#isOver) network.toAgent(() => agent.hear(bytes));
      },
      unreadBytes: 0,
      end: ended,
      destroy: ended,
    });
    return {
      agent,
      end: () => {
        isGone = true;
        agent.end();
        listener.closed(undefined);
      },
    };
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    if (this.#operator !== undefined) await this.#reached(this.#operator.stop());
    await this.#reached(this.#server.api.close());
  }

  async #startOperator({ clock, transport }: OperatorPorts, maxStreams: number): Promise<void> {
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
        maxStreams,
      },
    });
  }

  async #reached(work: Promise<void>): Promise<void> {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    // Its failure is thrown below.
    done.catch(() => undefined);
    await this.clock.runUntil(() => isDone, OPERATOR_LIMIT_MS);
    await done;
  }
}

/** A JobSet of supervisors, each of its Jobs with as many Pods. */
export function supervisedJobSet(
  size: { readonly replicas: number; readonly pods: number },
  failurePolicy: NonNullable<JobSetSpec['failurePolicy']>,
  annotations: Readonly<Record<string, string>> = {},
): JobSet {
  const { replicas, pods } = size;
  return {
    apiVersion: `${JOBSETS.group}/${JOBSETS.version}`,
    kind: JOBSETS.kind,
    metadata: {
      name: 'train',
      namespace: NAMESPACE,
      annotations: { [RESTART_MODE]: 'Supervisor', ...annotations },
    },
    spec: {
      failurePolicy,
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
