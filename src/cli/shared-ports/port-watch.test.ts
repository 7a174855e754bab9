import { MemoryCluster } from '@lockstep/embedded-kubernetes/in-memory';
import type { Condition } from '@lockstep/kube/meta.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '@lockstep/kube/objects/custom-resource-definition.ts';
import { EVENTS } from '@lockstep/kube/objects/event.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { JOBSETS } from '../../jobset/jobset.ts';
import { JOBSET_CRD } from '../../jobset/schema/crd.ts';
import { type SharedPort, watchPorts } from './port-watch.ts';

const NODE = 'node-0';
const SOON_MS = 5_000;

let cluster: MemoryCluster;
let shared: readonly SharedPort[];
let lines: string[];
let stop: () => Promise<void>;

beforeEach(async () => {
  cluster = new MemoryCluster();
  await cluster.start();
  await cluster.client.create(CUSTOM_RESOURCE_DEFINITIONS, JOBSET_CRD);
  shared = [];
  lines = [];
  const { client, clock } = cluster;
  const runtime = { client, clock, random: new SeededRandom(3), logger: SILENT };
  const ports = { find: () => shared };
  stop = watchPorts({ ...runtime, ports, nodes: [NODE], onConflict: (line) => lines.push(line) });
});

afterEach(async () => {
  await stop();
  await cluster.stop();
});

/** A JobSet with one Pod; returns the UID of the Pod. */
async function group(name: string): Promise<string> {
  const at = { namespace: 'default', name };
  const { metadata } = await cluster.client.create(JOBSETS, {
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    metadata: at,
    spec: {},
  });
  const labels = {
    'jobset.sigs.k8s.io/jobset-name': name,
    'jobset.sigs.k8s.io/jobset-uid': metadata.uid,
  };
  const pod = await cluster.client.create(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', name: `${name}-w-0-0`, labels },
    spec: { nodeName: NODE, containers: [{ name: 'c', image: 'i' }] },
  });
  return pod.metadata.uid;
}

async function conditionOf(name: string): Promise<Condition | undefined> {
  const { status } = await cluster.client.get(JOBSETS, { namespace: 'default', name });
  return status?.conditions?.find(({ type }) => type === 'PortConflict');
}

test('both Pods, both JobSets and the user get one report, and one when it is over', async () => {
  const podUids = [await group('one'), await group('two')];
  await group('three');
  shared = [{ port: 8476, podUids }];
  await cluster.clock.advance(SOON_MS);
  expect(lines).toEqual([
    expect.stringMatching(/^port 8476 is used by .*default\/one-w-0-0 and default\/two-w-0-0/),
  ]);
  const { items } = await cluster.client.list(EVENTS, { namespace: 'default' });
  const told = items.filter(({ reason }) => reason === 'PortConflict');
  expect(told.map(({ regarding }) => regarding?.name ?? '').toSorted()).toEqual([
    'one-w-0-0',
    'two-w-0-0',
  ]);
  for (const name of ['one', 'two']) {
    expect(await conditionOf(name)).toMatchObject({
      status: 'True',
      message: expect.stringContaining('port 8476'),
    });
  }
  expect(await conditionOf('three')).toBeUndefined();
  shared = [];
  await cluster.clock.advance(SOON_MS);
  expect(await conditionOf('one')).toMatchObject({ status: 'False' });
  expect(lines).toHaveLength(1);
});

test('a port of one Pod alone, or of processes that are no Pods, is no conflict', async () => {
  const podUids = [await group('one')];
  shared = [
    { port: 8476, podUids },
    { port: 22, podUids: [] },
    { port: 23, podUids: ['unknown', 'unknown-too'] },
  ];
  await cluster.clock.advance(SOON_MS);
  expect(lines).toEqual([]);
  expect(await conditionOf('one')).toBeUndefined();
});
