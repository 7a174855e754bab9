/** A JobSet on the real node. Its workers say in their log when they start, and can be killed one by one. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Stored, StringMap } from '@lockstep/kube/meta.ts';
import { COMPLETION_INDEX } from '@lockstep/kube/objects/job.ts';
import { type Container, PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { waitFor } from '@lockstep/kube/runtime/informer/wait-for.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { PORTS } from '../../src/cli/ports.ts';
import { JOBSETS, type JobSet } from '../../src/jobset/jobset.ts';
import type { JobSetStatus } from '../../src/jobset/jobset-status.ts';
import { JOBSET_NAME, PROCESSES_PER_POD } from '../../src/jobset/names.ts';
import {
  connectAdministrator,
  logDirectory,
  type MachineProcess,
  NAMESPACE,
  processesWith,
} from './node.ts';

/** For Pods to start or restart on a busy machine. */
export const PATIENCE_MS = 120_000;

export interface NodeGroupOptions {
  readonly name: string;
  readonly size: number;
  /** How many processes of the command start in each Pod; by default one, which has no rank. */
  readonly processes?: number;
  readonly annotations?: StringMap;
  /** What the worker's shell does before it says that it starts. */
  readonly prepare?: string;
  /** What it does afterwards; by default it waits. */
  readonly script?: string;
  /** Fields of the worker's container, and of its Pod. */
  readonly container?: object;
  readonly pod?: object;
  readonly maxRestarts?: number;
}

/** As the level `restricted` demands it. */
export const CONFINED = {
  securityContext: {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    runAsNonRoot: true,
    runAsUser: 1000,
    seccompProfile: { type: 'RuntimeDefault' },
  },
};
const WAITING = 'sleep 100000 & wait $!';
const START = 'START';
/** Before the lines of a process that has a rank. */
const RANK_PREFIX = /^\[[0-9]+\] /;
/** Lines in the log of a worker that has just started; the second one is of the image without a shell. */
const STARTS = [START, 'step 1'];
/** The commands of workers. */
const PROGRAMS = ['sh', '/worker'];
/** Names the Pod of a process. */
const WORKER_OF = 'WORKER_OF';

export class NodeGroup {
  readonly name: string;
  readonly size: number;
  readonly #processes: number;
  readonly #client: Client;

  constructor(client: Client, { name, size, processes = 1 }: NodeGroupOptions) {
    this.#client = client;
    this.name = name;
    this.size = size;
    this.#processes = processes;
  }

  async status(): Promise<JobSetStatus> {
    const { status } = await this.#client.get(JOBSETS, { namespace: NAMESPACE, name: this.name });
    return status ?? {};
  }

  /** In the order of their ranks, without those that end. */
  async pods(): Promise<readonly Stored<Pod>[]> {
    const labelSelector = `${JOBSET_NAME}=${this.name}`;
    const { items } = await this.#client.list(PODS, { namespace: NAMESPACE, labelSelector });
    return items
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .toSorted((a, b) => rankOf(a) - rankOf(b));
  }

  async uids(): Promise<readonly string[]> {
    return (await this.pods()).map(({ metadata }) => metadata.uid);
  }

  /** How often each container of any Pod was restarted, init containers included. */
  async restartCounts(): Promise<readonly number[]> {
    return (await this.pods()).flatMap(({ status }) =>
      [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].map(
        ({ restartCount }) => restartCount,
      ),
    );
  }

