/**
 * The operator with a Configuration file as upstream's users have it, with certificates of
 * cert-manager. It serves with the certificate in the directory, takes the next one while it runs,
 * answers probes at the names in the file, and releases the lease when it ends.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { LEASES } from '@lockstep/kube/objects/lease.ts';
import { freePorts } from '@lockstep/kube/runtime/adapters/free-ports.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import {
  createCertificateAuthority,
  issueCertificate,
} from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ApiUnderTest, installJobSets, startApi } from './api-server.fixture.ts';

const LOOPBACK = '127.0.0.1';
const LEASE = { namespace: 'default', name: 'configured.jobset.x-k8s.io' };
const LIMIT_MS = 90_000;

let api: ApiUnderTest;
let directory: string;
beforeAll(async () => {
  api = await startApi();
  await installJobSets(api.client);
  directory = mkdtempSync(join(tmpdir(), 'lockstep-configuration-'));
});
afterAll(async () => {
  await api.client.delete(LEASES, LEASE);
  await api.stop();
  rmSync(directory, { recursive: true, force: true });
});

const authority = createCertificateAuthority({ commonName: 'cert-manager', clock: nodeClock });

/**
 * Replaces each file as a whole; in between they do not belong together, as with a mounted Secret.
 */
function bring(commonName: string): void {
  const pair = issueCertificate(authority, {
    commonName,
    ipAddresses: [LOOPBACK],
    usages: ['server'],
    days: 1,
  });
  for (const [name, text] of [
    ['tls.crt', pair.certificate],
    ['tls.key', pair.key],
  ] as const) {
    writeFileSync(join(directory, 'next'), text);
    renameSync(join(directory, 'next'), join(directory, name));
  }
}

/** The subject of the certificate that a new connection is shown. */
function shown(port: number | undefined): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: LOOPBACK, port, ca: authority.certificate });
    socket.once('secureConnect', () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.once('error', (error) => resolve(error.message));
  });
}

test('a file of upstream is obeyed, key by key', async () => {
  const [webhooks, health] = await freePorts(2, systemRandom);
  const file = join(directory, 'controller_manager_config.yaml');
  writeFileSync(
    file,
    `apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
webhook: { host: ${LOOPBACK}, port: ${webhooks}, certDir: ${directory} }
leaderElection: { leaderElect: true, resourceName: ${LEASE.name}, resourceNamespace: ${LEASE.namespace} }
metrics: { bindAddress: "0" }
health:
  healthProbeBindAddress: ${LOOPBACK}:${health}
  readinessEndpointName: ready
  livenessEndpointName: live
internalCertManagement: { enable: false }
clientConnection: { qps: 100, burst: 200 }
tls: { minVersion: VersionTLS13 }
featureGates: { TLSOptions: true }
`,
  );
  bring('first');
  const argv = ['src/operator/main.ts', '--kubeconfig', api.kubeconfig, '--config', file];
  const operator = spawn(process.execPath, ['--import', 'tsx', ...argv], { stdio: 'ignore' });
  const exited = once(operator, 'exit');
  try {
    const probe = (name: string): Promise<number | undefined> =>
      fetch(`http://${LOOPBACK}:${health}/${name}`).then(
        ({ status }) => status,
        () => undefined,
      );
    await until('ready', async () => expect(await probe('ready')).toBe(200), LIMIT_MS);
    expect(await Promise.all(['live', 'readyz', 'healthz'].map(probe))).toEqual([200, 404, 404]);
    expect(await shown(webhooks)).toBe('first');
    await until('it leads', async () => expect(await holder()).not.toBe(''), LIMIT_MS);
    bring('second');
    const isRenewed = async (): Promise<void> => expect(await shown(webhooks)).toBe('second');
    await until('the second certificate is shown', isRenewed, LIMIT_MS);
  } finally {
    operator.kill('SIGTERM');
  }
  expect(await exited).toEqual([0, null]);
  expect(await holder(), 'the next holder need not wait').toBe('');
});

async function holder(): Promise<string> {
  const lease = await api.client.get(LEASES, LEASE).catch(() => undefined);
  return lease?.spec?.holderIdentity ?? '';
}
