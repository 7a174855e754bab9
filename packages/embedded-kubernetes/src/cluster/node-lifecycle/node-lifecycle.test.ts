/** Nodes that fall silent, in the embedded cluster under a virtual clock. */

import type { Stored } from '@lockstep/kube/meta.ts';
import { EVENTS } from '@lockstep/kube/objects/event.ts';
import { NODES, type Node } from '@lockstep/kube/objects/node.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { MemoryCluster } from '../memory-cluster.ts';

const SECOND = 1000;

let cluster: MemoryCluster;

beforeEach(async () => {
  cluster = new MemoryCluster();
  await cluster.start();
  await cluster.addNode('n1');
  await cluster.addNode('n2');
});

afterEach(() => cluster.stop());

const node = (name = 'n1'): Promise<Stored<Node>> => cluster.client.get(NODES, { name });

async function isReady(name: string): Promise<string> {
  const { status } = await node(name);
  return status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? '';
}

async function taints(name = 'n1'): Promise<readonly string[]> {
  const { spec } = await node(name);
  return (spec?.taints ?? []).map(({ key, effect }) => `${key}:${effect}`);
}

async function runPod(name: string, spec: Partial<Pod['spec']> = {}): Promise<void> {
  await cluster.client.create(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', name },
    spec: { nodeName: 'n1', containers: [{ name: 'main', image: 'none' }], ...spec },
  });
  await cluster.until(async () => (await pod(name))?.status?.phase === 'Running');
}

async function pod(name: string): Promise<Stored<Pod> | undefined> {
  return (await cluster.pods()).find(({ metadata }) => metadata.name === name);
}

async function putOutOfService(): Promise<void> {
  const { spec } = await node();
  const taint = { key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' };
  const patch = { spec: { taints: [...(spec?.taints ?? []), taint] } };
  await cluster.client.patch(NODES, { name: 'n1' }, { type: 'merge', patch });
}

test('a node that falls silent is unknown after the grace period, tainted, and back at once', async () => {
  await runPod('p');
  await cluster.silence('n1');
  await cluster.clock.advance(39 * SECOND);
  expect(await isReady('n1')).toBe('True');
  await cluster.clock.advance(2 * SECOND);
  expect(await isReady('n1')).toBe('Unknown');
  expect(await taints()).toEqual([
    'node.kubernetes.io/unreachable:NoSchedule',
    'node.kubernetes.io/unreachable:NoExecute',
  ]);
  expect(await isReady('n2')).toBe('True');
  expect((await pod('p'))?.status).toMatchObject({
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'False' }],
  });
  const { items } = await cluster.client.list(EVENTS);
  const notes = items.map(({ reason, note }) => `${reason}: ${note}`);
  expect(notes).toContain('NodeNotReady: Node n1 status is now: NodeNotReady');

  await cluster.recover('n1');
  await cluster.until(async () => (await taints()).length === 0);
  expect((await pod('p'))?.metadata.deletionTimestamp).toBeUndefined();
});

test('deletes its Pods when their toleration ends, and keeps them until it confirms their end', async () => {
  const tolerations = [
    {
      key: 'node.kubernetes.io/unreachable',
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 5,
    } as const,
  ];
  await runPod('hasty', { tolerations });
  await runPod('usual');
  await runPod('loyal', { tolerations: [{ operator: 'Exists' }] });
  await cluster.silence('n1');
  await cluster.until(async () => (await pod('hasty'))?.metadata.deletionTimestamp !== undefined);
  expect((await pod('hasty'))?.status?.conditions).toContainEqual(
    expect.objectContaining({
      type: 'DisruptionTarget',
      reason: 'DeletionByTaintManager',
      message: 'Taint manager: deleting due to NoExecute taint',
    }),
  );
  await cluster.clock.advance(290 * SECOND);
  expect((await pod('usual'))?.metadata.deletionTimestamp).toBeUndefined();
  await cluster.clock.advance(20 * SECOND);
  expect((await pod('usual'))?.metadata.deletionTimestamp).toBeDefined();
  await cluster.clock.advance(900 * SECOND);
  expect((await pod('loyal'))?.metadata.deletionTimestamp).toBeUndefined();
  expect(await pod('hasty')).toBeDefined();

  await putOutOfService();
  await cluster.until(async () => (await cluster.pods()).length === 1);
  expect((await pod('loyal'))?.status?.phase).toBe('Running');
});

test('Pods of a node that is back in time stay', async () => {
  await runPod('p');
  await cluster.silence('n1');
  await cluster.clock.advance(200 * SECOND);
  await cluster.recover('n1');
  await cluster.clock.advance(600 * SECOND);
  expect((await pod('p'))?.metadata.deletionTimestamp).toBeUndefined();
});

test('where all nodes are silent none of their Pods is driven away', async () => {
  await runPod('p');
  await cluster.silence('n1');
  await cluster.silence('n2');
  await cluster.clock.advance(600 * SECOND);
  expect(await taints()).toEqual(['node.kubernetes.io/unreachable:NoSchedule']);
  expect((await pod('p'))?.metadata.deletionTimestamp).toBeUndefined();
  await cluster.recover('n2');
  await cluster.clock.advance(310 * SECOND);
  expect((await pod('p'))?.metadata.deletionTimestamp).toBeDefined();
});

test('nodes of a zone that are lost together lose their Pods one in ten seconds', async () => {
  await cluster.addNode('n3');
  await cluster.addNode('n4');
  await cluster.silence('n1');
  await cluster.silence('n2');
  const evicted = async (): Promise<number> => {
    const all = await Promise.all(['n1', 'n2'].map(taints));
    return all.filter((each) => each.includes('node.kubernetes.io/unreachable:NoExecute')).length;
  };
  await cluster.until(async () => (await evicted()) === 1);
  await cluster.clock.advance(9 * SECOND);
  expect(await evicted()).toBe(1);
  await cluster.clock.advance(2 * SECOND);
  expect(await evicted()).toBe(2);
});

test('where most nodes of a small zone are lost, their Pods stay until there are fewer', async () => {
  for (const name of ['n3', 'n4']) await cluster.addNode(name);
  await runPod('p');
  // The other nodes are lost before it is the turn of the first.
  for (const name of ['n1', 'n3', 'n4']) await cluster.silence(name);
  await cluster.clock.advance(60 * SECOND);
  const lost = await Promise.all(['n1', 'n3', 'n4'].map(taints));
  const evicted = lost.filter((all) => all.includes('node.kubernetes.io/unreachable:NoExecute'));
  expect(evicted.length).toBeLessThanOrEqual(1);
  await cluster.clock.advance(600 * SECOND);
  const later = await Promise.all(['n1', 'n3', 'n4'].map(taints));
  expect(later).toEqual(lost);
  await cluster.recover('n4');
  await cluster.clock.advance(30 * SECOND);
  expect(await taints('n1')).toContain('node.kubernetes.io/unreachable:NoExecute');
  expect(await taints('n3')).toContain('node.kubernetes.io/unreachable:NoExecute');
});

test('Pods of a node that is deleted go, and a Job makes new ones elsewhere', async () => {
  await cluster.createJob({ completions: 2, parallelism: 2 });
  const before = await cluster.running(2);
  const lost = before.filter(({ spec }) => spec.nodeName === 'n1');
  expect(lost.length).toBe(1);
  await cluster.silence('n1');
  await cluster.client.delete(NODES, { name: 'n1' });
  await cluster.until(async () => {
    const pods = await cluster.pods();
    return pods.length === 2 && pods.every(({ spec }) => spec.nodeName === 'n2');
  });
});
