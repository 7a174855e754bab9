import { NODES } from '@lockstep/kube/objects/node.ts';
import { MemoryClient } from '@lockstep/kube/runtime/memory/memory-client.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { failure } from '@lockstep/kube/status.ts';
import { expect, it } from 'vitest';
import { NodeHealth } from './node-health.ts';

const { signal } = new AbortController();

async function clientWith(ready: Readonly<Record<string, string>>): Promise<MemoryClient> {
  const client = new MemoryClient();
  for (const [name, status] of Object.entries(ready)) {
    await client.create(NODES, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name },
      status: { conditions: [{ type: 'Ready', status: status as 'True' }] },
    });
  }
  return client;
}

it('tells nodes that are not ready, not heard of, or gone', async () => {
  const client = await clientWith({ a: 'True', b: 'False', c: 'Unknown' });
  const health = new NodeHealth(client, new VirtualClock());
  const notReady = await health.notReady(new Set(['a', 'b', 'c', 'd']), signal);
  expect([...notReady].sort()).toEqual(['b', 'c', 'd']);
});

it('asks no more often than once in a while', async () => {
  const client = await clientWith({ a: 'True' });
  const clock = new VirtualClock();
  const health = new NodeHealth(client, clock);
  const before = client.calls.length;
  for (let i = 0; i < 10; i++) await health.notReady(new Set(['a']), signal);
  expect(client.calls.length - before).toBe(1);
  await clock.advance(2000);
  await health.notReady(new Set(['a']), signal);
  expect(client.calls.length - before).toBe(2);
});

it('shows nothing to those who may not read nodes, and asks once', async () => {
  const client = await clientWith({ a: 'False' });
  client.before = () => {
    throw failure('Forbidden', 'nodes is forbidden');
  };
  const health = new NodeHealth(client, new VirtualClock());
  const before = client.calls.length;
  for (let i = 0; i < 3; i++) expect((await health.notReady(new Set(['a']), signal)).size).toBe(0);
  expect(client.calls.length - before).toBe(1);
});
