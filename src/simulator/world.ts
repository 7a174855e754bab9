/**
 * One simulated world: the embedded API server with its controllers, replicas of the real operator,
 * and Pods with real agents, all under one virtual clock and one seed.
 */
import { MemoryCluster, type PlayContainer } from '@lockstep/embedded-kubernetes/in-memory';
import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import type { Stored } from '@lockstep/kube/meta.ts';
import { NAMESPACES } from '@lockstep/kube/objects/core.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '@lockstep/kube/objects/custom-resource-definition.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { createInformer } from '@lockstep/kube/runtime/informer/create-informer.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { Transport } from '@lockstep/kube/runtime/ports/transport.ts';
import type { Channel } from '../agent/channel.ts';
import { JOBSETS, type JobSet } from '../jobset/jobset.ts';
import { RESTART_EPOCH } from '../jobset/names.ts';
import { JOBSET_CRD } from '../jobset/schema/crd.ts';
import { exitCodeIn } from '../jobset/worker-end/worker-end.ts';
import type { History } from './history.ts';
import { HubNetwork } from './hub-network.ts';
import { Machines } from './machines.ts';
import { hasSidecar, Member, type MemberListener, runningOf, slotOf } from './member.ts';
import { AgentTokens, SIGNER } from './network/agent-tokens.ts';
import { installWebhooks, WebhookNetwork } from './network/webhook-network.ts';
import { OperatorReplica } from './operator-replica.ts';
import { Properties, type Violation } from './properties.ts';
import type { ReplicatedJobShape, Scenario } from './scenario.ts';
import { Training } from './training.ts';
import { jobSetOf, missingDefaults, NAMESPACE, shapesIn, slotsOf, User } from './user.ts';
import { Weather } from './weather.ts';

/** The namespace of another user. */
export const TENANT = 'tenant';
const OPERATOR_NAMESPACE = 'lockstep-system';
/** One way: what a controller decides is seen some time before it acts. */
const CONTROLLERS_LATENCY_MS = 10;
/** A controller that is cut off from the Leases takes nodes for lost, and no kubelet here says that they are not. */
const NODES_SEEN_MS = 1000;
/** Limits each end of an informer, in virtual time. */
const STOP_LIMIT_MS = 60_000;

export class World {
  readonly cluster: MemoryCluster;
  readonly operators: readonly OperatorReplica[];
  readonly hubs: HubNetwork;
  readonly webhooks: WebhookNetwork;
  readonly user: User;
  readonly machines: Machines;
  /** Between the control plane's own controllers and the API server. */
  readonly controllers: Weather;
  readonly properties: Properties;
  readonly scenario: Scenario;
  readonly #history: History;
  readonly #random: SeededRandom;
  readonly #jobSet: JobSet;
  /** As the user wants them now. */
  #jobs: readonly ReplicatedJobShape[];
  readonly #server: Transport = { send: (request) => this.cluster.send(request) };
  readonly #training: Training;
  /** Chance for standbys, which the rest of the world does not depend on; undefined: there are none. */
  readonly #standbys: SeededRandom | undefined;
  /** By UID of the Pod. */
  readonly #members = new Map<string, Member>();
  readonly #silentNodes = new Set<string>();
  /** Pods whose exit codes their silent nodes could not report, by UID. */
  readonly #unreported = new Map<string, readonly [Stored<Pod>, number]>();
  /** The UIDs of Pods that have succeeded, by slot. */
  readonly #succeeded = new Map<string, string>();
  #pods: Informer<Pod> | undefined;
  #jobSets: Informer<JobSet> | undefined;

