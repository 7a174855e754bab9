import type { Stored } from '@lockstep/kube/meta.ts';
import { CONFIG_MAPS, type ConfigMap, NAMESPACES } from '@lockstep/kube/objects/core.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '@lockstep/kube/objects/custom-resource-definition.ts';
import { EVENTS } from '@lockstep/kube/objects/event.ts';
import {
  createEventRecorder,
  type EventRecorder,
} from '@lockstep/kube/runtime/controller/event-recorder.ts';
import { createInformer } from '@lockstep/kube/runtime/informer/create-informer.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { replicatedJob } from '../../../test/fixtures/jobset-objects.ts';
import { PlacementCluster } from '../../../test/fixtures/placement-cluster.ts';
import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import { HUB_AUTHORITIES_NAME } from '../../jobset/names.ts';
import { JOBSET_CRD } from '../../jobset/schema/crd.ts';
import { GROUPS_BY_NAMESPACE, groupNamespaces } from '../tracking/caches.ts';
import { publishHubAuthorities } from './hub-authorities.ts';

const REVIEWED_MS = 70_000;

let cluster: PlacementCluster;
let jobSets: Informer<JobSet>;
let events: EventRecorder;
let publisher: { stop(): Promise<void> };
let logger: MemoryLogger;
let authorities: string;

beforeEach(async () => {
  cluster = new PlacementCluster();
  logger = new MemoryLogger();
  authorities = 'one\n';
  await cluster.start();
  await cluster.client.create(CUSTOM_RESOURCE_DEFINITIONS, JOBSET_CRD);
  await cluster.clock.advance(1000);
  jobSets = createInformer<JobSet>({
    ...cluster.runtime,
    resource: JOBSETS,
    indexes: { [GROUPS_BY_NAMESPACE]: groupNamespaces },
  });
  await cluster.reached(jobSets.whenSynced());
  events = createEventRecorder({ ...cluster.runtime, controller: 'jobset' });
  publisher = publishHubAuthorities({
    ...cluster.runtime,
    logger,
    events,
    jobSets,
    access: () => ({ url: 'https://hub:9445', authorities, channel: 'Hub' }),
  });
});

afterEach(async () => {
  await cluster.reached(publisher.stop());
  await cluster.reached(Promise.all([events.stop(), jobSets.stop()]));
  await cluster.stop();
});

async function createGroup(namespace: string, restartStrategy = 'InPlaceRestart'): Promise<void> {
  if (namespace !== 'default') {
    const metadata = { name: namespace };
    await cluster.client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata });
  }
  await cluster.client.create(JOBSETS, {
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    metadata: { namespace, name: 'train' },
    spec: {
      failurePolicy: { restartStrategy } as NonNullable<JobSet['spec']>['failurePolicy'] & object,
      replicatedJobs: [replicatedJob('w')],
    },
  });
  await cluster.clock.advance(1000);
}

/** The published authorities by namespace. */
async function published(): Promise<Readonly<Record<string, string>>> {
  const { items } = await cluster.client.list(CONFIG_MAPS, {
    fieldSelector: `metadata.name=${HUB_AUTHORITIES_NAME}`,
  });
  return Object.fromEntries(
    items.map(({ metadata, data }) => [metadata.namespace ?? '', data?.['ca.crt'] ?? '']),
  );
}

function put(more: Partial<ConfigMap>, labels = {}): Promise<Stored<ConfigMap>> {
  const metadata = { namespace: 'default', name: HUB_AUTHORITIES_NAME, labels };
  return cluster.client.create(CONFIG_MAPS, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata,
    ...more,
  });
}

test('each namespace with a group has the authorities, and no other', async () => {
  await createGroup('default');
  await createGroup('team');
  await createGroup('others', 'Recreate');
  expect(await published()).toEqual({ default: 'one\n', team: 'one\n' });
});

test('they follow the hub, and what a tenant does to them is undone', async () => {
  await createGroup('default');
  authorities = 'two\none\n';
  await cluster.clock.advance(REVIEWED_MS);
  expect(await published()).toEqual({ default: 'two\none\n' });
  const at = { namespace: 'default', name: HUB_AUTHORITIES_NAME };
  const held = await cluster.client.get(CONFIG_MAPS, at);
  await cluster.client.update(CONFIG_MAPS, { ...held, data: { 'ca.crt': 'mine' } });
  await cluster.clock.advance(5000);
  expect(await published()).toEqual({ default: 'two\none\n' });
  await cluster.client.delete(CONFIG_MAPS, at);
  await cluster.clock.advance(5000);
  expect(await published()).toEqual({ default: 'two\none\n' });
});

test('what an earlier installation left is brought up to date', async () => {
  await put(
    { data: { 'ca.crt': 'of an older one' } },
    { 'app.kubernetes.io/managed-by': 'lockstep' },
  );
  await createGroup('default');
  expect(await published()).toEqual({ default: 'one\n' });
});

test.each<[string, Partial<ConfigMap>, object, string]>([
  ["is somebody else's", { data: { 'ca.crt': 'mine' } }, {}, 'it does not belong to Lockstep'],
  [
    'cannot be changed any more',
    { data: { 'ca.crt': 'mine' }, immutable: true },
    { 'app.kubernetes.io/managed-by': 'lockstep' },
    'immutable',
  ],
])('one that %s stays as it is, and the group hears so once', async (_what, more, labels, why) => {
  await put(more, labels);
  await createGroup('default');
  await cluster.clock.advance(3 * REVIEWED_MS);
  expect(await published()).toEqual({ default: 'mine' });
  const { items } = await cluster.client.list(EVENTS);
  const told = items.filter(({ reason }) => reason === 'HubAuthoritiesNotPublished');
  expect(told).toHaveLength(1);
  expect(told[0]).toMatchObject({ regarding: { kind: 'JobSet', name: 'train' } });
  expect(told[0]?.note).toContain(why);
  expect(logger.records.filter(({ level }) => level === 'warn')).toHaveLength(1);
});

test('hundreds of namespaces are written to a few at a time', async () => {
  const names = Array.from({ length: 60 }, (_, index) => `team-${index}`);
  await cluster.reached(publisher.stop());
  for (const name of names) await createGroup(name);
  publisher = publishHubAuthorities({
    ...cluster.runtime,
    events,
    jobSets,
    access: () => ({ url: 'https://hub:9445', authorities, channel: 'Hub' }),
  });
  await cluster.clock.advance(1000);
  const first = Object.keys(await published()).length;
  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThanOrEqual(21);
  await cluster.clock.advance(5000);
  expect(Object.keys(await published())).toHaveLength(names.length);
});
