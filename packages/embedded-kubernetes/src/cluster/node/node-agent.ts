/**
 * The node agent: registers the machine as a Node and runs the Pods that are bound to it as local
 * processes, as a kubelet runs them as containers. It uses only the API, so it works with any API
 * server. `docs/reference/embedded-cluster.md` describes what a Pod finds here.
 */
import type { Stored, StringMap } from '@lockstep/kube/meta.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { createEventRecorder } from '@lockstep/kube/runtime/controller/event-recorder.ts';
import { createInformer } from '@lockstep/kube/runtime/informer/create-informer.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import type { HttpHandler } from '@lockstep/kube/runtime/ports/transport.ts';
import { type BackoffSettings, backoffLimits } from './backoff.ts';
import { HostsFiles } from './network/hosts.ts';
import type { HostsEntry } from './network/hosts-file.ts';
import { type Machine, type NodeRegistration, registerNode } from './node-registration.ts';
import { containerLogsHandler } from './pod/container-logs.ts';
import { checkpointDirectory, readCheckpoints } from './pod/pod-checkpoint.ts';
import type { PodState } from './pod/pod-life.ts';
import { PodWorker } from './pod/pod-worker.ts';
import { endStrangers } from './pod/stranger-processes.ts';
import { type NodeNetwork, PodAddresses } from './pod-addresses.ts';
import type { NodeContext, NodePorts } from './ports/node-context.ts';
import { isStreaming, streamingHandler } from './streaming/streaming-handler.ts';

export interface NodeAgentOptions extends NodePorts {
  readonly name: string;
  /**
   * Absolute. The agent owns `pods`, `checkpoints`, `logs` and, if they are not given, `hosts` and
   * `volumes` in it, and removes `roots`.
   */
  readonly rootDirectory: string;
  /** Where the volumes of claims are, for all nodes of this machine. */
  readonly volumesDirectory?: string;
  /** Hosts files that several nodes share; their maker starts and stops them. */
  readonly hosts?: HostsFiles;
  readonly network: NodeNetwork;
  /** The port at the network's `hostIP` where `handler` is served. */
  readonly kubeletPort: number;
  /** Where Pods reach the API server. */
  readonly apiServer: { readonly host: string; readonly port: number };
  /** PATH of the containers; its first directory holds `lockstep-agent`. */
  readonly path: string;
  readonly machine: Machine;
  /** How crash loops are slowed down; by default as a kubelet does. */
  readonly backoff?: BackoffSettings | undefined;
  /** Extra labels of the Node. */
  readonly labels?: StringMap;
  /** How often the node renews its Lease; ten seconds by default. */
  readonly leaseRenewalMs?: number | undefined;
}

export interface NodeAgent {
  /** Answers the API server's requests to a kubelet: logs, commands and ports of containers. */
  readonly handler: HttpHandler;
  /** Ends the processes of all Pods and removes everything but the logs. */
  stop(): Promise<void>;
}

/** Where namespaces keep what the roots of containers share; removed when the agent stops. */
export function rootTemplatesIn(rootDirectory: string): string {
  return `${rootDirectory}/roots`;
}

/** Resolves once the Node is registered and its Pods are known. */
export async function startNodeAgent(
  options: NodeAgentOptions,
  signal: AbortSignal = new AbortController().signal,
): Promise<NodeAgent> {
  const agent = new Agent(options);
  try {
    await agent.start(signal);
  } catch (error) {
    await agent.stop();
    throw error;
  }
  return agent;
}

/** Events name the kubelet as their source, so that tools sort them like a real node's. */
const EVENT_SOURCE = 'kubelet';

class Agent implements NodeAgent {
  readonly handler: HttpHandler;
  readonly #options: NodeAgentOptions;
  readonly #context: NodeContext;
  readonly #hosts: HostsFiles;
  readonly #member = (namespace: string): readonly HostsEntry[] => this.#entries(namespace);
  readonly #workers = new Map<string, PodWorker>();
  /** Pods that are gone from the API and still have to stop. */
  readonly #leaving = new Set<Promise<void>>();
  readonly #pods: Informer<Pod>;
  #registration: NodeRegistration | undefined;
  /** The states from an earlier life of this node, by UID of the Pod. */
  #resumed: ReadonlyMap<string, PodState> = new Map();

