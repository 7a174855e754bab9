/** Several nodes on one machine: what they share, and what each has for itself. */

import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PERSISTENT_VOLUME_CLAIMS, SERVICES } from '@lockstep/kube/objects/core.ts';
import { JOBS } from '@lockstep/kube/objects/job.ts';
import { NODES } from '@lockstep/kube/objects/node.ts';
import { type Container, PODS, type PodSpec } from '@lockstep/kube/objects/pod.ts';
import { createHttpTransport } from '@lockstep/kube/runtime/adapters/http-transport.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { createNodeProcessRunner } from '@lockstep/kube/runtime/adapters/node-process-runner.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ADMINISTRATORS, type EmbeddedCluster, startEmbeddedCluster } from './embedded-cluster.ts';

const NODE_NAMES = ['node-0', 'node-1', 'node-2'];
const LIMIT_MS = 20_000;

let root: string;
let cluster: EmbeddedCluster;
let client: Client;
let logger: MemoryLogger;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'embedded-cluster-'));
  logger = new MemoryLogger();
  cluster = await startEmbeddedCluster({
    clock: nodeClock,
    random: systemRandom,
    logger,
    processes: createNodeProcessRunner(),
    stateDirectory: root,
    path: process.env['PATH'] ?? '',
    nodes: NODE_NAMES.map((name, i) => ({ name, labels: { rack: `rack-${i}` } })),
  });
  client = cluster.connect('test', ADMINISTRATORS);
});

afterEach(async () => {
  await cluster.stop();
  expect(await readdir(root)).not.toContain('hosts');
  expect(logger.records.filter(({ level }) => level === 'error')).toEqual([]);
  await rm(root, { recursive: true });
});

/** A Pod of the Service `group`, on the node with this `rack` label. */
async function createPod(name: string, rack: string, script: string): Promise<void> {
  const container: Container = {
    name: 'main',
    image: 'none',
    command: ['sh', '-c', script],
    volumeMounts: [{ name: 'data', mountPath: '/data' }],
  };
  const spec: PodSpec = {
    containers: [container],
    nodeSelector: { rack },
    subdomain: 'group',
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 1,
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'shared' } }],
  };
  await client.create(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels: { app: 'group' } },
    spec,
  });
}

async function createService(): Promise<void> {
  await client.create(SERVICES, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'group', namespace: 'default' },
    spec: { clusterIP: 'None', selector: { app: 'group' }, publishNotReadyAddresses: true },
  });
}

async function createClaim(): Promise<void> {
  await client.create(PERSISTENT_VOLUME_CLAIMS, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'shared', namespace: 'default' },
    spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '1Gi' } } },
  });
}

const podOf = (name: string) => client.get(PODS, { namespace: 'default', name });
const phaseOf = async (name: string) => (await podOf(name)).status?.phase;

async function logOf(name: string): Promise<string> {
  let text = '';
  for await (const chunk of client.logs({ namespace: 'default', name })) {
    text += new TextDecoder().decode(chunk);
  }
  return text;
}

test('Pods of several nodes have addresses of their own, find each other, and share a claim', async () => {
  const { items: nodes } = await client.list(NODES);
  expect(nodes.map(({ metadata }) => metadata.name).sort()).toEqual(NODE_NAMES);
  for (const { metadata } of nodes) {
    expect(metadata.labels).toMatchObject({ 'kubernetes.io/hostname': metadata.name });
  }

  await createService();
  await createClaim();
  // Another Pod finds the writer by name, and reads its file.
  await createPod(
    'writer',
    'rack-0',
    'echo "written by $HOSTNAME" >"$LOCKSTEP_ROOT/data/note"; sleep 60',
  );
  const wait =
    'until grep -q writer.group "$LOCKSTEP_HOSTS" && [ -s "$LOCKSTEP_ROOT/data/note" ]; do sleep 0.05; done';
  const show = 'cat "$LOCKSTEP_ROOT/data/note"; grep -w writer.group "$LOCKSTEP_HOSTS"';
  await createPod('reader-1', 'rack-1', `${wait}; ${show}`);
  await createPod('reader-2', 'rack-2', `${wait}; ${show}`);
  for (const reader of ['reader-1', 'reader-2']) {
    await until(`${reader} ends`, async () => expect(await phaseOf(reader)).toBe('Succeeded'));
  }

  const writer = await podOf('writer');
  for (const name of ['reader-1', 'reader-2']) {
    const [note, line] = (await logOf(name)).split('\n');
    expect(note).toBe('written by writer');
    expect(line?.split(/\s/)[0]).toBe(writer.status?.podIP);
  }
  const readers = await Promise.all([podOf('reader-1'), podOf('reader-2')]);
  const pods = [writer, ...readers];
  expect(pods.map(({ spec }) => spec.nodeName)).toEqual(NODE_NAMES);
  expect(new Set(pods.map(({ status }) => status?.podIP)).size).toBe(3);
  // All nodes share one hosts file, which may be in the middle of a replacement.
  const hosts = await readdir(join(root, 'hosts'));
  expect(hosts.filter((name) => !name.endsWith('.tmp'))).toEqual(['default']);

  // The claim goes when its last Pod has ended, and its files with it.
  expect((await readdir(join(root, 'volumes'))).length).toBe(1);
  await client.delete(PERSISTENT_VOLUME_CLAIMS, { namespace: 'default', name: 'shared' });
  await client.delete(PODS, { namespace: 'default', name: 'writer' });
  await until('the claim is gone', async () => {
    try {
      await client.get(PERSISTENT_VOLUME_CLAIMS, { namespace: 'default', name: 'shared' });
      return false;
    } catch (error) {
      return isReason(error, 'NotFound');
    }
  });
  expect(await readdir(join(root, 'volumes'))).toEqual([]);
});

test('what the controllers count is shown at /metrics', async () => {
  const { certificate, key } = cluster.issue('scraper', ADMINISTRATORS);
  const tls = {
    certificateAuthority: cluster.authority,
    clientCertificate: certificate,
    clientKey: key,
  };
  const transport = createHttpTransport({ server: cluster.server, tls });
  const page = async (): Promise<string> => {
    const signal = AbortSignal.timeout(LIMIT_MS);
    const request = { method: 'GET', path: '/metrics', headers: {}, signal } as const;
    const chunks: Uint8Array[] = [];
    const { body } = await transport.send(request);
    if (body instanceof Uint8Array) chunks.push(body);
    else for await (const chunk of body) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  };
  const containers = [{ name: 'main', image: 'none', command: ['true'] }];
  await client.create(JOBS, {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'counted', namespace: 'default' },
    spec: { template: { spec: { restartPolicy: 'Never', containers } } },
  });
  const finished =
    'job_controller_jobs_finished_total{completion_mode="NonIndexed",result="succeeded",reason="CompletionsReached"} 1';
  await until('the Job is counted', async () => expect(await page()).toContain(finished));
  expect(await page()).toContain(
    'job_controller_job_pods_creation_total{reason="new",status="succeeded"} 1',
  );
  transport.close();
});
