/** Plays all scenarios on one cluster, a number of them at a time, because each mostly waits. */
import { NAMESPACES, SERVICE_ACCOUNTS } from '@lockstep/kube/objects/core.ts';
import { LEASES } from '@lockstep/kube/objects/lease.ts';
import { NODES } from '@lockstep/kube/objects/node.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { forEachConcurrently } from '@lockstep/kube/runtime/concurrency.ts';
import {
  type Clock,
  microTimestamp,
  sleep,
  timestamp,
} from '@lockstep/kube/runtime/ports/clock.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { type JobScenario, NODE_NAME, type PlayedJob, playJob } from './job-play.ts';
import { JOB_SCENARIOS } from './job-scenarios.ts';

/** More would wait for each other under the real controller's own limit of requests. */
const SCENARIOS_AT_A_TIME = 12;
const HEARTBEAT_MS = 5000;
const ACCOUNT_POLL_MS = 100;
const ACCOUNT_POLLS = 300;

/** The caller has to drive `clock` until this resolves. */
export async function playJobs(
  client: Client,
  clock: Clock,
  scenarios: readonly JobScenario[] = JOB_SCENARIOS,
): Promise<readonly PlayedJob[]> {
  const node = await startNode(client, clock);
  const played: PlayedJob[] = [];
  await forEachConcurrently(scenarios.entries(), SCENARIOS_AT_A_TIME, async ([at, scenario]) => {
    const namespace = await addNamespace(client, clock);
    const now = (): number => clock.now();
    const pass = (ms: number): Promise<void> => sleep(clock, ms);
    played[at] = await playJob(scenario, { client, namespace, now, pass });
    await client.delete(NAMESPACES, { name: namespace });
  });
  await node.stop();
  return played;
}

/** The node of all Pods, whose Lease is renewed until it is stopped. */
export async function startNode(client: Client, clock: Clock): Promise<{ stop(): Promise<void> }> {
  const over = new AbortController();
  await addNode(client, clock);
  const beating = beat(client, clock, over.signal);
  return {
    stop: async () => {
      over.abort();
      await beating;
      await client.delete(NODES, { name: NODE_NAME });
    },
  };
}

/** Creates a namespace and returns its name. */
async function addNamespace(client: Client, clock: Clock): Promise<string> {
  const wanted = { apiVersion: 'v1', kind: 'Namespace', metadata: { generateName: 'play-' } };
  const { name } = (await client.create(NAMESPACES, wanted)).metadata;
  for (let poll = 0; poll < ACCOUNT_POLLS; poll++) {
    const at = { namespace: name, name: 'default' };
    const account = await client.get(SERVICE_ACCOUNTS, at).catch(ignoreExpected);
    if (account !== undefined) return name;
    await sleep(clock, ACCOUNT_POLL_MS);
  }
  throw new Error(`${name} has no service account`);
}

/**
 * Creates the node, because Pods of a missing node would be collected. A taint keeps other Pods off
 * it.
 */
async function addNode(client: Client, clock: Clock): Promise<void> {
  const ready = {
    type: 'Ready',
    status: 'True',
    lastHeartbeatTime: timestamp(clock),
    lastTransitionTime: timestamp(clock),
  } as const;
  const metadata = { name: NODE_NAME };
  const status = { conditions: [ready] };
  const spec = { unschedulable: true };
  const node = { apiVersion: 'v1', kind: 'Node', metadata, spec, status };
  await client.create(NODES, node).catch(ignoreExpected);
}

/** Renews the Lease, because Pods of a silent node would not be ready. */
async function beat(client: Client, clock: Clock, over: AbortSignal): Promise<void> {
  const metadata = { name: NODE_NAME, namespace: 'kube-node-lease' };
  const spec = (): object => ({
    holderIdentity: NODE_NAME,
    leaseDurationSeconds: 40,
    renewTime: microTimestamp(clock),
  });
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata };
  await client.create(LEASES, { ...lease, spec: spec() }).catch(ignoreExpected);
  while (!over.aborted) {
    await client.patch(LEASES, metadata, { type: 'merge', patch: { spec: spec() } });
    await sleep(clock, HEARTBEAT_MS, over).catch(() => undefined);
  }
}

function ignoreExpected(error: unknown): undefined {
  if (isReason(error, 'NotFound', 'AlreadyExists')) return undefined;
  throw error;
}
