/** The hosts file of a Pod with `hostAliases`: its own, and removed with it. */

import { PODS } from '@lockstep/kube/objects/pod.ts';
import { expect, it } from 'vitest';
import { container } from './test-api.fixture.ts';
import { TestNode } from './test-node.fixture.ts';

it('is kept as long as the Pod is there, beside the file of all', async () => {
  const node = new TestNode({ run: () => undefined });
  await node.start();
  await node.run({
    hostname: 'me',
    hostAliases: [{ ip: '198.51.100.7', hostnames: ['far'] }],
    terminationGracePeriodSeconds: 1,
    containers: [container('a', 'run')],
  });
  await node.until((pod) => pod.status?.phase === 'Running');
  const { LOCKSTEP_HOSTS: path = '' } = node.process('a').command.env;
  const own = `/state/hosts/default.${node.pod?.metadata.uid}`;
  expect(path).toBe(own);
  const text = new TextDecoder().decode(await node.files.readEnd(own, 4096));
  expect(text).toContain('127.9.0.2\tme\n');
  expect(text).toMatch(/# Entries added by HostAliases\.\n198\.51\.100\.7\tfar\n$/);
  expect(node.files.paths).toContain('/state/hosts/default');
  await node.settled(node.api.client.delete(PODS, { namespace: 'default', name: 'p' }));
  await node.clock.runUntil(() => !node.files.paths.includes(own), 60_000);
  await node.stop();
});
