import { PERSISTENT_VOLUME_CLAIMS } from '@lockstep/kube/objects/core.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { MemoryCluster } from '../memory-cluster.ts';

const AT = { namespace: 'default', name: 'data' };

let cluster: MemoryCluster;

beforeEach(async () => {
  cluster = new MemoryCluster();
  await cluster.start();
  await cluster.addNode();
});

afterEach(() => cluster.stop());

async function createClaim(spec: object = {}): Promise<void> {
  await cluster.client.create(PERSISTENT_VOLUME_CLAIMS, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { ...AT },
    spec: {
      accessModes: ['ReadWriteMany'],
      resources: { requests: { storage: '1Gi' } },
      ...spec,
    },
  });
}

async function createPod(name: string): Promise<void> {
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }];
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', name },
    spec: { containers: [{ name: 'main', image: 'none' }], volumes },
  };
  await cluster.client.create(PODS, pod);
}

const claim = () => cluster.client.get(PERSISTENT_VOLUME_CLAIMS, AT);
const isBound = async () => (await claim()).status?.phase === 'Bound';
const isGone = async () => !(await cluster.exists(PERSISTENT_VOLUME_CLAIMS, 'data'));

test.each([
  ['of no class', {}],
  ['of any class', { storageClassName: 'fast' }],
])('a claim %s gets a volume of the size that it asks for', async (_, spec) => {
  await createClaim(spec);
  await cluster.until(isBound);
  const { metadata, status, spec: bound } = await claim();
  expect(bound?.['volumeName']).toBe(`pvc-${metadata.uid}`);
  expect(status).toMatchObject({ accessModes: ['ReadWriteMany'], capacity: { storage: '1Gi' } });
});

test('a claim that names its volume keeps the name', async () => {
  await createClaim({ volumeName: 'mine' });
  await cluster.until(isBound);
  expect((await claim()).spec?.['volumeName']).toBe('mine');
});

test('a claim without Pods goes with its volume', async () => {
  await createClaim();
  await cluster.until(isBound);
  const { uid } = (await claim()).metadata;
  await cluster.client.delete(PERSISTENT_VOLUME_CLAIMS, AT);
  await cluster.until(isGone);
  expect(cluster.removedVolumes).toEqual([uid]);
});

test('a deleted claim stays until its last Pod has ended, and takes no new one', async () => {
  await createClaim();
  await createPod('a');
  await createPod('b');
  const [a, b] = await cluster.running(2);
  await cluster.client.delete(PERSISTENT_VOLUME_CLAIMS, AT);
  await createPod('late');
  if (a !== undefined) await cluster.finish(a, 0);
  await cluster.clock.advance(10_000);
  expect(cluster.removedVolumes).toEqual([]);
  const late = (await cluster.pods()).find(({ metadata }) => metadata.name === 'late');
  expect(late?.status?.conditions?.[0]?.message).toBe(
    '0/1 nodes are available: persistentvolumeclaim "data" is being deleted.',
  );
  await cluster.client.delete(PODS, { namespace: 'default', name: b?.metadata.name ?? '' });
  await cluster.until(isGone);
  expect(cluster.removedVolumes.length).toBe(1);

  // A new claim of that name has a new volume.
  await createClaim();
  await cluster.running(1);
});

test('a volume that cannot be removed keeps its claim, and is tried again', async () => {
  await createClaim();
  await cluster.until(isBound);
  let failures = 2;
  cluster.removeVolume = async () => {
    if (failures-- > 0) throw new Error('the disk is busy');
  };
  await cluster.client.delete(PERSISTENT_VOLUME_CLAIMS, AT);
  await cluster.until(isGone);
  expect(failures).toBe(-1);
});
