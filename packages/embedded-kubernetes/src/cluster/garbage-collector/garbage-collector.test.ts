import type { DeleteOptions, KubeObject, OwnerReference, Stored } from '@lockstep/kube/meta.ts';
import { CONFIG_MAPS, NAMESPACES, SERVICES } from '@lockstep/kube/objects/core.ts';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  type CustomResourceDefinition,
} from '@lockstep/kube/objects/custom-resource-definition.ts';
import { EVENTS } from '@lockstep/kube/objects/event.ts';
import { JOBS } from '@lockstep/kube/objects/job.ts';
import { type Resource, resource } from '@lockstep/kube/resource.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { MemoryCluster } from '../memory-cluster.ts';

let cluster: MemoryCluster;

beforeEach(async () => {
  cluster = new MemoryCluster();
  await cluster.start();
  await cluster.addNode();
});

afterEach(() => cluster.stop());

/** An object of any kind in namespace `default`. */
function objectOf(of: Resource, name: string, more: object = {}): KubeObject {
  const apiVersion = of.group === '' ? of.version : `${of.group}/${of.version}`;
  return { apiVersion, kind: of.kind, metadata: { name, namespace: 'default' }, ...more };
}

function ownedBy(
  owner: Stored<KubeObject>,
  of: Resource,
  blockOwnerDeletion = true,
): OwnerReference {
  const apiVersion = of.group === '' ? of.version : `${of.group}/${of.version}`;
  const { name, uid } = owner.metadata;
  return { apiVersion, kind: of.kind, name, uid, blockOwnerDeletion };
}

async function create(
  of: Resource,
  name: string,
  owners: readonly OwnerReference[] = [],
  more = {},
) {
  const object = objectOf(of, name, more);
  const metadata = { ...object.metadata, ownerReferences: owners };
  return cluster.client.create(of, { ...object, metadata });
}

async function remove(of: Resource, name: string, policy: DeleteOptions['propagationPolicy']) {
  const options = policy === undefined ? {} : { propagationPolicy: policy };
  await cluster.client.delete(of, { namespace: 'default', name }, options);
}

const isGone = async (of: Resource, name: string): Promise<boolean> =>
  !(await cluster.exists(of, name));

test('dependents of a deleted owner go in the background, generation after generation', async () => {
  const owner = await create(CONFIG_MAPS, 'owner');
  const child = await create(CONFIG_MAPS, 'child', [ownedBy(owner, CONFIG_MAPS)]);
  await create(CONFIG_MAPS, 'grandchild', [ownedBy(child, CONFIG_MAPS)]);
  await create(CONFIG_MAPS, 'stranger');
  await remove(CONFIG_MAPS, 'owner', 'Background');
  await cluster.until(() => isGone(CONFIG_MAPS, 'grandchild'));
  expect(await isGone(CONFIG_MAPS, 'child')).toBe(true);
  expect(await isGone(CONFIG_MAPS, 'stranger')).toBe(false);
});

test('an object lives as long as one owner does, and loses its reference to the other', async () => {
  const one = await create(CONFIG_MAPS, 'one');
  const two = await create(CONFIG_MAPS, 'two');
  const owners = [ownedBy(one, CONFIG_MAPS), ownedBy(two, CONFIG_MAPS)];
  await create(CONFIG_MAPS, 'child', owners);
  await remove(CONFIG_MAPS, 'one', 'Background');
  const at = { namespace: 'default', name: 'child' };
  const ownersNow = async () =>
    (await cluster.client.get(CONFIG_MAPS, at)).metadata.ownerReferences;
  await cluster.until(async () => (await ownersNow())?.length === 1);
  expect(await ownersNow()).toMatchObject([{ name: 'two' }]);
});

test('deletes a dependent of an owner that never existed, even if another has its name', async () => {
  const owner = await create(CONFIG_MAPS, 'owner');
  await create(CONFIG_MAPS, 'child', [{ ...ownedBy(owner, CONFIG_MAPS), uid: 'an-older-one' }]);
  await cluster.until(() => isGone(CONFIG_MAPS, 'child'));
  expect(await isGone(CONFIG_MAPS, 'owner')).toBe(false);
});

test('a Job deleted in the foreground goes after its Pods, in the background before them', async () => {
  for (const policy of ['Foreground', 'Background'] as const) {
    await cluster.createJob();
    await cluster.running(3);
    await remove(JOBS, 'train', policy);
    const order: string[] = [];
    await cluster.until(async () => {
      const arePodsGone = (await cluster.pods()).length === 0;
      const isJobGone = await isGone(JOBS, 'train');
      if (arePodsGone && !order.includes('pods')) order.push('pods');
      if (isJobGone && !order.includes('job')) order.push('job');
      return order.length === 2;
    });
    expect(order).toEqual(policy === 'Foreground' ? ['pods', 'job'] : ['job', 'pods']);
  }
});

