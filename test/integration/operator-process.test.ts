import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWebhookTransports } from '../../src/cluster/apiserver/adapters/webhook-transports.ts';
import { createApiServer } from '../../src/cluster/apiserver/api-server.ts';
import { JOBSETS } from '../../src/jobset/jobset.ts';
import { LEASES } from '../../src/kube/lease.ts';
import {
  createCertificateAuthority,
  issueCertificate,
} from '../../src/runtime/adapters/certificates.ts';
import { startHttpServer } from '../../src/runtime/adapters/http-server.ts';
import { createHttpTransport } from '../../src/runtime/adapters/http-transport.ts';
import { nodeClock } from '../../src/runtime/adapters/node-clock.ts';
import { systemRandom } from '../../src/runtime/adapters/system-random.ts';
import type { Client } from '../../src/runtime/client.ts';
import { createClient } from '../../src/runtime/http-client.ts';
import { MemoryStorage } from '../../src/runtime/memory/memory-storage.ts';
import { SILENT } from '../../src/runtime/ports/logger.ts';
import { waitFor } from '../../src/runtime/wait-for.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';

let directory: string;
let kubeconfig: string;
let client: Client;
let stop: () => Promise<void>;

beforeAll(async () => {
  const runtime = { clock: nodeClock, random: systemRandom, logger: SILENT };
  const authority = createCertificateAuthority({ commonName: 'test', clock: nodeClock });
  const server = issueCertificate(authority, {
    commonName: 'api',
    ipAddresses: ['127.0.0.1'],
    usages: ['server'],
    days: 1,
  });
  const user = issueCertificate(authority, {
    commonName: 'admin',
    organizations: ['system:masters'],
    usages: ['client'],
    days: 1,
  });
  const webhooks = createWebhookTransports();
  const api = createApiServer({
    ...runtime,
    storage: new MemoryStorage(),
    webhookTransport: webhooks.to,
  });
  await api.start();
  const http = await startHttpServer({
    handler: api.handler,
    host: '127.0.0.1',
    port: 0,
    tls: { ...server, clientAuthority: authority.certificate },
  });
  const transport = createHttpTransport({
    server: http.url,
    tls: {
      certificateAuthority: authority.certificate,
      clientCertificate: user.certificate,
      clientKey: user.key,
    },
  });
  client = createClient({ ...runtime, transport, userAgent: 'test' });
  directory = await mkdtemp(join(tmpdir(), 'lockstep-operator-'));
  kubeconfig = join(directory, 'kubeconfig');
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [
      {
        name: 'c',
        cluster: {
          server: http.url,
          'certificate-authority-data': base64(authority.certificate),
        },
      },
    ],
    users: [
      {
        name: 'u',
        user: {
          'client-certificate-data': base64(user.certificate),
          'client-key-data': base64(user.key),
        },
      },
    ],
  };
  await writeFile(kubeconfig, JSON.stringify(config));
  stop = async () => {
    webhooks.close();
    transport.close();
    await http.close();
    await api.close();
    await rm(directory, { recursive: true });
  };
});

afterAll(() => stop());

