/**
 * A controller that has nothing to do with JobSets, on the embedded Kubernetes in memory. This is all
 * that a test of another project needs: the door `in-memory`, and a client's types.
 */

import { MemoryCluster } from '@lockstep/embedded-kubernetes/in-memory';
import { CONFIG_MAPS } from '@lockstep/kube/objects/core.ts';
import { JOBS } from '@lockstep/kube/objects/job.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';

/** Writes a ConfigMap for each Job that is complete. */
async function noteCompleteJobs(client: Client, signal: AbortSignal): Promise<void> {
  for await (const event of client.watch(JOBS, { signal })) {
    if (event.type === 'BOOKMARK') continue;
    const { metadata: job, status } = event.object;
    if (status?.completionTime === undefined) continue;
    const metadata = { name: `${job.name}-is-complete`, namespace: job.namespace ?? '' };
    const data = { succeeded: String(status.succeeded) };
    await client.create(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
  }
}

let cluster: MemoryCluster;

beforeEach(async () => {
  cluster = new MemoryCluster();
  await cluster.start();
  await cluster.addNode();
});
afterEach(() => cluster.stop());

test('a controller of another project runs on a cluster in memory', async () => {
  const stopping = new AbortController();
  const controller = noteCompleteJobs(cluster.client, stopping.signal);
  await cluster.createJob({ completions: 2, parallelism: 2 });
  const [first, second] = await cluster.running(2);
  if (first === undefined || second === undefined) throw new Error('expected two Pods');
  await cluster.finish(first, 0);
  await cluster.clock.settle();
  expect(await cluster.exists(CONFIG_MAPS, 'train-is-complete')).toBe(false);
  await cluster.finish(second, 0);
  await cluster.until(() => cluster.exists(CONFIG_MAPS, 'train-is-complete'));
  const at = { namespace: 'default', name: 'train-is-complete' };
  expect((await cluster.client.get(CONFIG_MAPS, at)).data).toEqual({ succeeded: '2' });
  stopping.abort();
  await expect(controller).rejects.toThrow('aborted');
});
