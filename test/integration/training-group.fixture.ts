/** A JobSet on a cluster with scripted nodes, with real agents, for tests of restarts. */

import type { Stored, StringMap } from '@lockstep/kube/meta.ts';
import { EVENTS, type Event } from '@lockstep/kube/objects/event.ts';
import { COMPLETION_INDEX } from '@lockstep/kube/objects/job.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { sha1 } from '@lockstep/kube/runtime/adapters/sha1.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { createInformer } from '@lockstep/kube/runtime/informer/create-informer.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import { MemoryStreams } from '@lockstep/kube/runtime/memory/memory-streams.ts';
import { createMetrics } from '@lockstep/kube/runtime/metrics.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { type Logger, SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { ClientPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import type {
  StreamAcceptor,
  StreamAnswer,
  StreamRequest,
} from '@lockstep/kube/runtime/ports/stream.ts';
import type { Channel } from '../../src/agent/channel.ts';
import { createHubChannel } from '../../src/agent/hub-channel.ts';
import type { Dialect } from '../../src/agent/pod-annotations.ts';
import { type MemberReport, parseMemberReports } from '../../src/jobset/hub/member-report.ts';
import type { AgentChannel } from '../../src/jobset/injection/agent-hub.ts';
import { JOBSETS, type JobSet, type JobSetSpec } from '../../src/jobset/jobset.ts';
import { EPOCH, JOBSET_UID, REPLICATED_JOB_NAME } from '../../src/jobset/names.ts';
import type { MemberRanks } from '../../src/jobset/ranks/member-ranks.ts';
import { JOBSET_CRD } from '../../src/jobset/schema/crd.ts';
import { type HeardGroup, parseGroupReports } from '../../src/jobset/view/group-report.ts';
import { actOn, type Operator, startOperator } from '../../src/operator/operator.ts';
import { type OperatorCaches, startCaches } from '../../src/operator/tracking/caches.ts';
import type { BudgetLimits } from '../../src/operator/tracking/jobset-budget.ts';
import { hubOfPods } from '../../src/simulator/hub-network.ts';
import {
  apiChannelOf,
  fallbackChannelOf,
  ownRanksOf,
} from '../../src/simulator/pods/pod-agents.ts';
import { SupervisedPod, type WorkerListener } from '../../src/simulator/pods/supervised-pod.ts';
import { type ClusterUnderTest, VirtualCluster } from '../fixtures/cluster-under-test.ts';
import { InterruptedClient } from './interrupted-client.fixture.ts';

/** One start of a worker, as its Pod saw it. */
export interface WorkerStart {
  readonly slot: string;
  readonly podUid: string;
  readonly epoch: number;
  /** The numbers of its ranks, if its Pod has some. */
  readonly ranks?: MemberRanks | undefined;
}

/** The agent of one Pod with its worker. */
export interface Member {
  readonly slot: string;
  readonly podName: string;
  /** The epoch in which the worker runs; undefined if none does. */
  readonly epoch: number | undefined;
  /** The worker exits. */
  exit(exitCode: number): void;
  /** The worker writes a line about its progress; workers of other agents cannot. */
  report?(line: string): void;
  /** The container of the agent dies, its worker with it, and is started again. */
  crash(): void;
  /** The Pod ends, and everything in it. */
  end(): void;
}

export type StartMember = (
  pod: Stored<Pod>,
  slot: string,
  runtime: AgentRuntime,
  started: WorkerListener['started'],
) => Member;

/**
 * The real operator, real agents behind every Pod unless the test brings others, and workers that
 * do what the test says.
 */
