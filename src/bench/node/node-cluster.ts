/**
 * A cluster of one node for benchmarks of the node agent, as `lockstep up` starts it: the node is a
 * process, and the processes of its Pods are the command's. Pods are bound to the node from the
 * start, without a scheduler. Each container writes a line to one file when it starts, so a start
 * is known at once.
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HOST_ROOT, type PodNamespacesMode } from '@lockstep/embedded-kubernetes';
import { type Container, PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { connectClient } from '@lockstep/kube/runtime/adapters/http-client-connection.ts';
import { loadKubeconfig } from '@lockstep/kube/runtime/adapters/kubeconfig-files.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { forEachConcurrently } from '@lockstep/kube/runtime/concurrency.ts';
import { unlessAborted } from '@lockstep/kube/runtime/deadline.ts';
import { createInformer } from '@lockstep/kube/runtime/informer/create-informer.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import { PORTS } from '../../cli/ports.ts';
import { until } from '../until.ts';

export const NAMESPACE_MODES: readonly PodNamespacesMode[] = ['Auto', 'Off'];

const LOCKSTEP = fileURLToPath(new URL('../../../bin/lockstep.js', import.meta.url));
/** The name that `lockstep up` gives to the only node. */
const NODE = 'node-0';
const NAMESPACE = 'default';
/** Long enough for 500 Pods on a busy machine. */
const TIMEOUT_MS = 120_000;
/** The precision of start times. */
const LOOK_MS = 2;
const WRITES_IN_FLIGHT = 50;

/** A line of the file: a container has started, as the process with this number on the machine. */
interface Start {
  readonly pod: string;
  readonly container: string;
  readonly pid: number;
}

