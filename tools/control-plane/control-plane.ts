/**
 * Starts etcd, kube-apiserver, kube-controller-manager and kube-scheduler, on loopback unless Pods are
 * to reach them, with one certificate authority for all of them, as a cluster's installer would.
 */
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ADMINISTRATORS } from '@lockstep/embedded-kubernetes';
import { freePorts } from '@lockstep/kube/runtime/adapters/free-ports.ts';
import { connectClient } from '@lockstep/kube/runtime/adapters/http-client-connection.ts';
import { loadKubeconfig } from '@lockstep/kube/runtime/adapters/kubeconfig-files.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import {
  createCertificateAuthority,
  issueCertificate,
} from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import { writeKubeconfig } from '../../src/cli/local-cluster/kubeconfig-file.ts';
import type { AlphaApi, Binaries, FeatureGates } from './build.ts';
import { Processes } from './processes.ts';

export interface ControlPlane {
  readonly kubeconfig: string;
  stop(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';
const READY_TIMEOUT_MS = 60_000;
const READY_POLL_MS = 200;
const CERTIFICATE_DAYS = 2;
/** After how long a real node counts as lost: three times as long as it takes between its reports. */
const LOSS_GRACE = '30s';
/** Has room for all Services of the tests; its first address is the API server's. */
const SERVICE_NETWORK = '10.0.0.0/16';
const API_SERVICE_ADDRESS = '10.0.0.1';

/**
 * Keeps state, logs and credentials in `directory`, which must be absolute. Tests that disturb the
 * cluster find `kube-apiserver.pid` and `etcd.url` there.
 */
export async function startControlPlane(
  binaries: Binaries,
  directory: string,
  featureGates: FeatureGates = {},
  alphaApi?: AlphaApi,
  /** The API server's, on this machine. */
  address = LOOPBACK,
): Promise<ControlPlane> {
  const processes = new Processes(directory);
  try {
    const [api, client, peer] = await freePorts(3, systemRandom);
    const etcd = `http://${LOOPBACK}:${client}`;
    const peers = `http://${LOOPBACK}:${peer}`;
    writeFileSync(join(directory, 'etcd.url'), etcd);
    processes.start('etcd', binaries.etcd, {
      'data-dir': join(directory, 'etcd'),
      'listen-client-urls': etcd,
      'advertise-client-urls': etcd,
      'listen-peer-urls': peers,
      'initial-advertise-peer-urls': peers,
      'initial-cluster': `default=${peers}`,
      'unsafe-no-fsync': 'true',
    });
    const credentials = writeCredentials(directory, address, api);
    const { file, kubeconfig } = credentials;
    processes.start('kube-apiserver', binaries['kube-apiserver'], {
      'etcd-servers': etcd,
      // All addresses, where not only this machine asks.
      'bind-address': address === LOOPBACK ? LOOPBACK : '0.0.0.0',
      'advertise-address': address,
      'secure-port': `${api}`,
      'cert-dir': directory,
      'tls-cert-file': file('apiserver.crt'),
      'tls-private-key-file': file('apiserver.key'),
      'client-ca-file': file('ca.crt'),
      // Nodes sign their serving certificates themselves, as in clusters that kubeadm installed.
      'kubelet-client-certificate': file('kubelet-client.crt'),
      'kubelet-client-key': file('kubelet-client.key'),
      'kubelet-preferred-address-types': 'InternalIP',
      'service-account-issuer': 'https://kubernetes.default.svc',
      'service-account-key-file': file('sa.pub'),
      'service-account-signing-key-file': file('sa.key'),
      'service-cluster-ip-range': SERVICE_NETWORK,
      'authorization-mode': 'Node,RBAC',
      'allow-privileged': 'true',
      // The address of a Service does not lead to its endpoints on loopback.
      ...(address === LOOPBACK ? { 'enable-aggregator-routing': 'true' } : {}),
      ...gateFlags({ ...featureGates, ...alphaApi?.featureGates }),
      ...(alphaApi === undefined ? {} : { 'runtime-config': `${alphaApi.groupVersion}=true` }),
    });
    await untilReady(kubeconfig);
    processes.start('kube-controller-manager', binaries['kube-controller-manager'], {
      kubeconfig,
      'service-account-private-key-file': file('sa.key'),
      'root-ca-file': file('ca.crt'),
      'use-service-account-credentials': 'true',
      'leader-elect': 'false',
      'secure-port': '0',
      // By default it makes 20 Pods of a Job per second, so that a large group takes minutes.
      'kube-api-qps': '500',
      'kube-api-burst': '1000',
      ...(address === LOOPBACK ? {} : { 'node-monitor-grace-period': LOSS_GRACE }),
    });
    processes.start('kube-scheduler', binaries['kube-scheduler'], {
      kubeconfig,
      'leader-elect': 'false',
      'secure-port': '0',
      ...gateFlags(featureGates),
    });
    return { kubeconfig, stop: () => processes.stop() };
  } catch (error) {
    await processes.stop();
    throw error;
  }
}

function gateFlags(featureGates: FeatureGates): Readonly<Record<string, string>> {
  const gates = Object.entries(featureGates).map(([name, isOn]) => `${name}=${isOn}`);
  return gates.length === 0 ? {} : { 'feature-gates': gates.join(',') };
}

function writeCredentials(directory: string, address: string, port = 0) {
  const server = `https://${address}:${port}`;
  const file = (name: string): string => join(directory, name);
  const write = (name: string, text: string): void =>
    writeFileSync(file(name), text, { mode: 0o600 });
  const authority = createCertificateAuthority({ commonName: 'kubernetes', clock: nodeClock });
  write('ca.crt', authority.certificate);
  const days = CERTIFICATE_DAYS;
  const apiServer = issueCertificate(authority, {
    commonName: 'kube-apiserver',
    dnsNames: ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'],
    ipAddresses: [...new Set([LOOPBACK, address]), API_SERVICE_ADDRESS],
    usages: ['server'],
    days,
  });
  const clientPair = (commonName: string) =>
    issueCertificate(authority, {
      commonName,
      organizations: [ADMINISTRATORS],
      usages: ['client'],
      days,
    });
  const kubeletClient = clientPair('kube-apiserver-kubelet-client');
  for (const [name, pair] of [
    ['apiserver', apiServer],
    ['kubelet-client', kubeletClient],
    ['ca', authority],
  ] as const) {
    write(`${name}.crt`, pair.certificate);
    write(`${name}.key`, pair.key);
  }
  const accounts = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  write('sa.pub', accounts.publicKey.export({ type: 'spki', format: 'pem' }).toString());
  write('sa.key', accounts.privateKey.export({ type: 'sec1', format: 'pem' }).toString());
  const kubeconfig = file('kubeconfig');
  const user = 'kubernetes-admin';
  const credentials = clientPair(user);
  writeKubeconfig(kubeconfig, { server, authority: authority.certificate, user, credentials });
  return { file, kubeconfig };
}

async function untilReady(kubeconfig: string): Promise<void> {
  const access = await loadKubeconfig({ path: kubeconfig, env: {}, homeDirectory: '/' });
  const runtime = { clock: nodeClock, random: systemRandom, userAgent: 'lockstep-test' };
  const { client, close } = connectClient(access, runtime);
  const deadlineMs = nodeClock.now() + READY_TIMEOUT_MS;
  try {
    for (;;) {
      try {
        // Answers only when roles and priority levels exist too.
        await client.getPath('/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin');
        await client.getPath('/api/v1/namespaces/kube-system');
        return;
      } catch (cause) {
        const isOver = nodeClock.now() > deadlineMs;
        if (isOver) throw new Error(`no API server after ${READY_TIMEOUT_MS} ms`, { cause });
      }
      await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
    }
  } finally {
    close();
  }
}
