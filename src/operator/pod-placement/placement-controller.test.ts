import type { PartialObjectMetadata } from '@lockstep/kube/meta.ts';
import { EVENTS } from '@lockstep/kube/objects/event.ts';
import { NODES } from '@lockstep/kube/objects/node.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import {
  createEventRecorder,
  type EventRecorder,
} from '@lockstep/kube/runtime/controller/event-recorder.ts';
import { createInformer } from '@lockstep/kube/runtime/informer/create-informer.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PlacementCluster, RACK } from '../../../test/fixtures/placement-cluster.ts';
import { JOBSET_NAME, NODE_SELECTOR_STRATEGY } from '../../jobset/names.ts';
import { startPlacementController } from './placement-controller.ts';

let cluster: PlacementCluster;
let pods: Informer<PartialObjectMetadata>;
let events: EventRecorder;
let controller: { stop(): Promise<void> };

beforeEach(async () => {
  cluster = new PlacementCluster();
  await cluster.start();
  await cluster.addNode('n1', {}, { [RACK]: 'r1' });
  await cluster.addNode('n2', {}, { [RACK]: 'r2' });
  const { runtime } = cluster;
  events = createEventRecorder({ ...runtime, controller: 'jobset' });
  pods = createInformer({
    ...runtime,
    resource: PODS,
    labelSelector: JOBSET_NAME,
    metadataOnly: true,
  });
  await cluster.reached(pods.whenSynced());
  controller = startPlacementController({ ...runtime, events, pods });
});

afterEach(async () => {
  await cluster.reached(controller.stop());
  await cluster.reached(Promise.all([events.stop(), pods.stop()]));
  await cluster.stop();
});

const inRack = (rack: string) => ({ nodeSelector: { [RACK]: rack } });
const names = async (): Promise<readonly string[]> =>
  (await cluster.pods()).map(({ metadata }) => metadata.name);
const LEADER = 'train-w-0-0-aaaaa';

test('followers in another rack than their leader go, with a condition that says why', async () => {
  const seen = new Map<string, string | undefined>();
  const watched = createInformer({ ...cluster.runtime, resource: PODS });
  watched.subscribe({
    updated: ({ metadata, status }) => {
      const condition = status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
      if (condition !== undefined)
        seen.set(metadata.name, `${condition.reason}: ${condition.message}`);
    },
  });
  await cluster.createWorker(0, inRack('r1'));
  await cluster.createWorker(1, inRack('r1'));
  await cluster.createWorker(2, inRack('r2'));
  await cluster.until(async () => (await names()).length === 1);
  expect(await names()).toEqual([LEADER]);
  const text = 'ExclusivePlacementViolation: Pod violated JobSet exclusive placement policy';
  expect(Object.fromEntries(seen)).toEqual({
    'train-w-0-1-aaaaa': text,
    'train-w-0-2-aaaaa': text,
  });
  await cluster.reached(watched.stop());
  await cluster.clock.advance(1_000);
  const { items } = await cluster.client.list(EVENTS, { namespace: 'default' });
  const event = items.find(({ reason }) => reason === 'ExclusivePlacementViolation');
  expect(event?.note).toBe(
    'deleting 2 follower pods: not all of them are bound to rack=r1, where leader pod ' +
      `${LEADER} is`,
  );
});

test('followers in their place, of the node-selector strategy, or of another Job stay', async () => {
  await cluster.createWorker(0, inRack('r1'));
  await cluster.createWorker(1, inRack('r1'));
  await cluster.createWorker(2, {
    ...inRack('r2'),
    annotations: { [NODE_SELECTOR_STRATEGY]: 'x' },
  });
  await cluster.createWorker(3, { ...inRack('r2'), job: 'other' });
  await cluster.running(4);
  await cluster.clock.advance(30_000);
  expect((await names()).length).toBe(4);
});

test('a follower that comes later is looked at too', async () => {
  await cluster.createWorker(0, inRack('r1'));
  await cluster.running(1);
  await cluster.clock.advance(5_000);
  await cluster.createWorker(1, inRack('r2'));
  await cluster.until(async () => (await names()).length === 2);
  await cluster.until(async () => (await names()).length === 1);
  expect(await names()).toEqual([LEADER]);
});

test('nothing is deleted while the topology of the leader is unknown', async () => {
  const unlabel = { metadata: { labels: { [RACK]: null } } };
  await cluster.createWorker(0, inRack('r1'));
  await cluster.running(1);
  await cluster.client.patch(NODES, { name: 'n1' }, { type: 'merge', patch: unlabel });
  await cluster.createWorker(1, inRack('r2'));
  await cluster.running(2);
  await cluster.clock.advance(10_000);
  expect((await names()).length).toBe(2);
  await cluster.reached(cluster.client.delete(NODES, { name: 'n1' }));
  await cluster.clock.advance(10_000);
  expect((await names()).length).toBe(2);
  // The operator tries again until it can read the node.
  await cluster.addNode('n1', {}, { [RACK]: 'r1' });
  await cluster.until(async () => (await names()).length === 1);
});
