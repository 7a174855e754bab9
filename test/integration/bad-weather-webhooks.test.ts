/**
 * Webhooks whose certificate rotates while they are called, and webhooks that are away for a while.
 */
import { connect } from 'node:tls';
import { VALIDATING_WEBHOOK_CONFIGURATIONS } from '@lockstep/kube/objects/admission-webhooks.ts';
import { SECRETS } from '@lockstep/kube/objects/core.ts';
import { LEASES } from '@lockstep/kube/objects/lease.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import {
  issueCertificate,
  loadCertificateAuthority,
} from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import { ApiStatusError } from '@lockstep/kube/status.ts';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { JOBSETS, type JobSet } from '../../src/jobset/jobset.ts';
import { certificatesIn, secretOf } from '../../src/operator/certificates/certificate-secret.ts';
import type { WebhookCertificates } from '../../src/operator/certificates/certificates.ts';
import { VALIDATING_CONFIGURATION_NAME } from '../../src/operator/webhooks/webhook-configurations.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import type { ApiProxy } from './api-proxy.fixture.ts';
import {
  ClusterInBadWeather,
  expectOneRestart,
  expectRunning,
  lose,
  OPERATOR,
  type OperatorProcess,
  until,
} from './bad-weather.fixture.ts';

const cluster = new ClusterInBadWeather();
const SECRET = { namespace: OPERATOR.namespace, name: 'bad-weather-webhooks' };
/** A lease of another holder: the replica with the webhooks never leads. */
const LEASE = { namespace: OPERATOR.namespace, name: 'bad-weather-held' };

let controller: OperatorProcess;
let proxy: ApiProxy;
let webhooks: OperatorProcess;

beforeAll(async () => {
  await cluster.start();
  proxy = await cluster.proxy();
  controller = cluster.startOperator(proxy);
  await cluster.client.create(LEASES, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: LEASE,
    spec: { holderIdentity: 'another', leaseDurationSeconds: 3_600 },
  });
});
afterAll(async () => {
  await cluster.client.delete(LEASES, LEASE);
  await cluster.client.delete(SECRETS, SECRET);
  await controller.kill();
  await cluster.stop();
});
beforeEach(async () => {
  webhooks = startWebhooks();
  await until('the webhooks answer', async () => (await refusal())?.code === INVALID);
});
afterEach(() => webhooks.kill());

test('half a processor without quotes passes, because webhooks come before the schema', async () => {
  const { template, ...job } = replicatedJob('w');
  const { template: pod, ...rest } = template.spec;
  const half: unknown = 0.5;
  const resources = { requests: { cpu: half as string } };
  const containers = pod.spec.containers.map((container) => ({ ...container, resources }));
  const podTemplate = { ...pod, spec: { ...pod.spec, containers } };
  const asking: JobSet = {
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    metadata: { name: 'half', namespace: 'default' },
    spec: {
      suspend: true,
      replicatedJobs: [{ ...job, template: { spec: { ...rest, template: podTemplate } } }],
    },
  };
  const at = { namespace: 'default', name: 'half' };
  const apply = { type: 'apply', patch: asking, fieldManager: 'trainer' } as const;
  for (let time = 0; time < 2; time++) {
    const { spec, metadata } = await cluster.client.patch(JOBSETS, at, apply);
    const [worker] = spec.replicatedJobs?.[0]?.template.spec.template.spec.containers ?? [];
    expect(worker?.resources?.requests).toEqual({ cpu: '500m' });
    expect(metadata.generation).toBe(1);
  }
  await cluster.client.delete(JOBSETS, at);
  const created = await cluster.client.create(JOBSETS, asking);
  expect(JSON.stringify(created.spec)).toContain('500m');
  await cluster.client.delete(JOBSETS, at);
});

