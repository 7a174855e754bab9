/**
 * Operators that die or are deposed in the middle of a restart: workers run on, nothing is lost.
 */

import { LEASES, type Lease } from '@lockstep/kube/objects/lease.ts';
import type { HttpRequest } from '@lockstep/kube/runtime/ports/transport.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WorkerGroup } from '../../src/bench/worker-group.ts';
import { type ApiProxy, FAIR } from './api-proxy.fixture.ts';
import {
  ClusterInBadWeather,
  expectRunning,
  OPERATOR,
  type OperatorProcess,
  until,
} from './bad-weather.fixture.ts';

const cluster = new ClusterInBadWeather();
beforeAll(() => cluster.start());
afterAll(() => cluster.stop());

/** The epochs after a write of the group's status; undefined for other requests. */
function epochsIn({ method, path, body }: HttpRequest, group: WorkerGroup): string | undefined {
  if (method !== 'PUT' || !path.endsWith(`/jobsets/${group.name}/status`)) return undefined;
  const { status } = JSON.parse(Buffer.from(body ?? []).toString()) as {
    readonly status: WorkerGroup['status'];
  };
  return epochsOf(status);
}

function epochsOf({ deprecatedEpoch = 0, syncedEpoch = 0 }: WorkerGroup['status']): string {
  return `deprecated ${deprecatedEpoch}, synced ${syncedEpoch}`;
}

test('an operator that dies before or after a write of a restart loses nothing, and charges once', async () => {
  const proxy = await cluster.proxy();
  let operator = cluster.startOperator(proxy);
  const group = await cluster.group('killed');
  let epoch = 1;
  for (const write of [
    { syncedEpoch: 0, dies: 'before' },
    { syncedEpoch: 0, dies: 'after' },
    { syncedEpoch: 1, dies: 'before' },
    { syncedEpoch: 1, dies: 'after' },
  ] as const) {
    const awaited = epochsOf({ deprecatedEpoch: epoch, syncedEpoch: epoch + write.syncedEpoch });
    const hasDied = new Promise<void>((resolve) => {
      proxy.weather = async (request, forward) => {
        if (epochsIn(request, group) !== awaited) return forward();
        const answer = write.dies === 'after' ? await forward() : undefined;
        await operator.kill();
        resolve();
        if (answer === undefined) throw new Error('no request waits for an answer');
        return answer;
      };
    });
    group.kill(1);
    await hasDied;
    // The others run on, because they have not been told to stop.
    const isUntold = write.syncedEpoch === 0 && write.dies === 'before';
    if (isUntold) expectRunning(group, 0, 2);
    proxy.weather = FAIR;
    operator = cluster.startOperator(proxy);
    epoch++;
    await group.running(epoch);
    expect(group.status).toMatchObject({
      inPlaceRestarts: epoch - 1,
      inPlaceRestartsCountTowardsMax: epoch - 1,
    });
  }
  expect(group.starts()).toHaveLength(epoch * group.size);
  await cluster.remove(group);
  await operator.kill();
});

test('another replica takes over at each write of a restart, and those before do not know', async () => {
  const replicas: Replica[] = [];
  for (let i = 0; i < 3; i++) replicas.push(new Replica(await cluster.proxy()));
  const group = await cluster.group('deposed');
  const depositions = new Map<string, Promise<void>>();
  let fail: (error: unknown) => void = () => undefined;
  const failure = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  for (const replica of replicas) {
    replica.proxy.weather = async (request, forward) => {
      if (replica.isDeposed && isOfLease(request)) throw new Error('the lease is out of its reach');
      replica.see(request);
      const epochs = epochsIn(request, group);
      if (epochs !== undefined && epochs !== epochsOf(group.status)) {
        // The first replica to write it is deposed; the others wait for the new leader, too.
        const deposition = depositions.get(epochs) ?? deposeLeader(replicas);
        depositions.set(epochs, deposition);
        deposition.catch(fail);
        await deposition;
      }
      return forward();
    };
  }
  group.kill(1);
  await Promise.race([group.running(2), failure]);

  expect([...depositions.keys()]).toEqual([
    epochsOf({ deprecatedEpoch: 1, syncedEpoch: 1 }),
    epochsOf({ deprecatedEpoch: 1, syncedEpoch: 2 }),
  ]);
  expect(replicas.filter(({ isDeposed }) => isDeposed)).toHaveLength(2);
  expect(group.status).toMatchObject({ inPlaceRestarts: 1, inPlaceRestartsCountTowardsMax: 1 });
  expect(group.starts()).toHaveLength(2 * group.size);
  await cluster.remove(group);
  for (const replica of replicas) await replica.operator.kill();
});

test('a leader without an API server steps down, and its process leads again at the same hub', async () => {
  const proxy = await cluster.proxy();
  const election = ['--leader-elect', '--leader-election-id', 'outage'];
  // Agents have no other way than the hub, at a port that the system has chosen.
  const hub = ['--hub-bind-address', '127.0.0.1:0', '--agent-channel', 'Hub'];
  const operator = cluster.startOperator(proxy, ...election, ...hub);
  const group = await cluster.group('outage');
  const said = (text: string): number =>
    cluster
      .log()
      .split('\n')
      .filter((line) => line.includes('/outage"') && line.includes(text)).length;
  for (let outage = 1; outage <= 3; outage++) {
    proxy.weather = () => Promise.reject(new Error('no API server'));
    proxy.cut();
    group.kill(1);
    await until('the leader steps down', () => said('no longer leader') === outage);
    expectRunning(group, 0, 2);
    proxy.weather = FAIR;
    await group.running(outage + 1);
    expect(said('became leader')).toBe(outage + 1);
    expect(group.status).toMatchObject({
      inPlaceRestarts: outage,
      inPlaceRestartsCountTowardsMax: outage,
    });
  }
  expect(operator.hasExited).toBe(false);
  expect(group.starts()).toHaveLength(4 * group.size);
  await cluster.remove(group);
  await operator.kill();
});

const LEASE = { namespace: OPERATOR.namespace, name: 'bad-weather' };

class Replica {
  isDeposed = false;
  /** The holder name in the lease. */
  identity = '';
  readonly proxy: ApiProxy;
  readonly operator: OperatorProcess;

  constructor(proxy: ApiProxy) {
    this.proxy = proxy;
    proxy.weather = (request, forward) => {
      this.see(request);
      return forward();
    };
    const flags = ['--leader-elect', '--leader-election-id', LEASE.name];
    this.operator = cluster.startOperator(proxy, ...flags);
  }

  see(request: HttpRequest): void {
    if (!isOfLease(request) || request.body === undefined) return;
    const { spec } = JSON.parse(Buffer.from(request.body).toString()) as Lease;
    this.identity = spec?.holderIdentity ?? '';
  }
}

function isOfLease({ path }: HttpRequest): boolean {
  return path.includes(`/namespaces/${LEASE.namespace}/leases`);
}

/**
 * Deposes the leader, which cannot renew its lease but can do everything else. Resolves when
 * another replica leads.
 */
async function deposeLeader(replicas: readonly Replica[]): Promise<void> {
  const before = await leader();
  for (const replica of replicas) replica.isDeposed ||= replica.identity === before;
  const patch = { spec: { holderIdentity: '', leaseDurationSeconds: 1 } };
  await cluster.client.patch(LEASES, LEASE, { type: 'merge', patch });
  await until('another replica leads', async () => !['', before].includes(await leader()));
}

async function leader(): Promise<string> {
  const { spec } = await cluster.client.get(LEASES, LEASE);
  return spec?.holderIdentity ?? '';
}