/** Runs `work` with a cluster, and ends all of it. */
export async function withNodeCluster<T>(
  podNamespaces: PodNamespacesMode,
  signal: AbortSignal,
  work: (cluster: NodeCluster) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'lockstep-bench-'));
  const flags = ['--state-dir', join(directory, 'state'), '--pod-namespaces', podNamespaces];
  const command = spawn(process.execPath, [LOCKSTEP, 'up', ...flags], {
    cwd: directory,
    // Lets a signal ask the agent for a snapshot of its heap.
    env: { ...process.env, NODE_OPTIONS: `--heapsnapshot-signal=${SNAPSHOT_SIGNAL}` },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<string>((resolve) => {
    command.once('exit', (code, signal) => resolve(String(signal ?? code)));
  });
  try {
    const path = join(directory, 'state', 'kubeconfig');
    // It says that it starts before there is anything to connect to.
    const isUp = new Promise<true>((resolve) => {
      command.stdout.on('data', () => existsSync(path) && resolve(true));
    });
    const outcome = await unlessAborted(Promise.race([isUp, ended]), signal);
    if (outcome !== true) throw new Error(`lockstep up ended with ${outcome}`);
    const runtime = PORTS;
    const access = await loadKubeconfig({ path, env: {}, homeDirectory: directory });
    const { client, close } = connectClient(access, { ...runtime, userAgent: 'lockstep-bench' });
    const pods = createInformer<Pod>({ ...runtime, client, resource: PODS, namespace: NAMESPACE });
    try {
      await pods.whenSynced();
      const cluster = new NodeCluster(client, pods, directory, agentOf(command.pid));
      return await unlessAborted(work(cluster), signal);
    } finally {
      await pods.stop();
      close();
    }
  } finally {
    command.kill('SIGINT');
    await ended;
    rmSync(directory, { recursive: true, force: true });
  }
}

const SNAPSHOT_SIGNAL = 'SIGUSR2';

/** The node's process among the children of the command (Linux). */
function agentOf(commandPid = 0): number {
  const children = readFileSync(`/proc/${commandPid}/task/${commandPid}/children`, 'utf8');
  const pids = children.split(' ').filter((pid) => pid !== '');
  const agent = pids.find((pid) => {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('/node.js');
  });
  if (agent === undefined) throw new Error(`process ${commandPid} has no node among its children`);
  return Number(agent);
}

export class NodeCluster {
  /** The process ID of the node agent. */
  readonly agentPid: number;
  /** Everything that the cluster writes is below it. */
  readonly directory: string;
  readonly #client: Client;
  readonly #pods: Informer<Pod>;
  /** How often `clear` was called. */
  #generation = 0;

  constructor(client: Client, pods: Informer<Pod>, directory: string, agentPid: number) {
    this.#client = client;
    this.#pods = pods;
    this.directory = directory;
    this.agentPid = agentPid;
  }

  /** Creates Pods `NAME-0`, `NAME-1` and so on with these containers. Resolves once all exist. */
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

  /** A container that marks its start and then idles until it is stopped. */
  idle(name: string, more: Partial<Container> = {}): Container {
    // Kubernetes turns `$$` into `$`. In a pid namespace a process has another number than on the
    // machine; only the machine's process table has the latter.
    const script =
      `{ read -r pid rest <${HOST_ROOT}/proc/self/stat; } 2>/dev/null || pid=$$$$; ` +
      `echo "$HOSTNAME ${name} $pid" >>${this.#marks}; exec sleep 3600`;
    return { name, image: 'sh', command: ['sh', '-c', script], ...more };
  }

  /** All starts since the last `clear`, in order. */
  starts(): readonly Start[] {
    if (statSync(this.#marks, { throwIfNoEntry: false }) === undefined) return [];
    const lines = readFileSync(this.#marks, 'utf8').split('\n');
    return lines.slice(0, -1).map((line) => {
      const [pod = '', container = '', pid] = line.split(' ');
      return { pod, container, pid: Number(pid) };
    });
  }

  until(what: string, condition: () => boolean): Promise<void> {
    return until(what, condition, { timeoutMs: TIMEOUT_MS, pollMs: LOOK_MS });
  }

  /** Waits until the API shows this many Pods as running. */
  untilRunning(count: number): Promise<void> {
    return this.until(`${count} Pods run`, () => {
      const all = [...this.#pods.store.values()];
      return all.length === count && all.every(isRunning);
    });
  }

  /** Deletes all Pods. Resolves once no Pod is left. */
  async clear(): Promise<void> {
    const all = [...this.#pods.store.values()];
    await forEachConcurrently(all, WRITES_IN_FLIGHT, async ({ metadata: { name } }) => {
      await this.#client.delete(PODS, { namespace: NAMESPACE, name });
    });
    await this.until('no Pod is left', () => [...this.#pods.store.values()].length === 0);
    this.#generation++;
  }

  /** The size of reachable objects on the agent's heap. */
  async liveHeapBytes(): Promise<number> {
    process.kill(this.agentPid, SNAPSHOT_SIGNAL);
    let bytes: number | undefined;
    await this.until('the agent has written its heap', () => {
      const name = readdirSync(this.directory).find((each) => each.endsWith('.heapsnapshot'));
      if (name === undefined) return false;
      const path = join(this.directory, name);
      bytes = sizeOfSnapshot(readFileSync(path, 'utf8'));
      if (bytes !== undefined) rmSync(path);
      return bytes !== undefined;
    });
    return bytes ?? Number.NaN;
  }

  /** The file of the Pods since the last `clear`. */
  get #marks(): string {
    return join(this.directory, `${this.#generation}.marks`);
  }
}

function isRunning({ status }: Pod): boolean {
  const containers = status?.containerStatuses ?? [];
  return status?.phase === 'Running' && containers.every(({ state }) => state?.running);
}

/** Undefined while the file is incomplete. */
function sizeOfSnapshot(text: string): number | undefined {
  if (!text.trimEnd().endsWith('}')) return undefined;
  const { snapshot, nodes } = JSON.parse(text) as {
    readonly snapshot: { readonly meta: { readonly node_fields: readonly string[] } };
    readonly nodes: readonly number[];
  };
  const { node_fields: fields } = snapshot.meta;
  const size = fields.indexOf('self_size');
  let sum = 0;
  for (let at = size; at < nodes.length; at += fields.length) sum += nodes[at] ?? 0;
  return sum;
}