  constructor(scenario: Scenario, history: History, jobSet: JobSet = jobSetOf(scenario)) {
    this.scenario = scenario;
    this.#history = history;
    this.#jobSet = jobSet;
    this.#random = new SeededRandom(scenario.seed);
    this.webhooks = new WebhookNetwork(() => this.cluster.clock, this.#random);
    const { transport } = this.webhooks;
    const { tokens } = scenario;
    this.cluster = new MemoryCluster({
      seed: scenario.seed,
      webhookTransport: () => transport,
      ...(tokens && { tokenSigner: SIGNER }),
    });
    const { clock, client } = this.cluster;
    this.user = new User({
      client,
      clock,
      hasWebhooks: scenario.hasWebhooks === true,
      aside: (work) => this.aside(work),
    });
    this.hubs = new HubNetwork(clock, tokens && new AgentTokens(clock, tokens), (detail) =>
      history.violated({ property: 'Strangers change nothing', detail }),
    );
    this.controllers = new Weather(this.#random);
    this.controllers.begin({ latencyMs: CONTROLLERS_LATENCY_MS });
    this.cluster.intercept = (request) => this.controllers.send(request, this.#server, clock);
    this.cluster.play = (pod) => this.#play(pod);
    this.#training = new Training(clock);
    if (scenario.hasStandbys === true) this.#standbys = new SeededRandom(scenario.seed);
    this.#jobs = shapesIn(jobSet);
    const wanted = { ...scenario, slots: () => this.slots };
    const found = (violation: Violation): void => history.violated(violation);
    this.properties = new Properties(wanted, found);
    const pods = (): Iterable<Stored<Pod>> => this.#pods?.store.values() ?? [];
    this.machines = new Machines({ scenario, clock, pods, found });
    this.operators = Array.from(
      { length: scenario.operators },
      (_, index) =>
        new OperatorReplica({
          name: `operator-${index}`,
          clock,
          random: this.#random,
          server: this.hubs.tokens?.through(this.#server) ?? this.#server,
          hubs: this.hubs,
          webhooks: scenario.hasWebhooks === true ? this.webhooks : undefined,
          broken: (error) => this.properties.contradicted(error),
        }),
    );
  }

  /** The members in the order of their slots. */
  get members(): readonly Member[] {
    return [...this.#members.values()].toSorted((a, b) => (a.slot < b.slot ? -1 : 1));
  }

  /** All slots, whether or not they have Pods. */
  get slots(): readonly string[] {
    return slotsOf(this.#jobs);
  }

  /** All members run in the newest epoch, or the JobSet is over. */
  get isAtRest(): boolean {
    const { epoch, isFinished, isAnswered } = this.properties;
    if (isFinished) return this.members.every((member) => member.epoch === undefined);
    if (!isAnswered || !this.user.isContent) return false;
    const running = this.members.filter((member) => member.epoch === epoch);
    const size = this.slots.filter((slot) => !this.#succeeded.has(slot)).length;
    return running.length === size && this.#members.size === size;
  }

  async start(): Promise<void> {
    const { cluster, scenario } = this;
    const { client, clock } = cluster;
    await cluster.start();
    for (let node = 0; node < scenario.nodes; node++) await cluster.addNode(`node-${node}`);
    await clock.advance(NODES_SEEN_MS);
    for (const name of [OPERATOR_NAMESPACE, TENANT]) {
      await client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, JOBSET_CRD);
    const informed = { client, clock, random: this.#random, logger: SILENT };
    this.#jobSets = createInformer<JobSet>({ ...informed, resource: JOBSETS });
    this.#jobSets.subscribe({
      added: (jobSet) => this.#sawStatus(jobSet),
      updated: (jobSet, old) => {
        this.#sawChange(jobSet, old);
        this.#sawStatus(jobSet);
      },
    });
    this.#pods = createInformer<Pod>({ ...informed, resource: PODS });
    this.#pods.subscribe({
      added: (pod) => this.#podChanged(pod),
      updated: (pod) => this.#podChanged(pod),
      deleted: (pod) => {
        const { uid, namespace } = pod.metadata;
        if (namespace === NAMESPACE) this.#history.tracer?.podGone(pod);
        // The Job is made again: its members have to train again, too.
        if (this.#succeeded.get(slotOf(pod)) === uid) this.#succeeded.delete(slotOf(pod));
        this.#remove(uid);
      },
    });
    await this.hubs.tokens?.learnAccounts(this.cluster, [NAMESPACE, TENANT]);
    for (const operator of this.operators) operator.start();
    const create = (): Promise<unknown> => client.create(JOBSETS, this.#jobSet);
    if (scenario.hasWebhooks !== true) return void (await create());
    await installWebhooks(client);
    await this.done(this.user.insist(create));
  }

  /** Each Job of that ReplicatedJob gets another number of Pods, unless some of its work is done. */
  resize(index: number, pods: number): Promise<void> {
    return this.user.edit(() => {
      const at = index % this.#jobs.length;
      const prefix = `${this.#jobs[at]?.name}/`;
      if ([...this.#succeeded.keys()].some((slot) => slot.startsWith(prefix))) return undefined;
      return (['completions', 'parallelism'] as const).map((field) => {
        const path = `/spec/replicatedJobs/${at}/template/spec/${field}`;
        return { op: 'replace', path, value: pods } as const;
      });
    });
  }

  /** The kubelet of the node does nothing and is not heard of; its processes run on. */
  async silence(node: string): Promise<void> {
    this.#silentNodes.add(node);
    await this.cluster.silence(node);
  }

  async recover(node: string): Promise<void> {
    this.#silentNodes.delete(node);
    await this.cluster.recover(node);
    for (const [uid, [pod, exitCode]] of this.#unreported) {
      if (pod.spec.nodeName !== node) continue;
      this.#unreported.delete(uid);
      void this.cluster.finish(pod, exitCode).catch(() => undefined);
    }
    for (const pod of this.#pods?.store.values() ?? []) this.#sawPod(pod);
    // What was deleted by force meanwhile is ended now.
    for (const [uid, { pod }] of this.#members) {
      if (this.#pods?.store.get(`${NAMESPACE}/${pod.metadata.name}`)?.metadata.uid !== uid) {
        this.#remove(uid);
      }
    }
  }

  /** What webhooks refuse is stored, or without what they fill in. */
  unjudged(detail: string): void {
    this.#history.violated({ property: 'Webhooks judge what is stored', detail });
  }

  /** Work that an act does not wait for. */
  aside(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.properties.threw(error as Error));
  }

  async stop(): Promise<void> {
    for (const member of this.#members.values()) member.vanish();
    for (const operator of this.operators) operator.kill();
    await this.done(Promise.all([this.#pods?.stop(), this.#jobSets?.stop()]));
    await this.cluster.stop();
  }

  /** Lets time pass until the work is done. */
  async done<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    // Its failure is thrown below.
    done.catch(() => undefined);
    await this.cluster.clock.runUntil(() => isDone, STOP_LIMIT_MS);
    return done;
  }

  /** A change that the user asked for is stored: it may end the epoch. */
  #sawChange(jobSet: Stored<JobSet>, old: Stored<JobSet>): void {
    const [asked, before] = [jobSet, old].map(
      ({ metadata: { generation, annotations } }) =>
        `${generation} ${annotations?.[RESTART_EPOCH]}`,
    );
    if (asked === before) return;
    const jobs = shapesIn(jobSet);
    const isResized = !deepEqual(jobs, this.#jobs);
    this.#jobs = jobs;
    if (isResized) this.properties.resized();
    else this.properties.befell(undefined);
  }

  #sawStatus(jobSet: Stored<JobSet>): void {
    this.#history.tracer?.sawJobSet(jobSet);
    this.#history.sawStatus(jobSet.status ?? {});
    this.properties.wrote(jobSet);
    this.machines.wrote(jobSet);
    if (this.scenario.hasWebhooks !== true) return;
    for (const field of missingDefaults(jobSet)) this.unjudged(`${field} is missing`);
  }

  #podChanged(pod: Stored<Pod>): void {
    if (pod.metadata.namespace === NAMESPACE) this.#history.tracer?.sawPod(pod);
    this.#sawPod(pod);
  }

  #sawPod(pod: Stored<Pod>): void {
    const { uid, deletionTimestamp, namespace, ownerReferences } = pod.metadata;
    if (namespace !== NAMESPACE || ownerReferences === undefined) return;
    if (this.#silentNodes.has(pod.spec.nodeName ?? '')) return;
    const known = this.#members.get(uid);
    const phase = pod.status?.phase;
    if (phase === 'Succeeded') this.#succeeded.set(slotOf(pod), uid);
    if (phase === 'Failed' || phase === 'Succeeded') this.#remove(uid);
    else if (deletionTimestamp !== undefined) known?.terminate();
    else if (known === undefined && phase === 'Running' && !hasSidecar(pod)) this.#join(pod);
  }

  #play(pod: Stored<Pod>): PlayContainer | undefined {
    const { namespace, ownerReferences } = pod.metadata;
    if (namespace !== NAMESPACE || ownerReferences === undefined) return undefined;
    return hasSidecar(pod) ? this.#join(pod).play : undefined;
  }

  #join(pod: Stored<Pod>): Member {
    const { clock } = this.cluster;
    const connector = this.hubs.connectorOf(pod);
    const standbys = this.#standbys;
    const isSound = (): boolean => this.machines.isSound(pod);
    const shared = { clock, random: this.#random, server: this.#server, standbys, isSound };
    const { uid } = pod.metadata;
    const teller = { slot: slotOf(pod), uid };
    const overheard = (channel: Channel): Channel =>
      this.#history.tracer?.overhear(teller, channel) ?? channel;
    const world = { training: this.#training, told: this.#listener };
    const member = new Member({ ...shared, ...world, pod, connector, overheard });
    this.#members.set(uid, member);
    return member;
  }

  #remove(uid: string): void {
    const member = this.#members.get(uid);
    if (member === undefined || this.#silentNodes.has(member.pod.spec.nodeName ?? '')) return;
    this.#members.delete(uid);
    this.hubs.forget(uid);
    member.vanish();
  }

  readonly #listener: MemberListener = {
    started: (member, epoch, wasStandby) => {
      this.#history.add({ kind: 'WorkerStarts', member: member.slot, epoch, wasStandby });
      const { members } = this;
      this.machines.started(member, epoch, members);
      const running = members.flatMap((each) =>
        each.epochs.map((of) => ({ ...runningOf(each), epoch: of })),
      );
      this.properties.started(runningOf(member), epoch, running);
    },
    standbyStarted: ({ slot }, beside) => {
      if (beside === 0) return;
      const detail = `${slot} has ${beside} already`;
      this.#history.violated({ property: 'No worker has two standbys', detail });
    },
    dies: (member, local) => this.properties.befell(runningOf(member), member.ranks && local),
    stopped: (member, epoch) => this.properties.stopped(runningOf(member), epoch),
    ended: (member, epoch, exit) => {
      this.#history.add({ kind: 'WorkerEnds', member: member.slot, epoch, exit });
      if (exitCodeIn(exit) === 0) this.properties.succeeded(runningOf(member));
      else this.properties.failed(runningOf(member), epoch);
    },
    left: (member, exitCode) => {
      this.#history.add({ kind: 'PodEnds', member: member.slot, exitCode });
      const { pod } = member;
      const isSilent = this.#silentNodes.has(pod.spec.nodeName ?? '');
      if (isSilent) this.#unreported.set(pod.metadata.uid, [pod, exitCode]);
      else void this.cluster.finish(pod, exitCode).catch(() => undefined);
    },
  };
}