test('an orphaned Job leaves its Pods, freed of every trace', async () => {
  await cluster.createJob();
  await cluster.running(3);
  await remove(JOBS, 'train', 'Orphan');
  await cluster.until(() => isGone(JOBS, 'train'));
  await cluster.clock.advance(60_000);
  const pods = await cluster.pods();
  expect(pods).toHaveLength(3);
  expect(pods.flatMap((pod) => pod.metadata.ownerReferences ?? [])).toEqual([]);
  expect(pods.flatMap((pod) => pod.metadata.finalizers ?? [])).toEqual([]);
  expect(pods.every((pod) => pod.metadata.deletionTimestamp === undefined)).toBe(true);
});

test('foreground deletion waits for blocking dependents only', async () => {
  const owner = await create(CONFIG_MAPS, 'owner');
  const finalizers = ['test/hold'];
  const held = await cluster.client.create(CONFIG_MAPS, {
    ...objectOf(CONFIG_MAPS, 'held'),
    metadata: {
      name: 'held',
      namespace: 'default',
      finalizers,
      ownerReferences: [ownedBy(owner, CONFIG_MAPS)],
    },
  });
  await create(SERVICES, 'free', [ownedBy(owner, CONFIG_MAPS, false)], {
    spec: { clusterIP: 'None' },
  });
  await remove(CONFIG_MAPS, 'owner', 'Foreground');
  await cluster.until(() => isGone(SERVICES, 'free'));
  await cluster.clock.advance(60_000);
  expect(await isGone(CONFIG_MAPS, 'owner')).toBe(false);
  const release = { type: 'merge', patch: { metadata: { finalizers: null } } } as const;
  await cluster.client.patch(
    CONFIG_MAPS,
    { namespace: 'default', name: held.metadata.name },
    release,
  );
  await cluster.until(() => isGone(CONFIG_MAPS, 'owner'));
});

test('a circle of owners that block each other can be deleted', async () => {
  const a = await create(CONFIG_MAPS, 'a');
  const b = await create(CONFIG_MAPS, 'b', [ownedBy(a, CONFIG_MAPS)]);
  const owners = { metadata: { ownerReferences: [ownedBy(b, CONFIG_MAPS)] } };
  const at = { namespace: 'default', name: 'a' };
  await cluster.client.patch(CONFIG_MAPS, at, { type: 'merge', patch: owners });
  await cluster.clock.advance(1000);
  await remove(CONFIG_MAPS, 'a', 'Foreground');
  await cluster.until(
    async () => (await isGone(CONFIG_MAPS, 'a')) && (await isGone(CONFIG_MAPS, 'b')),
  );
});

test('an owner in another namespace is none: its dependent goes, and neither blocks the other', async () => {
  const owner = await create(CONFIG_MAPS, 'owner');
  await cluster.client.create(NAMESPACES, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'hostile' },
  });
  const forged = (name: string, finalizers: readonly string[]) =>
    cluster.client.create(CONFIG_MAPS, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name,
        namespace: 'hostile',
        finalizers,
        ownerReferences: [ownedBy(owner, CONFIG_MAPS)],
      },
    });
  await forged('free', []);
  const held = await forged('held', ['test/hold']);
  await cluster.until(async () => !(await cluster.exists(CONFIG_MAPS, 'free', 'hostile')));
  await cluster.clock.advance(1000);
  const { items } = await cluster.client.list(EVENTS, { namespace: 'hostile' });
  const { uid } = owner.metadata;
  expect(items.filter(({ regarding }) => regarding.uid === held.metadata.uid)).toMatchObject([
    {
      reason: 'OwnerRefInvalidNamespace',
      note: `ownerRef [v1/ConfigMap, namespace: hostile, name: owner, uid: ${uid}] does not exist in namespace "hostile"`,
    },
  ]);
  const own = await create(CONFIG_MAPS, 'own', [ownedBy(owner, CONFIG_MAPS)]);
  await cluster.clock.advance(60_000);
  expect(await isGone(CONFIG_MAPS, own.metadata.name), 'its own dependents stay').toBe(false);
  await remove(CONFIG_MAPS, 'owner', 'Foreground');
  await cluster.until(() => isGone(CONFIG_MAPS, 'owner'));
});

const WIDGETS = resource('test.example/v1', 'widgets', 'Widget');

const WIDGET_DEFINITION: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.test.example' },
  spec: {
    group: 'test.example',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    ],
  },
};

test('custom resources take part as owners and as dependents, from the moment they are defined', async () => {
  await cluster.client.create(CUSTOM_RESOURCE_DEFINITIONS, WIDGET_DEFINITION);
  await cluster.clock.advance(5000);
  const owner = await create(WIDGETS, 'owner');
  const child = await create(CONFIG_MAPS, 'child', [ownedBy(owner, WIDGETS)]);
  await create(WIDGETS, 'grandchild', [ownedBy(child, CONFIG_MAPS)]);
  await cluster.clock.advance(1000);
  expect(await isGone(WIDGETS, 'grandchild')).toBe(false);
  await remove(WIDGETS, 'owner', 'Background');
  await cluster.until(() => isGone(WIDGETS, 'grandchild'));
  expect(await isGone(CONFIG_MAPS, 'child')).toBe(true);
});
