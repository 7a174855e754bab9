import type { StringMap } from '@lockstep/kube/meta.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '@lockstep/kube/objects/core.ts';
import { EVENTS } from '@lockstep/kube/objects/event.ts';
import { NODES } from '@lockstep/kube/objects/node.ts';
import { PODS, type Pod, type PodSpec } from '@lockstep/kube/objects/pod.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { MemoryCluster } from '../memory-cluster.ts';

let cluster: MemoryCluster;

beforeEach(async () => {
  cluster = new MemoryCluster();
  await cluster.start();
});

afterEach(() => cluster.stop());

async function createPod(
  name: string,
  cpu: string,
  spec: Partial<PodSpec> = {},
  labels: StringMap = {},
): Promise<void> {
  const containers = [{ name: 'main', image: 'none', resources: { requests: { cpu } } }];
  const metadata = { name, namespace: 'default', labels };
  const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers, ...spec } };
  await cluster.client.create(PODS, pod);
}

async function nodesOfPods(): Promise<readonly (string | undefined)[]> {
  return (await cluster.pods()).map((pod) => pod.spec.nodeName);
}

test('a Pod waits with a condition and an Event, and is bound when a node comes', async () => {
  await createPod('a', '1');
  const conditions = async () => (await cluster.pods())[0]?.status?.conditions ?? [];
  await cluster.until(async () => (await conditions()).length > 0);
  expect((await conditions()).find((c) => c.type === 'PodScheduled')).toMatchObject({
    status: 'False',
    reason: 'Unschedulable',
    message: 'no nodes available to schedule pods',
  });
  await cluster.addNode();
  await cluster.running(1);
  const { items } = await cluster.client.list(EVENTS, { namespace: 'default' });
  expect(items.map((event) => event.reason).sort()).toEqual(['FailedScheduling', 'Scheduled']);
  const scheduled = items.find((event) => event.reason === 'Scheduled');
  expect(scheduled?.note).toBe('Successfully assigned default/a to n1');
});

test('says of what it does not look at that it has no effect', async () => {
  await cluster.addNode();
  const constraint = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' };
  await createPod('a', '1', { topologySpreadConstraints: [{ ...constraint, labelSelector: {} }] });
  await cluster.running(1);
  const { items } = await cluster.client.list(EVENTS, { namespace: 'default' });
  expect(items.find((event) => event.reason === 'FieldsIgnored')?.note).toMatch(
    /these have no effect: topologySpreadConstraints$/,
  );
});

test('many Pods at once never take more than a node has', async () => {
  const status = { allocatable: { cpu: '2', memory: '8Gi', pods: '110' } };
  await cluster.addNode('n1', status);
  await cluster.addNode('n2', status);
  await Promise.all(Array.from({ length: 7 }, (_, i) => createPod(`p${i}`, '900m')));
  await cluster.clock.advance(5000);
  const placed = await nodesOfPods();
  const count = (node: string | undefined): number => placed.filter((each) => each === node).length;
  expect([count('n1'), count('n2'), count(undefined)]).toEqual([2, 2, 3]);

  // The end of one Pod makes room for one that waits.
  const [running] = (await cluster.pods()).filter((pod) => pod.spec.nodeName === 'n1');
  if (running !== undefined) await cluster.finish(running, 0);
  await cluster.until(async () => (await nodesOfPods()).filter((node) => node).length === 5);
});

test('scheduling gates, other schedulers and a node that becomes ready', async () => {
  await cluster.addNode('n1', { conditions: [{ type: 'Ready', status: 'False' }] });
  await createPod('gated', '1', { schedulingGates: [{ name: 'quota' }] });
  await createPod('other', '1', { schedulerName: 'mine' });
  await createPod('ours', '1');
  await cluster.clock.advance(5000);
  expect(await nodesOfPods()).toEqual([undefined, undefined, undefined]);
  const patch = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };
  await cluster.client.patch(
    NODES,
    { name: 'n1' },
    { type: 'merge', patch },
    { subresource: 'status' },
  );
  await cluster.clock.advance(5000);
  expect(await nodesOfPods()).toEqual([undefined, undefined, 'n1']);
  const ungate = { type: 'merge', patch: { spec: { schedulingGates: null } } } as const;
  await cluster.client.patch(PODS, { namespace: 'default', name: 'gated' }, ungate);
  await cluster.clock.advance(5000);
  expect(await nodesOfPods()).toEqual(['n1', undefined, 'n1']);
});

test('a Pod waits for the neighbour that it needs, and for no other', async () => {
  await cluster.addNode('n1', {}, { zone: 'a' });
  await cluster.addNode('n2', {}, { zone: 'b' });
  const term = { labelSelector: { matchLabels: { app: 'web' } }, topologyKey: 'zone' };
  const podAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [term] };
  await createPod('guest', '1', { affinity: { podAffinity } });
  await createPod('other', '1');
  await cluster.clock.advance(5000);
  expect(await nodesOfPods()).toEqual([undefined, 'n1']);
  await createPod('host', '1', { nodeSelector: { zone: 'b' } }, { app: 'web' });
  await cluster.clock.advance(5000);
  expect(await nodesOfPods()).toEqual(['n2', 'n2', 'n1']);
});

test('a Pod waits for its claim, and says which', async () => {
  await cluster.addNode();
  const persistentVolumeClaim = { claimName: 'data' };
  await createPod('p', '1', { volumes: [{ name: 'v', persistentVolumeClaim }] });
  await cluster.until(async () => (await cluster.pods())[0]?.status?.conditions !== undefined);
  expect((await cluster.pods())[0]?.status?.conditions?.[0]?.message).toBe(
    '0/1 nodes are available: persistentvolumeclaim "data" not found.',
  );
  const resources = { requests: { storage: '1Gi' } };
  const spec = { accessModes: ['ReadWriteOnce'], resources };
  const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', spec };
  const metadata = { name: 'data', namespace: 'default' };
  await cluster.client.create(PERSISTENT_VOLUME_CLAIMS, { ...claim, metadata });
  await cluster.running(1);
});

test('many Pods that keep apart by topology are all placed, each with few requests', async () => {
  for (let i = 0; i < 8; i++) await cluster.addNode(`n${i}`, {}, { rack: `r${i % 4}` });
  const labelSelector = { matchExpressions: [{ key: 'group', operator: 'Exists' } as const] };
  const term = { labelSelector, topologyKey: 'rack', mismatchLabelKeys: ['group'] };
  const podAntiAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [term] };
  const pods = Array.from({ length: 200 }, (_, i) => i);
  await Promise.all(
    pods.map((i) =>
      createPod(`p${i}`, '10m', { affinity: { podAntiAffinity } }, { group: `g${i % 4}` }),
    ),
  );
  const before = cluster.requests.length;
  await cluster.running(200);
  const racksOf = new Map<string, Set<string>>();
  for (const { metadata, spec } of await cluster.pods()) {
    const group = metadata.labels?.['group'] ?? '';
    const rack = `${Number(spec.nodeName?.slice(1)) % 4}`;
    racksOf.set(group, (racksOf.get(group) ?? new Set()).add(rack));
  }
  expect([...racksOf.values()].map(({ size }) => size)).toEqual([1, 1, 1, 1]);
  // One binding and one Event per Pod.
  expect(cluster.requests.length - before).toBeLessThan(450);
});