test('the serving certificate rotates, and every call is answered meanwhile', async () => {
  const group = await cluster.group('certified');
  const codes: (number | undefined)[] = [];
  let isOver = false;
  const load = Array.from({ length: 4 }, async () => {
    while (!isOver) codes.push((await refusal())?.code);
  });

  const short = await replaceServingCertificate();
  // It is about to expire, so the operator replaces it in turn.
  await until('another one is in the Secret', async () => {
    const { serving } = await certificates();
    return serving.certificate !== short;
  });
  const { serving } = await certificates();
  await until('it is shown', async () => (await shownCertificate()) === serving.certificate);
  const count = codes.length;
  await until('calls go on', () => codes.length > count + 10);
  isOver = true;
  await Promise.all(load);

  expect(new Set(codes)).toEqual(new Set([INVALID]));
  expectRunning(group, 0, 1, 2);
  await cluster.remove(group);
});

test('while the webhooks are away, new JobSets are refused, and running ones restart', async () => {
  const group = await cluster.group('unanswered');
  await webhooks.kill();
  // The API server may not have noticed yet that its connection is gone.
  await until('no connection is made', async () =>
    expect(await refusal()).toMatchObject({
      code: 500,
      message: expect.stringMatching(/failed calling webhook .*connection refused/),
    }),
  );
  expectRunning(group, 0, 1, 2);
  await lose(group);
  await expectOneRestart(group);

  webhooks = startWebhooks();
  await until('the webhooks answer again', async () => (await refusal())?.code === INVALID);
  await cluster.remove(group);
});

const INVALID = 422;

function startWebhooks(): OperatorProcess {
  const serve = ['--webhook-bind-address', '127.0.0.1:0', '--install-webhooks'];
  const secret = ['--webhook-secret-name', SECRET.name];
  const lease = ['--leader-elect', '--leader-election-id', LEASE.name];
  return cluster.startOperator(proxy, ...serve, ...secret, ...lease);
}

/** How the webhooks refuse an invalid JobSet; undefined if they were not asked. */
async function refusal(): Promise<ApiStatusError | undefined> {
  const jobSet: JobSet = {
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    metadata: { name: 'refused', namespace: 'default' },
    spec: {
      replicatedJobs: [replicatedJob('w')],
      failurePolicy: {
        rules: [{ name: 'r', action: 'FailJobSet', onJobFailureMessagePatterns: ['*'] }],
      },
    },
  };
  try {
    await cluster.client.create(JOBSETS, jobSet);
  } catch (error) {
    if (error instanceof ApiStatusError) return error;
    throw error;
  }
  await cluster.client.delete(JOBSETS, { namespace: 'default', name: 'refused' });
  return undefined;
}

async function certificates(): Promise<WebhookCertificates> {
  const held = certificatesIn(await cluster.client.get(SECRETS, SECRET));
  if (held === undefined) throw new Error('the Secret holds no certificates');
  return held;
}

/** Replaces the certificate as an administrator would, but for ten days only. Returns the PEM. */
async function replaceServingCertificate(): Promise<string> {
  const secret = await cluster.client.get(SECRETS, SECRET);
  const held = await certificates();
  const pair = { certificate: held.authorities[0], key: held.authorityKey };
  const serving = issueCertificate(loadCertificateAuthority(pair, nodeClock), {
    commonName: 'by-hand',
    ipAddresses: ['127.0.0.1'],
    usages: ['server'],
    days: 10,
  });
  await cluster.client.update(SECRETS, secretOf(SECRET, { ...held, serving }, secret));
  return serving.certificate;
}

/** The certificate that the webhooks show to a new connection, as PEM. */
async function shownCertificate(): Promise<string> {
  const { webhooks: configured = [] } = await cluster.client.get(
    VALIDATING_WEBHOOK_CONFIGURATIONS,
    { name: VALIDATING_CONFIGURATION_NAME },
  );
  const { hostname, port } = new URL(configured[0]?.clientConfig.url ?? '');
  const { authorities } = await certificates();
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), ca: [...authorities] }, () => {
      resolve(socket.getPeerX509Certificate()?.toString() ?? '');
      socket.destroy();
    });
    socket.once('error', reject);
  });
}