function startOperator(...flags: readonly string[]): ChildProcess {
  const argv = ['--import', 'tsx', 'src/operator/main.ts', ...flags];
  return spawn(process.execPath, argv, { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** Resolves with the first line of the log that holds `text`, which tells where it serves. */
async function logged(child: ChildProcess, text: string): Promise<Record<string, string>> {
  if (child.stderr === null) throw new Error('no log');
  for await (const line of createInterface({ input: child.stderr })) {
    if (line.includes(text)) return JSON.parse(line) as Record<string, string>;
  }
  throw new Error(`the process ended without saying ${text}`);
}

test('installs the CRD, serves health, makes Jobs, and ends cleanly within 2 s of SIGTERM', async () => {
  const election = ['--leader-elect', '--leader-election-namespace', 'default'];
  const health = ['--health-probe-bind-address', '127.0.0.1:0'];
  const child = startOperator('--kubeconfig', kubeconfig, '--install-crd', ...election, ...health);
  const exited = once(child, 'exit');
  try {
    const { url } = await logged(child, '"what":"health"');
    await waitFor(
      client,
      LEASES,
      { namespace: 'default', name: '6d4f6a47.jobset.x-k8s.io' },
      (lease) => lease !== undefined,
      { clock: nodeClock, random: systemRandom, timeoutMs: 20_000 },
    );
    await client.create(JOBSETS, {
      apiVersion: 'jobset.x-k8s.io/v1alpha2',
      kind: 'JobSet',
      metadata: { name: 'train', namespace: 'default' },
      spec: { replicatedJobs: [replicatedJob('w')] },
    });
    await waitFor(
      client,
      JOBSETS,
      { namespace: 'default', name: 'train' },
      (jobSet) => jobSet?.status?.restarts === 0,
      { clock: nodeClock, random: systemRandom, timeoutMs: 20_000 },
    );
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  } finally {
    child.kill('SIGTERM');
  }
  // It ends itself by force after 1.9 s, with another exit code.
  expect(await exited).toEqual([0, null]);
});

test('answers admission webhooks over TLS while it waits to lead, and ends in time', async () => {
  const webhooks = ['--webhook-bind-address', '127.0.0.1:0', '--install-webhooks'];
  const health = ['--health-probe-bind-address', '127.0.0.1:0'];
  // Another leads all the time, but webhooks serve on every replica.
  const election = ['--leader-elect', '--leader-election-namespace', 'default'];
  await client.create(LEASES, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'held', namespace: 'default' },
    spec: { holderIdentity: 'another', leaseDurationSeconds: 3_600 },
  });
  const flags = [...webhooks, ...health, ...election, '--leader-election-id', 'held'];
  const child = startOperator('--kubeconfig', kubeconfig, ...flags);
  const exited = once(child, 'exit');
  try {
    const { url } = await logged(child, '"what":"health"');
    while ((await fetch(`${url}/readyz`)).status !== 200);
    expect(await (await fetch(`${url}/readyz?verbose`)).text()).toContain('[+]webhooks ok');

    const rule = (index: number) => ({
      name: `rule${index}`,
      action: 'FailJobSet' as const,
      onJobFailureMessagePatterns: ['*'],
    });
    const jobSet = {
      apiVersion: 'jobset.x-k8s.io/v1alpha2',
      kind: 'JobSet',
      metadata: { name: 'refused', namespace: 'default' },
      spec: {
        replicatedJobs: [replicatedJob('w')],
        failurePolicy: { rules: [rule(0), rule(1)] },
      },
    };
    await expect(client.create(JOBSETS, jobSet)).rejects.toMatchObject({
      status: {
        code: 422,
        reason: 'Invalid',
        details: {
          kind: 'JobSet',
          causes: [
            { field: 'spec.failurePolicy.rules[0].onJobFailureMessagePatterns[0]' },
            { field: 'spec.failurePolicy.rules[1].onJobFailureMessagePatterns[0]' },
          ],
        },
      },
    });
    const accepted = { ...jobSet, spec: { replicatedJobs: [replicatedJob('w')] } };
    const created = await client.create(JOBSETS, accepted);
    expect(created.spec.successPolicy).toEqual({ operator: 'All' });
  } finally {
    // The API server keeps its connections to the webhooks open.
    child.kill('SIGTERM');
  }
  expect(await exited).toEqual([0, null]);
});

test.each([
  ['wrong flags', ['--log-level', 'loud'], 2, '--log-level'],
  [
    'a kubeconfig that is not there',
    ['--kubeconfig', '/nonexistent/config'],
    1,
    '/nonexistent/config',
  ],
])('says what is wrong with %s', async (_what, flags, code, text) => {
  const child = startOperator(...flags);
  let said = '';
  child.stderr?.on('data', (chunk) => {
    said += String(chunk);
  });
  expect(await once(child, 'close')).toEqual([code, null]);
  expect(said).toContain(text);
});
