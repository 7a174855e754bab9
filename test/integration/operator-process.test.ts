import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import {
  MUTATING_WEBHOOK_CONFIGURATIONS,
  VALIDATING_WEBHOOK_CONFIGURATIONS,
} from '@lockstep/kube/objects/admission-webhooks.ts';
import { LEASES } from '@lockstep/kube/objects/lease.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { waitFor } from '@lockstep/kube/runtime/informer/wait-for.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { JOBSETS } from '../../src/jobset/jobset.ts';
import {
  MUTATING_CONFIGURATION_NAME,
  VALIDATING_CONFIGURATION_NAME,
} from '../../src/operator/webhooks/webhook-configurations.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { type ApiUnderTest, startApi } from './api-server.fixture.ts';

let api: ApiUnderTest;
let client: Client;
let kubeconfig: string;
beforeAll(async () => {
  api = await startApi();
  ({ client, kubeconfig } = api);
});
afterAll(async () => {
  // A server that outlives this suite would continue to call webhooks that are gone.
  await client.delete(MUTATING_WEBHOOK_CONFIGURATIONS, { name: MUTATING_CONFIGURATION_NAME });
  await client.delete(VALIDATING_WEBHOOK_CONFIGURATIONS, { name: VALIDATING_CONFIGURATION_NAME });
  for (const name of ['train', 'refused']) {
    await client.delete(JOBSETS, { ...AT, name }, { propagationPolicy: 'Background' });
  }
  await client.delete(LEASES, { ...AT, name: 'held' });
  await api.stop();
});

const AT = { namespace: 'default' };
/** For what a process does that has just been started. */
const LIMIT_MS = 60_000;

function startOperator(...flags: readonly string[]): ChildProcess {
  const argv = ['--import', 'tsx', 'src/operator/main.ts', ...flags];
  return spawn(process.execPath, argv, { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** Resolves with the first line of the log that contains `text`, which names an address. */
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
      { clock: nodeClock, random: systemRandom, timeoutMs: LIMIT_MS },
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
      { clock: nodeClock, random: systemRandom, timeoutMs: LIMIT_MS },
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
  // Another replica leads all the time, but webhooks serve on every replica.
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
    await until('ready', async () => expect((await fetch(`${url}/readyz`)).status).toBe(200));
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
