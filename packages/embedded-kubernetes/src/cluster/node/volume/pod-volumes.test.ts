/** The volumes of a Pod as directories, in a node that has everything in memory. */

import { CONFIG_MAPS } from '@lockstep/kube/objects/core.ts';
import { type HostPathType, PODS } from '@lockstep/kube/objects/pod.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { container } from '../test-api.fixture.ts';
import { TestNode } from '../test-node.fixture.ts';

let node: TestNode;

afterEach(() => node.stop());

/** A Pod with a path of the host, which has the directory `/srv` and the file `/etc/os`. */
async function run(path: string, type: HostPathType): Promise<void> {
  node = new TestNode({ run: () => undefined });
  await node.files.makeDirectory('/srv');
  await node.files.makeDirectory('/etc');
  await node.files.write('/etc/os', Buffer.from('x'));
  await node.start();
  await node.run({
    volumes: [{ name: 'v', hostPath: { path, type } }],
    containers: [container('c', 'run')],
  });
}

describe('a path of the host', () => {
  it.each<[path: string, type: HostPathType]>([
    ['/srv', 'Directory'],
    ['/etc/os', 'File'],
    ['/new', 'DirectoryOrCreate'],
    ['/etc/new', 'FileOrCreate'],
  ])('%s is offered as %s', async (path, type) => {
    await run(path, type);
    await node.until((pod) => pod.status?.phase === 'Running');
    const kind = type.startsWith('File') ? 'file' : 'directory';
    expect(await node.files.kindOf(path)).toBe(kind);
  });

  it.each<[path: string, type: HostPathType, text: string]>([
    ['/none', 'Directory', 'a directory'],
    ['/etc/os', 'DirectoryOrCreate', 'a directory'],
    ['/srv', 'FileOrCreate', 'a file'],
    ['/srv', 'Socket', 'a socket file'],
    ['/none', 'CharDevice', 'a character device'],
    ['/none', 'BlockDevice', 'a block device'],
  ])('%s is not taken for %s', async (path, type, text) => {
    await run(path, type);
    await node.clock.advance(1_000);
    expect(node.pod?.status?.phase).toBe('Pending');
    expect(await node.events()).toContain(
      `FailedMount: MountVolume.SetUp failed for volume "v" : hostPath type check failed: ${path} is not ${text}`,
    );
  });
});

describe('a file of a ConfigMap', () => {
  const MAP = { namespace: 'default', name: 'settings' };
  const REFRESHED_MS = 30_000;

  async function text(): Promise<string> {
    const path = `/state/pods/${node.pod?.metadata.uid}/volumes/v/key`;
    return Buffer.from(await node.files.readEnd(path, 100)).toString();
  }

  it('follows it: also one that was not there when the Pod started', async () => {
    node = new TestNode({ run: () => undefined });
    await node.start();
    await node.run({
      volumes: [
        {
          name: 'v',
          projected: { sources: [{ configMap: { name: 'settings', optional: true } }] },
        },
      ],
      containers: [container('c', 'run')],
    });
    await node.until((pod) => pod.status?.phase === 'Running');
    expect(await text()).toBe('');
    const { client } = node.api;
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: MAP, data: { key: 'one' } };
    const made = await client.create(CONFIG_MAPS, map);
    await node.clock.advance(REFRESHED_MS);
    expect(await text()).toBe('one');
    await client.update(CONFIG_MAPS, { ...made, data: { key: 'two' } });
    await node.clock.advance(REFRESHED_MS);
    expect(await text()).toBe('two');
    await client.delete(CONFIG_MAPS, MAP);
    await node.clock.advance(REFRESHED_MS);
    expect(await text()).toBe('');
  });

  it('follows it at once when the annotations of the Pod change, also while it is being read', async () => {
    node = new TestNode({ run: () => undefined });
    await node.start();
    const { client } = node.api;
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: MAP };
    await client.create(CONFIG_MAPS, { ...map, data: { key: 'one' } });
    await node.run({
      volumes: [{ name: 'v', configMap: { name: 'settings' } }],
      containers: [container('c', 'run')],
    });
    await node.until((pod) => pod.status?.phase === 'Running');
    const annotate = async (value: string): Promise<void> => {
      const { namespace = '', name = '' } = node.pod?.metadata ?? {};
      const patch = { metadata: { annotations: { edit: value } } };
      await client.patch(PODS, { namespace, name }, { type: 'merge', patch });
    };
    const set = (key: string) =>
      client.patch(CONFIG_MAPS, MAP, { type: 'merge', patch: { data: { key } } });
    await set('two');
    await annotate('1');
    await set('three');
    await annotate('2');
    await node.clock.advance(1_000);
    expect(await text()).toBe('three');
    // It is read as before after that, too.
    await set('four');
    await node.clock.advance(REFRESHED_MS);
    expect(await text()).toBe('four');
  });
});
