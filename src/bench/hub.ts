/**
 * Restarts of groups of simulated agents, over the hub and over the API server side by side: the
 * embedded cluster, the operator as a process of its own, and agents in processes of their own, one TLS
 * connection each. Their Pods are never scheduled, so nothing but the protocol is measured.
 */
import http from 'node:http';
import { type LocalCluster, startLocalCluster } from '../cli/local-cluster.ts';
import { temporaryStateDirectory } from '../cli/state-directory.ts';
import { agentAccountName } from '../jobset/agent/agent-account.ts';
import { JOBSETS, type JobSet } from '../jobset/jobset.ts';
import {
  ENV_HUB_CA,
  ENV_HUB_URL,
  HUB_AUDIENCE,
  JOBSET_NAME,
  RESTART_BACKOFF,
  RESTART_MODE,
} from '../jobset/names.ts';
import { SERVICE_ACCOUNTS, type TokenRequest } from '../kube/core.ts';
import type { Stored } from '../kube/meta.ts';
import { PODS, type Pod } from '../kube/pod.ts';
import { loadKubeconfig } from '../runtime/adapters/kubeconfig-files.ts';
import { nodeClock } from '../runtime/adapters/node-clock.ts';
import { systemRandom } from '../runtime/adapters/system-random.ts';
import { forEachConcurrently } from '../runtime/concurrency.ts';
import { createInformer, type Informer } from '../runtime/informer.ts';
import { SILENT } from '../runtime/ports/logger.ts';
import { AgentFleet } from './agent-fleet.ts';
import type { SimulatedAgent } from './agent-process.ts';
import { processCost } from './process-cost.ts';
import { median, type Row } from './table.ts';

const DEFAULT_SIZES = [100, 1000, 5000] as const;
/** Over the API server a group of this size takes most of a minute for each restart. */
const MAX_API_AGENTS = 1000;
const ROUNDS = 5;
const AGENTS_PER_PROCESS = 1250;
const NAMESPACE = 'default';
const NAME = 'bench';
const STAGE = 'w';
const PARALLEL_REQUESTS = 20;
const POLL_MS = 50;
const MIB = 1024 * 1024;
/** How often the operator is asked whether it still answers. */
const PROBE_INTERVAL_MS = 5;

export async function benchHub(
  report: (row: Row) => void,
  { agents }: { readonly agents?: number | undefined },
): Promise<void> {
  const sizes = agents === undefined ? DEFAULT_SIZES : [agents];
  for (const size of sizes) {
    await measure(size, 'Hub', report);
    if (size <= MAX_API_AGENTS) await measure(size, 'API', report);
  }
}

async function measure(
  size: number,
  channel: 'Hub' | 'API',
  report: (row: Row) => void,
): Promise<void> {
  const state = temporaryStateDirectory();
  const stop = new AbortController();
  const probePort = 20_000 + Math.floor(Math.random() * 10_000);
  const cluster = await startLocalCluster({
    state,
    remove: true,
    signal: stop.signal,
    agentChannel: channel === 'Hub' ? 'Auto' : 'API',
    operatorFlags: ['--health-probe-bind-address', `127.0.0.1:${probePort}`],
  });
  try {
    await measureGroup(cluster, size, channel, probePort, report);
  } finally {
    await cluster.stop();
    state.release(true);
  }
}

async function measureGroup(
  cluster: LocalCluster,
  size: number,
  channel: 'Hub' | 'API',
  probePort: number,
  report: (row: Row) => void,
): Promise<void> {
  const { client } = cluster;
  const jobSet = await client.create(JOBSETS, manifest(size));
  const pods = await podsOf(cluster, size);
  const [first] = pods;
  if (first === undefined) throw new Error('there are no Pods');
  const kubeconfig = await loadKubeconfig({
    path: cluster.kubeconfig,
    env: {},
    homeDirectory: '/',
  });
  const target =
    channel === 'Hub'
      ? { server: variable(first, ENV_HUB_URL), authority: variable(first, ENV_HUB_CA) }
      : { server: kubeconfig.server, authority: kubeconfig.tls?.certificateAuthority ?? '' };
  const agents = await tokensFor(cluster, pods, channel);
  const beganMs = performance.timeOrigin + performance.now();
  const fleet = AgentFleet.start(
    {
      type: 'start',
      channel,
      ...target,
      namespace: NAMESPACE,
      jobSetName: NAME,
      jobSetUid: jobSet.metadata.uid,
      replicatedJobName: STAGE,
      agents,
    },
    AGENTS_PER_PROCESS,
  );
  const label = `${size} agents, ${channel === 'Hub' ? 'hub' : 'API server'}`;
  try {
    report({
      benchmark: `${label}: first start of all`,
      unit: 'ms',
      median: (await fleet.last('started', 1)) - beganMs,
      notes: 'processes of the agents included',
    });
    await measureRestarts(cluster, fleet, label, probePort, report);
  } finally {
    await fleet.stop();
  }
}

