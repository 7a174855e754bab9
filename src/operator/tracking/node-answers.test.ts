import { NODES } from '@lockstep/kube/objects/node.ts';
import { MemoryClient } from '@lockstep/kube/runtime/memory/memory-client.ts';
import { failure } from '@lockstep/kube/status.ts';
import { expect, test } from 'vitest';
import { isNodeLost } from './node-answers.ts';

const { signal } = new AbortController();

async function clientWithNode(ready: 'True' | 'False' | 'Unknown'): Promise<MemoryClient> {
  const client = new MemoryClient();
  const status = { conditions: [{ type: 'Ready', status: ready }] };
  await client.create(NODES, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'node-a' },
    status,
  });
  return client;
}

test.each([
  ['True', false],
  ['False', true],
  ['Unknown', true],
] as const)('a node whose condition Ready is %s: %s', async (ready, isLost) => {
  expect(await isNodeLost('node-a', await clientWithNode(ready), signal)).toBe(isLost);
});

test('a node that is gone is lost, and a Pod without a node is on none', async () => {
  const client = await clientWithNode('True');
  expect(await isNodeLost('node-b', client, signal)).toBe(true);
  expect(await isNodeLost(undefined, client, signal)).toBe(false);
});

test.each(['Forbidden', 'TooManyRequests', 'InternalError'] as const)(
  'a node that cannot be read (%s) explains nothing, and holds nothing up',
  async (reason) => {
    const client = await clientWithNode('False');
    client.before = () => {
      throw failure(reason, 'no');
    };
    expect(await isNodeLost('node-a', client, signal)).toBe(false);
  },
);

test('rejects when its time is up', async () => {
  const client = await clientWithNode('False');
  const aborted = AbortSignal.abort(new Error('given up'));
  client.before = () => {
    throw failure('InternalError', 'no');
  };
  await expect(isNodeLost('node-a', client, aborted)).rejects.toThrow('given up');
});
