/**
 * The Configuration file of an installed operator is edited while it runs. Two replicas run in Pods
 * of the manifest's template, with the manifest's account and rights.
 */

import { CONFIG_MAPS } from '@lockstep/kube/objects/core.ts';
import { EVENTS } from '@lockstep/kube/objects/event.ts';
import { PODS, type Pod, type PodSpec } from '@lockstep/kube/objects/pod.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import { createInformer } from '@lockstep/kube/runtime/informer/create-informer.ts';
import { waitFor } from '@lockstep/kube/runtime/informer/wait-for.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { manifest } from '../../src/deploy/manifest.ts';
import { defaultSettings } from '../../src/deploy/settings.ts';
import {
  CONFIGURATION_NAME,
  SETTINGS_RECORD_NAME,
} from '../../src/operator/configuration/object-names.ts';
import { type ClusterUnderTest, startCluster } from './local-cluster.fixture.ts';

const NAMESPACE = 'changed-settings';
/** The operators of other suites act elsewhere. */
const SETTINGS = {
  ...defaultSettings('test'),
  namespace: NAMESPACE,
  webhooks: false,
  watchNamespaces: [NAMESPACE],
};
const NAMES = ['operator-0', 'operator-1'];
const RUNTIME = { clock: nodeClock, random: systemRandom } as const;
/** A replica that starts again while its kubelet is busy gets a changed file within a minute or two. */
const TIMING = { ...RUNTIME, timeoutMs: 240_000 };
const FILE = 'configuration.yaml';

/** What the Pods need: the file, and their account with its rights. */
const INSTALLED = manifest(SETTINGS).filter(({ of, object }) =>
  of.kind === CONFIG_MAPS.kind
    ? object.metadata.name === CONFIGURATION_NAME
    : /^Namespace$|^ServiceAccount$|Role/.test(of.kind),
);

let cluster: ClusterUnderTest;
beforeAll(async () => {
  cluster = await startCluster();
  for (const { of, object } of INSTALLED) await cluster.client.create(of, object);
  for (const name of NAMES) await createReplica(name);
  for (const name of NAMES) await untilReady(name);
});
afterAll(async () => {
  // A real cluster continues to other suites.
  for (const { of, object } of INSTALLED.toReversed()) {
    const { namespace = '', name = '' } = object.metadata;
    await cluster.client.delete(of, { namespace, name });
  }
  await cluster.stop();
});

/** A Pod as the Deployment makes it. */
async function createReplica(name: string): Promise<void> {
  const deployment = manifest(SETTINGS).find(({ of }) => of.kind === 'Deployment');
  if (deployment === undefined) throw new Error('the manifest has no Deployment');
  const { template } = (deployment.object as unknown as { spec: { template: Pod } }).spec;
  const metadata = { ...template.metadata, namespace: NAMESPACE, name };
  const spec: PodSpec = { ...template.spec, terminationGracePeriodSeconds: 5 };
  await cluster.client.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata, spec });
}

function isReady(pod: Pod | undefined): boolean {
  return (
    pod?.status?.conditions?.some((it) => it.type === 'Ready' && it.status === 'True') === true
  );
}

async function untilReady(name: string): Promise<void> {
  await waitFor(cluster.client, PODS, { namespace: NAMESPACE, name }, isReady, TIMING);
}

async function edit(change: (text: string) => string): Promise<void> {
  const { client } = cluster;
  const at = { namespace: NAMESPACE, name: CONFIGURATION_NAME };
  const text = (await client.get(CONFIG_MAPS, at)).data?.[FILE] ?? '';
  const patch = { data: { [FILE]: change(text) } };
  await client.patch(CONFIG_MAPS, at, { type: 'merge', patch });
  // A kubelet reads the files of a Pod at once if the Pod's annotations change.
  for (const name of NAMES) {
    const annotations = { 'example.com/edits': String(++edits) };
    const pod = { namespace: NAMESPACE, name };
    await client.patch(PODS, pod, { type: 'merge', patch: { metadata: { annotations } } });
  }
}
let edits = 0;

function restarts(pod: Pod): number {
  return pod.status?.containerStatuses?.[0]?.restartCount ?? 0;
}

async function replicas(): Promise<readonly Pod[]> {
  const { items } = await cluster.client.list(PODS, { namespace: NAMESPACE });
  return items.filter(({ metadata }) => NAMES.includes(metadata.name));
}

/** The texts that the record holds for all replicas, once each has reported its settings. */
async function untilAllRun(count: number): Promise<void> {
  const at = { namespace: NAMESPACE, name: SETTINGS_RECORD_NAME };
  await waitFor(
    cluster.client,
    CONFIG_MAPS,
    at,
    (record) => {
      const { turn, runs = {} } = JSON.parse(record?.data?.['replicas.json'] ?? '{}') as {
        turn?: string;
        runs?: Record<string, string>;
      };
      const digests = NAMES.map((name) => runs[name]);
      const isSame = digests.every((digest) => digest !== undefined && digest === digests[0]);
      if (digests[0] !== undefined && isSame && turn === undefined) known.add(digests[0]);
      return isSame && turn === undefined && known.size === count;
    },
    TIMING,
  );
}
const known = new Set<string>();

test('a wrong file changes nothing, also for a replica that starts with it', async () => {
  const { client } = cluster;
  await untilAllRun(1);
  await edit((text) => `${text}agent:\n  mood: good\n`);
  const isTold = async (): Promise<boolean> => {
    const { items } = await client.list(EVENTS, { namespace: NAMESPACE });
    return items.some(
      ({ reason, note }) =>
        reason === 'ConfigurationWrong' && note.includes('unknown key agent.mood'),
    );
  };
  await until('an Event says so', isTold, TIMING.timeoutMs);
  const [, other = ''] = NAMES;
  await client.delete(PODS, { namespace: NAMESPACE, name: other });
  await waitFor(
    client,
    PODS,
    { namespace: NAMESPACE, name: other },
    (pod) => pod === undefined,
    TIMING,
  );
  await createReplica(other);
  await untilReady(other);
  expect((await replicas()).map(restarts)).toEqual([0, 0]);
});

test('a changed file restarts one replica after the other, and one is always ready', async () => {
  const { client } = cluster;
  let fewest = NAMES.length;
  const pods = createInformer({
    ...RUNTIME,
    client,
    resource: PODS,
    namespace: NAMESPACE,
    logger: SILENT,
  });
  const count = (): void => {
    fewest = Math.min(fewest, [...pods.store.values()].filter(isReady).length);
  };
  await pods.whenSynced();
  pods.subscribe({ added: () => undefined, updated: count, deleted: count });
  await edit((text) => text.replace('agent:\n  mood: good\n', 'limits:\n  maxPods: 1000\n'));
  await untilAllRun(2);
  for (const name of NAMES) await untilReady(name);
  await pods.stop();
  const all = await replicas();
  expect(all.map(restarts)).toEqual([1, 1]);
  for (const { status } of all) {
    expect(status?.containerStatuses?.[0]?.lastState?.terminated).toMatchObject({ exitCode: 0 });
  }
  expect(fewest).toBe(1);
});