  constructor(options: NodeAgentOptions) {
    const { client, clock, random, name, files } = options;
    const logger = options.logger.with({ node: name });
    const shared = { client, clock, random, logger };
    const { rootDirectory } = options;
    const hosts =
      options.hosts ?? new HostsFiles({ ...shared, files, directory: `${rootDirectory}/hosts` });
    this.#options = options;
    this.#hosts = hosts;
    this.#context = {
      ...options,
      volumesDirectory: options.volumesDirectory ?? `${rootDirectory}/volumes`,
      hostsPath: (pod) => hosts.pathOf(pod),
      backoff: backoffLimits(options.backoff),
      logger,
      nodeName: name,
      allocatable: options.machine.capacity,
      events: createEventRecorder({ ...shared, controller: EVENT_SOURCE, instance: name }),
      addresses: new PodAddresses(options.network),
    };
    this.#pods = createInformer<Pod>({
      ...shared,
      resource: PODS,
      fieldSelector: `spec.nodeName=${name}`,
    });
    this.#hosts.join(this.#member);
    const find = (namespace: string, pod: string): PodWorker | undefined =>
      this.#find(namespace, pod);
    const logs = containerLogsHandler({ files, clock, find });
    const streams = streamingHandler({ context: this.#context, find });
    this.handler = (request) => (isStreaming(request) ? streams(request) : logs(request));
  }

  async start(signal: AbortSignal): Promise<void> {
    const { network } = this.#options;
    this.#registration = await registerNode(
      {
        ...this.#options,
        hostIP: network.hostIP,
        podCIDR: network.type === 'own-addresses' ? network.podCIDR : undefined,
        labels: this.#options.labels ?? {},
      },
      signal,
    );
    await Promise.all([this.#hosts.whenReady(signal), this.#pods.whenSynced(signal)]);
    // Addresses in use must be known before the first new one is given out.
    for (const pod of this.#pods.store.values()) {
      const { podIP, phase } = pod.status ?? {};
      if (podIP !== undefined && phase !== 'Succeeded' && phase !== 'Failed') {
        this.#context.addresses.reserve(pod.metadata.uid, podIP);
      }
    }
    const { files, keeper, rootDirectory, logger } = this.#context;
    if (keeper !== undefined) {
      this.#resumed = await readCheckpoints(files, rootDirectory, logger);
      await endStrangers(this.#context, keeper, this.#resumed, this.#pods.store);
    }
    this.#pods.subscribe({
      added: (pod) => this.#add(pod),
      updated: (pod, old) => {
        if (pod.metadata.uid !== old.metadata.uid) this.#remove(old);
        this.#add(pod);
      },
      deleted: (pod) => this.#remove(pod),
    });
  }

  async stop(): Promise<void> {
    await Promise.all([this.#pods.stop(), this.#registration?.stop()]);
    await Promise.all([...this.#workers.values()].map((worker) => worker.stop()));
    await Promise.all(this.#leaving);
    this.#hosts.leave(this.#member);
    if (this.#options.hosts === undefined) await this.#hosts.stop();
    await this.#context.events.stop();
    const { files, rootDirectory } = this.#context;
    await files.remove(`${rootDirectory}/pods`);
    await files.remove(checkpointDirectory(rootDirectory));
    await files.remove(rootTemplatesIn(rootDirectory));
  }

  #add(pod: Stored<Pod>): void {
    const { uid, namespace } = pod.metadata;
    const known = this.#workers.get(uid);
    if (known !== undefined) {
      known.update(pod);
      return;
    }
    const onChange = (): Promise<void> => {
      this.#touch(namespace);
      return this.#hosts.flushed();
    };
    const worker = new PodWorker(this.#context, pod, onChange, this.#resumed.get(uid));
    this.#workers.set(uid, worker);
    worker.begin();
  }

  #remove(pod: Stored<Pod>): void {
    const { uid } = pod.metadata;
    const worker = this.#workers.get(uid);
    if (worker === undefined) return;
    const gone = worker
      .podGone()
      .catch((error: unknown) => {
        this.#context.logger.error('a deleted Pod left something behind', { uid, err: error });
      })
      .finally(() => {
        this.#leaving.delete(gone);
        this.#workers.delete(uid);
        this.#touch(pod.metadata.namespace);
      });
    this.#leaving.add(gone);
  }

  #touch(namespace: string | undefined): void {
    if (namespace !== undefined) this.#hosts.touch(namespace);
  }

  #entries(namespace: string): readonly HostsEntry[] {
    const entries: HostsEntry[] = [];
    for (const { pod, podIP, sandbox, hasFinished } of this.#workers.values()) {
      if (hasFinished || podIP === undefined) continue;
      if (pod.metadata.namespace !== namespace) continue;
      entries.push({ pod, address: podIP, ports: sandbox.ports });
    }
    return entries;
  }

  /** The last one of several Pods with one name: the others are on their way out. */
  #find(namespace: string, name: string): PodWorker | undefined {
    return [...this.#workers.values()].findLast(
      ({ pod }) => pod.metadata.name === name && pod.metadata.namespace === namespace,
    );
  }
}
