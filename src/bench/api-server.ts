/**
 * Measures the embedded API server alone, in memory, without sockets: creates, a list and a watch
 * of 5,000 Pods, and the fan-out of each change to 500 watchers. Medians of rounds on fresh
 * servers.
 */
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { startMemoryServer } from './memory-server.ts';
import { type Report, spread } from './table.ts';

const ROUNDS = 3;
const PODS_COUNT = 5000;
const WATCHERS = 500;
const CHANGES = 100;
const NAMESPACE = 'default';

export async function benchApiServer(report: Report): Promise<void> {
  const creates: number[] = [];
  const lists: number[] = [];
  const watches: number[] = [];
  const deliveries: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { client, close } = await startMemoryServer();
    creates.push(PODS_COUNT / (await seconds(() => createPods(client))));
    lists.push(PODS_COUNT / (await seconds(() => client.list(PODS, { namespace: NAMESPACE }))));
    watches.push(PODS_COUNT / (await seconds(() => initialEvents(client))));
    deliveries.push((WATCHERS * CHANGES) / (await fanOut(client)));
    await close();
  }
  const row = (benchmark: string, values: readonly number[]): void =>
    report({ benchmark, unit: 'per second', ...spread(values) });
  row('API server: Pods created', creates);
  row(`API server: Pods listed (${PODS_COUNT} a list)`, lists);
  row(`API server: initial events of a watch (${PODS_COUNT})`, watches);
  row(`API server: events delivered to ${WATCHERS} watchers`, deliveries);
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

function pod(index: number): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `pod-${index}`, namespace: NAMESPACE, labels: { app: 'bench' } },
    spec: { containers: [{ name: 'worker', image: 'none', command: ['true'] }] },
  };
}

async function createPods(client: Client): Promise<void> {
  for (let i = 0; i < PODS_COUNT; i++) await client.create(PODS, pod(i));
}

async function initialEvents(client: Client): Promise<void> {
  const stop = new AbortController();
  const events = client.watch(PODS, {
    namespace: NAMESPACE,
    sendInitialEvents: true,
    resourceVersionMatch: 'NotOlderThan',
    allowWatchBookmarks: true,
    signal: stop.signal,
  });
  for await (const event of events) {
    if (event.type === 'BOOKMARK' && event.initialEventsEnd) break;
  }
  stop.abort();
}

/** Seconds from the first change until every watcher has seen the last one. */
async function fanOut(client: Client): Promise<number> {
  const stop = new AbortController();
  const { metadata } = await client.list(PODS, { namespace: NAMESPACE, limit: 1 });
  const watchers = Array.from({ length: WATCHERS }, async () => {
    const options = { namespace: NAMESPACE, signal: stop.signal };
    let seen = 0;
    const version = metadata.resourceVersion ?? '';
    for await (const event of client.watch(PODS, { ...options, resourceVersion: version })) {
      if (event.type !== 'BOOKMARK' && ++seen === CHANGES) return;
    }
  });
  const taken = await seconds(async () => {
    for (let i = 0; i < CHANGES; i++) {
      const patch = { metadata: { annotations: { change: String(i) } } };
      const at = { namespace: NAMESPACE, name: `pod-${i}` };
      await client.patch(PODS, at, { type: 'merge', patch });
    }
    await Promise.all(watchers);
  });
  stop.abort();
  return taken;
}
