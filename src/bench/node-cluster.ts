/**
 * A cluster of one node for benchmarks of the node agent: the node is a process of its own, as with
 * `lockstep up`, and its Pods are bound to it from the start, so that no scheduler takes part. Each
 * container writes a line to one file when it starts, so that a start is known at once.
 */
import { closeSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryStateDirectory } from '../cli/state-directory.ts';
import { Watchdog } from '../cli/watchdog/watchdog.ts';
import { ADMINISTRATORS, startEmbeddedCluster } from '../cluster/embedded-cluster.ts';
import type { PodNamespacesMode } from '../cluster/node/namespaces/pod-namespaces.ts';
import { HOST_ROOT } from '../cluster/node/namespaces/root-plan.ts';
import { forkNode } from '../cluster/node-process/adapters/forked-node.ts';
import { type Container, PODS, type Pod } from '../kube/pod.ts';
import { nodeClock } from '../runtime/adapters/node-clock.ts';
import { createNodeProcessRunner } from '../runtime/adapters/node-process-runner.ts';
import { systemRandom } from '../runtime/adapters/system-random.ts';
import type { Client } from '../runtime/client.ts';
import { forEachConcurrently } from '../runtime/concurrency.ts';
import { createInformer, type Informer } from '../runtime/informer.ts';
import { SILENT } from '../runtime/ports/logger.ts';

export const NAMESPACE_MODES: readonly PodNamespacesMode[] = ['Auto', 'Off'];

const NODE = 'bench';
const NAMESPACE = 'default';
const DIST = new URL('../../dist/', import.meta.url);
/** For 500 Pods on a busy machine. */
const TIMEOUT_MS = 120_000;
/** How exact a start is known. */
const LOOK_MS = 2;
const WRITES_IN_FLIGHT = 50;

/** A line of the file: a container has started, as the process with this number on the machine. */
export interface Start {
  readonly pod: string;
  readonly container: string;
  readonly pid: number;
}

export interface NodeCluster {
  /** Of the node agent. */
  readonly agentPid: number;
  readonly stateDirectory: string;
  readonly pods: Informer<Pod>;
  /** Creates Pods `NAME-0`, `NAME-1` and so on with these containers. Resolves once all exist. */
  create(name: string, count: number, containers: readonly Container[]): Promise<void>;
  /** A container that marks its start and does nothing until it is told to stop. */
  idle(name: string, more?: Partial<Container>): Container;
  /** All starts so far, in their order. */
  starts(): readonly Start[];
  until(what: string, condition: () => boolean): Promise<void>;
  untilRunning(count: number): Promise<void>;
  /** Deletes all Pods and forgets their starts. Resolves once no Pod is left. */
  clear(): Promise<void>;
}

/** Runs `work` with a cluster, and ends all of it. */
export async function withNodeCluster<T>(
  podNamespaces: PodNamespacesMode,
  work: (cluster: NodeCluster) => Promise<T>,
): Promise<T> {
  const state = temporaryStateDirectory();
  const watchdog = Watchdog.start(fileURLToPath(new URL('watchdog.js', DIST)), state.path, true);
  const log = openSync(join(state.path, 'cluster.log'), 'a', 0o600);
  const stops: (() => Promise<void> | void)[] = [
    () => state.release(true),
    () => closeSync(log),
    () => watchdog.release(),
  ];
  try {
    const runtime = { clock: nodeClock, random: systemRandom, logger: SILENT };
    const cluster = await startEmbeddedCluster({
      ...runtime,
      processes: watchdog.guard(createNodeProcessRunner()),
      stateDirectory: state.path,
      path: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
      nodes: [{ name: NODE, labels: {}, podNamespaces }],
      spawnNode: () => {
        const child = forkNode(fileURLToPath(new URL('node.js', DIST)), log);
        watchdog.watch(child.pid, child.exited);
        return child;
      },
    });
    stops.push(() => cluster.stop());
    const client = cluster.connect('bench', ADMINISTRATORS);
    const pods = createInformer<Pod>({ ...runtime, client, resource: PODS, namespace: NAMESPACE });
    stops.push(() => pods.stop());
    await pods.whenSynced();
    return await work(new BenchCluster(client, pods, state.path, cluster.nodes?.pids()[NODE] ?? 0));
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

class BenchCluster implements NodeCluster {
  readonly #client: Client;
  readonly pods: Informer<Pod>;
  readonly stateDirectory: string;
  readonly agentPid: number;
  #generation = 0;

  constructor(client: Client, pods: Informer<Pod>, stateDirectory: string, agentPid: number) {
    this.#client = client;
    this.pods = pods;
    this.stateDirectory = stateDirectory;
    this.agentPid = agentPid;
    mkdirSync(join(stateDirectory, 'bench'));
  }

  async create(name: string, count: number, containers: readonly Container[]): Promise<void> {
    const names = Array.from({ length: count }, (_, index) => `${name}-${index}`);
    await forEachConcurrently(names, WRITES_IN_FLIGHT, async (pod) => {
      await this.#client.create(PODS, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: pod, namespace: NAMESPACE },
        spec: {
          nodeName: NODE,
          restartPolicy: 'Never',
          terminationGracePeriodSeconds: 2,
          containers,
        },
      });
    });
  }

  idle(name: string, more: Partial<Container> = {}): Container {
    // Kubernetes makes one dollar of two. In a pid namespace a process has another number than the
    // machine has for it, which only the machine's table of processes tells.
    const script =
      `{ read -r pid rest <${HOST_ROOT}/proc/self/stat; } 2>/dev/null || pid=$$$$; ` +
      `echo "$HOSTNAME ${name} $pid" >>${this.#marks}; exec sleep 3600`;
    return { name, image: 'sh', command: ['sh', '-c', script], ...more };
  }

  starts(): readonly Start[] {
    if (statSync(this.#marks, { throwIfNoEntry: false }) === undefined) return [];
    const lines = readFileSync(this.#marks, 'utf8').split('\n');
    return lines.slice(0, -1).map((line) => {
      const [pod = '', container = '', pid] = line.split(' ');
      return { pod, container, pid: Number(pid) };
    });
  }

  until(what: string, condition: () => boolean): Promise<void> {
    const deadline = performance.now() + TIMEOUT_MS;
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (condition()) resolve();
        else if (performance.now() < deadline) setTimeout(look, LOOK_MS);
        else reject(new Error(`not within ${TIMEOUT_MS} ms: ${what}`));
      };
      look();
    });
  }

  untilRunning(count: number): Promise<void> {
    const isRunning = (pod: Pod): boolean =>
      pod.status?.phase === 'Running' &&
      (pod.status.containerStatuses ?? []).every(({ state }) => state?.running !== undefined);
    return this.until(`${count} Pods run`, () => {
      const all = [...this.pods.store.values()];
      return all.length === count && all.every(isRunning);
    });
  }

  async clear(): Promise<void> {
    const all = [...this.pods.store.values()];
    await forEachConcurrently(all, WRITES_IN_FLIGHT, async ({ metadata: { name } }) => {
      await this.#client.delete(PODS, { namespace: NAMESPACE, name });
    });
    await this.until('no Pod is left', () => [...this.pods.store.values()].length === 0);
    this.#generation++;
  }

  /** What the Pods since the last `clear` write to. */
  get #marks(): string {
    return join(this.stateDirectory, 'bench', `${this.#generation}.marks`);
  }
}