  /** Resolves when every worker runs in an epoch, with the time of its last start. */
  async running(epoch: number, patienceMs = PATIENCE_MS): Promise<number> {
    return await until(
      `${this.name} runs in epoch ${epoch}`,
      async () => {
        const { syncedEpoch, deprecatedEpoch = 0, conditions } = await this.status();
        const pods = await this.pods();
        const starts = pods.map((pod) => startsOf(pod));
        const isRunning =
          syncedEpoch === epoch &&
          deprecatedEpoch === epoch - 1 &&
          pods.length === this.size &&
          starts.every(({ length }) => length >= epoch * this.#processes);
        if (isRunning) return Math.max(...starts.map((times) => times.at(-1) ?? 0));
        const counts = starts.map(({ length }) => length);
        const phases = pods.map(({ status }) => status?.phase);
        throw new Error(
          JSON.stringify({ syncedEpoch, deprecatedEpoch, counts, phases, conditions }),
        );
      },
      patienceMs,
    );
  }

  /** Processes of a rank that run its command, the oldest first: the worker, and its standby if there is one. */
  async workers(rank: number): Promise<readonly MachineProcess[]> {
    const pod = (await this.pods())[rank];
    return processesWith(`${WORKER_OF}=${pod?.metadata.name}`).filter(({ command }) =>
      PROGRAMS.includes(command[0] ?? ''),
    );
  }

  /** The agent above the worker of a rank, in Supervisor mode. */
  async supervisor(rank: number): Promise<MachineProcess> {
    const pod = (await this.pods())[rank];
    const [first] = processesWith(`${WORKER_OF}=${pod?.metadata.name}`);
    if (first === undefined) throw new Error(`rank ${rank} has no agent`);
    return first;
  }

  /** Resolves with the time at which it killed a worker. */
  async kill(rank: number, signal: NodeJS.Signals = 'SIGKILL'): Promise<number> {
    const [worker] = await this.workers(rank);
    if (worker === undefined) throw new Error(`rank ${rank} has no worker`);
    const at = Date.now();
    process.kill(worker.pid, signal);
    return at;
  }

  async annotate(annotations: StringMap): Promise<void> {
    const patch = { metadata: { annotations } };
    const at = { namespace: NAMESPACE, name: this.name };
    await this.#client.patch(JOBSETS, at, { type: 'merge', patch });
  }

  async remove(): Promise<void> {
    const at = { namespace: NAMESPACE, name: this.name };
    await this.#client.delete(JOBSETS, at, { propagationPolicy: 'Foreground' });
    const options = { ...PORTS, timeoutMs: PATIENCE_MS };
    await waitFor(this.#client, JOBSETS, at, (one) => one === undefined, options);
  }
}

function rankOf({ metadata }: Pod): number {
  return Number(metadata.annotations?.[COMPLETION_INDEX]);
}

/** Lines that the container runtime keeps of a Pod, with their times, over all runs of the container. */
export function linesOf(pod: Stored<Pod>, container = 'worker') {
  const directory = logDirectory(pod, container);
  return filesIn(directory)
    .flatMap((file) => readFileSync(join(directory, file), 'utf8').split('\n'))
    .flatMap((line) => {
      const [time = '', , , ...words] = line.split(' ');
      return words.length === 0 ? [] : [{ at: Date.parse(time), text: words.join(' ') }];
    })
    .toSorted((a, b) => a.at - b.at);
}

function filesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function startsOf(pod: Stored<Pod>): readonly number[] {
  return linesOf(pod)
    .filter(({ text }) => STARTS.includes(text.replace(RANK_PREFIX, '')))
    .map(({ at }) => at);
}

export interface NodeGroups {
  readonly client: Client;
  /** Starts a group that is removed after the test. */
  start(options: NodeGroupOptions): Promise<NodeGroup>;
}

/** Call it at the top of a suite: it registers what the suite does before and after its tests. */
export function nodeGroups(): NodeGroups {
  let connection: Awaited<ReturnType<typeof connectAdministrator>> | undefined;
  const groups: NodeGroup[] = [];
  const client = (): Client => {
    if (connection === undefined) throw new Error('there is no connection yet');
    return connection.client;
  };
  beforeAll(async () => {
    connection = await connectAdministrator();
  });
  afterEach(async () => {
    await Promise.all(groups.splice(0).map((group) => group.remove()));
  });
  afterAll(() => connection?.close());
  return {
    get client() {
      return client();
    },
    async start(options) {
      await client().create(JOBSETS, jobSetOf(options));
      const group = new NodeGroup(client(), options);
      groups.push(group);
      return group;
    },
  };
}

function jobSetOf(options: NodeGroupOptions): JobSet {
  const { name, size, processes, annotations = {}, maxRestarts = 100 } = options;
  const ranks = processes === undefined ? {} : { [PROCESSES_PER_POD]: String(processes) };
  const { prepare = '', script = WAITING } = options;
  const fieldPath = 'metadata.name';
  const container: Container = {
    name: 'worker',
    image: 'lockstep-test/busybox:1',
    command: ['sh', '-c', `${prepare} echo ${START}; ${script}`],
    env: [{ name: WORKER_OF, valueFrom: { fieldRef: { fieldPath } } }],
    ...CONFINED,
    ...options.container,
  };
  return {
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: JOBSETS.kind,
    metadata: { name, namespace: NAMESPACE, annotations: { ...ranks, ...annotations } },
    spec: {
      failurePolicy: { maxRestarts, restartStrategy: 'InPlaceRestart' },
      replicatedJobs: [
        {
          name: 'w',
          template: {
            spec: {
              parallelism: size,
              completions: size,
              template: {
                spec: {
                  restartPolicy: 'Never',
                  terminationGracePeriodSeconds: 2,
                  containers: [container],
                  ...options.pod,
                },
              },
            },
          },
        },
      ],
    },
  };
}
