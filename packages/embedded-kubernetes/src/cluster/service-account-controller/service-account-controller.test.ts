import { CONFIG_MAPS, NAMESPACES, SERVICE_ACCOUNTS } from '@lockstep/kube/objects/core.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { MemoryCluster } from '../memory-cluster.ts';

let cluster: MemoryCluster;

beforeEach(async () => {
  cluster = new MemoryCluster();
  await cluster.start();
});

afterEach(() => cluster.stop());

const SPACE = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } };

test('every namespace has its default account and the root certificate, also after they were lost', async () => {
  await cluster.client.create(NAMESPACES, SPACE);
  const areThere = async (): Promise<boolean> =>
    (await cluster.exists(SERVICE_ACCOUNTS, 'default', 'team')) &&
    (await cluster.exists(CONFIG_MAPS, 'kube-root-ca.crt', 'team'));
  await cluster.until(areThere);
  const at = { namespace: 'team', name: 'kube-root-ca.crt' };
  expect((await cluster.client.get(CONFIG_MAPS, at)).data).toEqual({ 'ca.crt': 'PEM' });
  await cluster.client.delete(SERVICE_ACCOUNTS, { namespace: 'team', name: 'default' });
  await cluster.client.delete(CONFIG_MAPS, at);
  await cluster.until(areThere);
  const forged = { type: 'merge', patch: { data: { 'ca.crt': 'forged' } } } as const;
  await cluster.client.patch(CONFIG_MAPS, at, forged);
  await cluster.until(
    async () => (await cluster.client.get(CONFIG_MAPS, at)).data?.['ca.crt'] === 'PEM',
  );
});
