import { afterEach, beforeEach, expect, test } from 'vitest';
import { CONFIG_MAPS, NAMESPACES, SERVICE_ACCOUNTS } from '../../kube/core.ts';
import { JOBS } from '../../kube/job.ts';
import { MemoryCluster } from '../memory-cluster.fixture.ts';

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
  const job = await cluster.createJob({}, 'elsewhere');
  const { name: _, ...spec } = { name: 'x', ...job.spec };
  const { selector: _selector, template, ...rest } = spec;
  const bare = { spec: template.spec };
  const metadata = { name: 'train', namespace: 'team' };
  await cluster.client.create(JOBS, {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata,
    spec: { ...rest, template: bare },
  });
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

test('every namespace has its default account and the root certificate, also after they were lost', async () => {
  await cluster.client.create(NAMESPACES, SPACE);
  const areThere = async (): Promise<boolean> =>
    (await cluster.exists(SERVICE_ACCOUNTS, 'default', 'team')) &&
    (await cluster.exists(CONFIG_MAPS, 'kube-root-ca.crt', 'team'));
  await cluster.until(areThere);
  await cluster.client.delete(SERVICE_ACCOUNTS, { namespace: 'team', name: 'default' });
  await cluster.client.delete(CONFIG_MAPS, { namespace: 'team', name: 'kube-root-ca.crt' });
  await cluster.until(areThere);
  const at = { namespace: 'team', name: 'kube-root-ca.crt' };
  const forged = { type: 'merge', patch: { data: { 'ca.crt': 'forged' } } } as const;
  await cluster.client.patch(CONFIG_MAPS, at, forged);
  await cluster.until(
    async () => (await cluster.client.get(CONFIG_MAPS, at)).data?.['ca.crt'] === 'PEM',
  );
});