export class GroupOn<C extends ClusterUnderTest> {
  readonly cluster: C;
  readonly starts: WorkerStart[] = [];
  readonly #workers = new Map<string, Member>();
  readonly #startMember: StartMember;
  /** The rights of the operator and the agents; by default all. */
  asOperator: (client: Client) => Client = (client) => client;
  asAgent: (client: Client) => Client = (client) => client;
  /** The namespaces to which the operators that start next are confined; by default none. */
  namespaces: readonly string[] | undefined;
  jobSetLimits: BudgetLimits | undefined;
  /** Whether the operators that start next act only on JobSets that name Lockstep. */
  onlyManaged = false;
  /** Whether the operators that start next give rights to accounts that templates name. */
  agentRights = false;
  /** The metrics of all operators, one after the other. */
  readonly metrics = createMetrics();
  /** By how much the wall clock of the operators that start next is ahead of the cluster's. */
  clockAheadMs = 0;
  /** Called when a worker starts. */
  onStart: (start: WorkerStart) => void = () => undefined;
  readonly #hub: HubNetwork | undefined;
  #operator: Operator | undefined;
  #operatorClient: InterruptedClient | undefined;
  #caches: OperatorCaches | undefined;
  #pods: Informer<Pod> | undefined;

  constructor(cluster: C, startMember: StartMember = supervised('Canonical'), hub?: HubNetwork) {
    this.cluster = cluster;
    this.#startMember = startMember;
    this.#hub = hub;
  }

