import { CONFIG_MAPS, NAMESPACES } from '@lockstep/kube/objects/core.ts';
import { JOBS } from '@lockstep/kube/objects/job.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { MemoryCluster } from '../memory-cluster.ts';

let cluster: MemoryCluster;

beforeEach(async () => {
  cluster = new MemoryCluster();
  await cluster.start();
  await cluster.addNode();
});

afterEach(() => cluster.stop());

const SPACE = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } };

test('a deleted namespace is emptied, objects with finalizers last, and goes', async () => {
  await cluster.client.create(NAMESPACES, SPACE);
  await cluster.createJob({}, 'elsewhere');
  await cluster.createJob({}, 'train', 'team');
  await cluster.client.create(CONFIG_MAPS, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'held', namespace: 'team', finalizers: ['test/hold'] },
  });
  await cluster.until(async () => (await cluster.pods('team')).length === 3);
  await cluster.client.delete(NAMESPACES, { name: 'team' });
  await cluster.until(async () => (await cluster.pods('team')).length === 0);
  await cluster.clock.advance(30_000);
  expect(await cluster.exists(NAMESPACES, 'team')).toBe(true);
  const release = { type: 'merge', patch: { metadata: { finalizers: null } } } as const;
  await cluster.client.patch(CONFIG_MAPS, { namespace: 'team', name: 'held' }, release);
  await cluster.until(async () => !(await cluster.exists(NAMESPACES, 'team')));
  expect(await cluster.exists(JOBS, 'elsewhere')).toBe(true);
});