async function measureRestarts(
  cluster: LocalCluster,
  fleet: AgentFleet,
  label: string,
  probePort: number,
  report: (row: Row) => void,
): Promise<void> {
  const jobSets = jobSetInformer(cluster);
  await jobSets.whenSynced();
  let writes = 0;
  jobSets.subscribe({ updated: () => writes++ });
  const restartMs: number[] = [];
  const fanOutMs: number[] = [];
  const before = processCost(cluster.operatorPid);
  const probe = new StallProbe(probePort);
  for (let epoch = 1; epoch <= ROUNDS; epoch++) {
    const failedMs = await fleet.fail();
    fanOutMs.push((await fleet.last('stopped', epoch)) - failedMs);
    restartMs.push((await fleet.last('started', epoch + 1)) - failedMs);
  }
  const stallMs = await probe.stop();
  const after = processCost(cluster.operatorPid);
  await jobSets.stop();
  const row = (what: string, values: readonly number[], notes?: string): void =>
    report({
      benchmark: `${label}: ${what}`,
      unit: 'ms',
      median: median(values),
      min: Math.min(...values),
      max: Math.max(...values),
      ...(notes === undefined ? {} : { notes }),
    });
  row('failure to last release', restartMs, `${writes / ROUNDS} writes of the JobSet a restart`);
  row('failure to last stop', fanOutMs);
  row('operator CPU a restart', [(after.cpuMs - before.cpuMs) / ROUNDS]);
  row('longest silence of the operator', [stallMs]);
  report({
    benchmark: `${label}: operator's peak resident size`,
    unit: 'MiB',
    median: after.peakBytes / MIB,
  });
}

/** Asks an endpoint that answers from memory all the time, and notes the longest wait. */
class StallProbe {
  #longestMs = 0;
  #isStopped = false;
  readonly #ended: Promise<void>;

  constructor(port: number) {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    this.#ended = this.#run(port, agent).finally(() => agent.destroy());
  }

  async stop(): Promise<number> {
    this.#isStopped = true;
    await this.#ended;
    return this.#longestMs;
  }

  async #run(port: number, agent: http.Agent): Promise<void> {
    while (!this.#isStopped) {
      const start = performance.now();
      await new Promise<void>((resolve, reject) => {
        http
          .get({ host: '127.0.0.1', port, path: '/livez', agent }, (response) => {
            response.resume().once('end', resolve);
          })
          .once('error', reject);
      });
      this.#longestMs = Math.max(this.#longestMs, performance.now() - start);
      await new Promise((resolve) => setTimeout(resolve, PROBE_INTERVAL_MS));
    }
  }
}

function jobSetInformer({ client }: LocalCluster): Informer<JobSet> {
  return createInformer({
    client,
    resource: JOBSETS,
    namespace: NAMESPACE,
    clock: nodeClock,
    random: systemRandom,
    logger: SILENT,
  });
}

async function podsOf(cluster: LocalCluster, size: number): Promise<readonly Stored<Pod>[]> {
  for (;;) {
    const { items } = await cluster.client.list(PODS, {
      namespace: NAMESPACE,
      labelSelector: `${JOBSET_NAME}=${NAME}`,
    });
    if (items.length === size) return items;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function tokensFor(
  { client }: LocalCluster,
  pods: readonly Stored<Pod>[],
  channel: 'Hub' | 'API',
): Promise<readonly SimulatedAgent[]> {
  const agents: SimulatedAgent[] = [];
  await forEachConcurrently(pods, PARALLEL_REQUESTS, async ({ metadata: { name, uid } }) => {
    const request: TokenRequest = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: {},
      spec: {
        ...(channel === 'Hub' ? { audiences: [HUB_AUDIENCE] } : {}),
        boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name, uid },
      },
    };
    const at = { namespace: NAMESPACE, name: agentAccountName(NAME) };
    const answer = await client.createSubresource(SERVICE_ACCOUNTS, at, 'token', request);
    agents.push({ podName: name, podUid: uid, token: answer.status?.token ?? '' });
  });
  return agents;
}

function variable({ spec }: Pod, name: string): string {
  const value = spec.containers[0]?.env?.find((one) => one.name === name)?.value;
  if (value === undefined) throw new Error(`the Pods have no variable ${name}`);
  return value;
}

function manifest(size: number): JobSet {
  return {
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    metadata: {
      name: NAME,
      namespace: NAMESPACE,
      annotations: { [RESTART_MODE]: 'Supervisor', [RESTART_BACKOFF]: 'Disabled' },
    },
    spec: {
      failurePolicy: { maxRestarts: 1000, restartStrategy: 'InPlaceRestart' },
      replicatedJobs: [
        {
          name: STAGE,
          replicas: 1,
          template: {
            spec: {
              parallelism: size,
              completions: size,
              template: {
                spec: {
                  // Nobody schedules these Pods: their agents are simulated.
                  schedulerName: 'nobody',
                  containers: [{ name: 'worker', image: 'none', command: ['true'] }],
                },
              },
            },
          },
        },
      ],
    },
  };
}