  /** `prepare` is called before the first operator starts. */
  async start(prepare: (cluster: C) => Promise<void> = () => Promise.resolve()): Promise<void> {
    const { cluster } = this;
    await cluster.start();
    await cluster.addNode();
    await prepare(cluster);
    await this.startOperator();
    const { client, clock, random } = cluster;
    this.#pods = createInformer<Pod>({ client, resource: PODS, clock, random, logger: SILENT });
    this.#pods.subscribe({
      added: (pod) => this.#see(pod),
      updated: (pod) => this.#see(pod),
      deleted: (pod) => this.#workers.get(pod.metadata.uid)?.end(),
    });
  }

  /** The client of the operator that was started last. */
  get operatorClient(): InterruptedClient {
    if (this.#operatorClient === undefined) throw new Error('no operator was started');
    return this.#operatorClient;
  }

  /** Starts an operator in place of the running one. It dies as `prepare` says. */
  async startOperator(
    prepare: (client: InterruptedClient) => void = () => undefined,
    logger: Logger = SILENT,
  ): Promise<void> {
    await this.stopOperator();
    const client = new InterruptedClient(this.asOperator(this.cluster.client));
    prepare(client);
    this.#operatorClient = client;
    const clock = aheadBy(this.clockAheadMs, this.cluster.clock);
    const { metrics, jobSetLimits } = this;
    const options = { client, clock, random: this.cluster.random, logger, metrics, jobSetLimits };
    const hub = this.#hub?.settings;
    const config = {
      agentImage: 'agent',
      onlyManaged: this.onlyManaged,
      agentRights: this.agentRights,
      ...(this.namespaces === undefined ? {} : { namespaces: this.namespaces }),
    };
    const starting = startOperator({ ...options, sha1, hub, config });
    this.#operator = await this.cluster.reached(starting);
    if (this.#hub !== undefined) this.#hub.acceptor = this.#operator.hub?.accept;
  }

  /**
   * Begins a term in place of the running operator, on caches that outlive it. When its client
   * dies, the lease is lost.
   */
  async beginTerm(prepare: (client: InterruptedClient) => void = () => undefined): Promise<void> {
    await this.stopOperator();
    const all = this.asOperator(this.cluster.client);
    const config = { agentImage: 'agent' };
    const base = { clock: this.cluster.clock, random: this.cluster.random, logger: SILENT, config };
    this.#caches ??= startCaches({ ...base, client: all });
    await this.cluster.reached(this.#caches.whenSynced());
    const client = new InterruptedClient(all);
    prepare(client);
    const lost = new AbortController();
    const { onDeath } = client;
    client.onDeath = () => {
      onDeath();
      lost.abort(new Error('the lease was lost'));
    };
    this.#operatorClient = client;
    const hub = this.#hub?.settings;
    this.#caches.reconnect();
    this.#operator = actOn(this.#caches, { ...base, client, sha1, signal: lost.signal, hub });
    if (this.#hub !== undefined) this.#hub.acceptor = this.#operator.hub?.accept;
  }

  /**
   * Another operator beside the running one, as after a leader that does not know it is deposed.
   */
  secondOperator(): {
    start(): Promise<void>;
    stop(): Promise<void>;
    readonly acceptStream: StreamAcceptor | undefined;
  } {
    const { client, clock } = this.cluster;
    let operator: Operator | undefined;
    const hub = this.#hub?.settings;
    const options = { client, clock, random: this.cluster.random, logger: SILENT, hub };
    return {
      get acceptStream() {
        return operator?.hub?.accept;
      },
      start: async () => {
        const config = { agentImage: 'agent' };
        operator = await this.cluster.reached(startOperator({ ...options, sha1, config }));
      },
      stop: async () => {
        if (operator !== undefined) await this.cluster.reached(operator.stop());
      },
    };
  }

  async stopOperator(): Promise<void> {
    const operator = this.#operator;
    this.#operator = undefined;
    if (operator !== undefined) await this.cluster.reached(operator.stop());
  }

  async create(spec: JobSetSpec, annotations: StringMap = {}, name = 'train'): Promise<void> {
    await this.cluster.client.create(JOBSETS, {
      apiVersion: JOBSET_CRD.spec.group + '/v1alpha2',
      kind: JOBSETS.kind,
      metadata: { name, namespace: 'default', annotations },
      spec,
    });
  }

  jobSet(name = 'train'): Promise<Stored<JobSet>> {
    return this.cluster.client.get(JOBSETS, { namespace: 'default', name });
  }

  async patch(patch: object, name = 'train'): Promise<void> {
    const at = { namespace: 'default', name };
    await this.cluster.client.patch(JOBSETS, at, { type: 'merge', patch });
  }

  async events(): Promise<readonly Stored<Event>[]> {
    const { items } = await this.cluster.client.list(EVENTS, { namespace: 'default' });
    return items.filter(({ reportingController }) => reportingController === 'jobset');
  }

  /** Waits for Events with these reasons. The operator writes them after the status, beside its other work. */
  async untilTold(...reasons: readonly string[]): Promise<void> {
    await this.cluster.until(async () => {
      const told = new Set((await this.events()).map(({ reason }) => reason));
      return reasons.every((reason) => told.has(reason));
    });
  }

  /** Running workers by slot (`replicatedJob/index`), with their epochs. */
  running(): ReadonlyMap<string, number> {
    const running = new Map<string, number>();
    for (const { slot, epoch } of this.#workers.values()) {
      if (epoch !== undefined) running.set(slot, epoch);
    }
    return running;
  }

  /** Waits until `count` workers run, all in `epoch`. */
  async allIn(epoch: number, count: number): Promise<void> {
    await this.cluster.until(async () => {
      const epochs = [...this.running().values()];
      return epochs.length === count && epochs.every((each) => each === epoch);
    });
  }

  until(condition: (status: NonNullable<JobSet['status']>) => boolean): Promise<void> {
    return this.cluster.until(async () => condition((await this.jobSet()).status ?? {}));
  }

  /** What the operator's hub tells about the members, in the name of the Pod in a slot. */
  async memberReports(slot: string): Promise<readonly MemberReport[]> {
    return parseMemberReports(await this.#page('listMembers', slot)) ?? [];
  }

  /** What it tells about the groups of the namespace. */
  async heardGroups(slot: string): Promise<readonly HeardGroup[]> {
    return parseGroupReports(await this.#page('listGroups', slot), this.cluster.clock.now()) ?? [];
  }

  async #page(page: 'listMembers' | 'listGroups', slot: string): Promise<string> {
    const token = (await this.podUids()).get(this.podNameIn(slot));
    const answer = await this.cluster.reached(
      this.#operator?.hub?.[page]({ token, address: slot }) ??
        Promise.reject(new Error('no hub runs')),
    );
    if (answer.kind === 'Refuse') throw new Error(answer.reason);
    answer.over();
    return Buffer.from(answer.json).toString();
  }

  /** Lets the worker in a slot exit. */
  exit(slot: string, exitCode: number): void {
    this.#workerIn(slot).exit(exitCode);
  }

  /** Lets the worker in a slot write a line about its progress. */
  report(slot: string, line: string): void {
    this.#workerIn(slot).report?.(line);
  }

  /** Lets the agent's container in a slot die and start again. */
  crash(slot: string): void {
    this.#workerIn(slot).crash();
  }

  /**
   * Lets the Pod in a slot end, with success if the code is 0. Waits until the member is seen here,
   * for a caller may have seen its Pod run before this fixture's own watch did.
   */
  async finish(slot: string, exitCode: number): Promise<void> {
    await this.cluster.until(async () => this.hasMember(slot));
    const worker = this.#workerIn(slot);
    const pod = this.#pods?.store.get(`default/${worker.podName}`);
    worker.end();
    if (pod !== undefined) await this.cluster.finish(pod, exitCode);
  }

  hasMember(slot: string): boolean {
    return [...this.#workers.values()].some((worker) => worker.slot === slot);
  }

  podNameIn(slot: string): string {
    return this.#workerIn(slot).podName;
  }

  /** UIDs of the running Pods, by name of the Pod. */
  async podUids(): Promise<ReadonlyMap<string, string>> {
    const pods = await this.cluster.pods();
    return new Map(pods.map(({ metadata }) => [metadata.name, metadata.uid]));
  }

  async announce(podName: string, epoch: string): Promise<void> {
    const patch = { metadata: { annotations: { [EPOCH]: epoch } } };
    const at = { namespace: 'default', name: podName };
    await this.cluster.client.patch(PODS, at, { type: 'merge', patch });
  }

  async stop(): Promise<void> {
    for (const worker of this.#workers.values()) worker.end();
    await this.stopOperator();
    if (this.#caches !== undefined) await this.cluster.reached(this.#caches.stop());
    if (this.#pods !== undefined) await this.cluster.reached(this.#pods.stop());
    await this.cluster.stop();
  }

  #workerIn(slot: string): Member {
    for (const worker of this.#workers.values()) if (worker.slot === slot) return worker;
    throw new Error(`no member is in slot ${slot}`);
  }

  #see(pod: Stored<Pod>): void {
    const known = this.#workers.get(pod.metadata.uid);
    const isEnding = pod.metadata.deletionTimestamp !== undefined;
    if (isEnding || pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded') {
      known?.end();
      this.#workers.delete(pod.metadata.uid);
      return;
    }
    const sidecars = pod.status?.initContainerStatuses ?? [];
    const runs = pod.status?.phase === 'Running' || sidecars.some(({ state }) => state?.running);
    if (known !== undefined || !runs) return;
    if (pod.metadata.ownerReferences === undefined) return;
    const { clock } = this.cluster;
    const client = this.asAgent(this.cluster.client);
    const options = { client, clock, random: this.cluster.random, logger: SILENT };
    const slot = slotOf(pod);
    const started: WorkerListener['started'] = (epoch, ranks) => {
      const start = { slot, podUid: pod.metadata.uid, epoch, ranks };
      this.starts.push(start);
      this.onStart(start);
    };
    this.#workers.set(pod.metadata.uid, this.#startMember(pod, slot, options, started));
  }
}

/** Under a virtual clock. */
export class TrainingGroup extends GroupOn<VirtualCluster> {
  constructor(startMember?: StartMember, hub?: HubNetwork) {
    super(new VirtualCluster(), startMember, hub);
  }
}

export type AgentRuntime = ClientPorts;

/** Our agent as a supervisor in that dialect; in upstream's it knows only its own Pod. */
export function supervised(dialect: Dialect): StartMember {
  return (pod, slot, runtime, started) =>
    memberOf(pod, slot, dialect, runtime.clock, started, (announced) =>
      apiChannelOf(pod, dialect, runtime, announced),
    );
}

/** A supervisor over the hub with the API server as fallback, or with `Hub` alone. */
export function supervisedOverHub(hub: HubNetwork, channel: 'Auto' | 'Hub'): StartMember {
  return (pod, slot, runtime, started) => {
    const connector = hub.networkOf(slot, runtime.clock).connector(() => pod.metadata.uid);
    hub.pods.set(pod.metadata.uid, pod);
    const jobSetUid = pod.metadata.labels?.[JOBSET_UID];
    return memberOf(pod, slot, 'Canonical', runtime.clock, started, (announced) =>
      channel === 'Hub'
        ? createHubChannel({ ...runtime, connector, jobSetUid })
        : fallbackChannelOf(pod, runtime, connector, announced),
    );
  };
}

/** The network between agents and hubs: one for each slot, so that one can be cut off. */
export class HubNetwork {
  /** The leader's; undefined: the port is closed. */
  acceptor: StreamAcceptor | undefined;
  /** Slots whose agents reach another hub. */
  readonly detours = new Map<string, StreamAcceptor | undefined>();
  readonly pods = new Map<string, Stored<Pod>>();
  /** The channel that agents of new Pods are configured with. */
  channel: AgentChannel = 'Auto';
  readonly #networks = new Map<string, MemoryStreams>();

  readonly settings = hubOfPods(this.pods, () => this.channel);

  networkOf(slot: string, clock: Clock): MemoryStreams {
    let network = this.#networks.get(slot);
    if (network === undefined) {
      network = new MemoryStreams(clock);
      network.acceptor = (request) => this.#accept(slot, request);
      this.#networks.set(slot, network);
    }
    return network;
  }

  network(slot: string): MemoryStreams {
    const network = this.#networks.get(slot);
    if (network === undefined) throw new Error(`no member is in slot ${slot}`);
    return network;
  }

  /** Streams that are open at the hubs' end. */
  get openStreams(): number {
    return [...this.#networks.values()].reduce((sum, { openStreams }) => sum + openStreams, 0);
  }

  breakAll(): void {
    for (const network of this.#networks.values()) network.breakAll();
  }

  #accept(slot: string, request: StreamRequest): Promise<StreamAnswer> {
    const acceptor = this.detours.has(slot) ? this.detours.get(slot) : this.acceptor;
    return (
      acceptor?.(request) ??
      Promise.resolve({ kind: 'Refuse', status: 503, reason: 'there is no leader' })
    );
  }
}

/** A Pod's supervising agent, with a worker that runs until a test ends it. */
function memberOf(
  pod: Stored<Pod>,
  slot: string,
  dialect: Dialect,
  clock: Clock,
  started: WorkerListener['started'],
  channelOf: (announced: number) => Channel,
): Member {
  const { name, labels } = pod.metadata;
  const worker = new SupervisedPod({
    jobSetUid: dialect === 'Canonical' ? labels?.[JOBSET_UID] : undefined,
    ownRanks: ownRanksOf(pod),
    boot: (announced) => ({ clock, channel: channelOf(announced) }),
    told: { started },
  });
  return {
    slot,
    podName: name,
    get epoch() {
      return worker.epoch;
    },
    exit: (exitCode) => worker.exit({ exitCode }),
    report: (line) => worker.report(line),
    crash: () => worker.crash(),
    end: () => {
      worker.stop();
      worker.exit({ exitCode: 0 });
    },
  };
}

function aheadBy(ms: number, clock: Clock): Clock {
  return {
    now: () => clock.now() + ms,
    monotonic: () => clock.monotonic(),
    setTimer: (delayMs, fire) => clock.setTimer(delayMs, fire),
  };
}

function slotOf({ metadata }: Stored<Pod>): string {
  return `${metadata.labels?.[REPLICATED_JOB_NAME]}/${metadata.annotations?.[COMPLETION_INDEX]}`;
}
