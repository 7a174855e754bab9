/** A control plane with nodes, in the namespaces of this process. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { NODES } from '@lockstep/kube/objects/node.ts';
import { connectClient } from '@lockstep/kube/runtime/adapters/http-client-connection.ts';
import { loadKubeconfig } from '@lockstep/kube/runtime/adapters/kubeconfig-files.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import {
  issueCertificate,
  loadCertificateAuthority,
} from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { waitFor } from '@lockstep/kube/runtime/informer/wait-for.ts';
import { writeKubeconfig } from '../../src/cli/local-cluster/kubeconfig-file.ts';
import { PORTS } from '../../src/cli/ports.ts';
import { FEATURE_GATES, KUBERNETES_VERSIONS } from '../control-plane/build.ts';
import { startControlPlane } from '../control-plane/control-plane.ts';
import { Processes } from '../control-plane/processes.ts';
import { serveClusterDns } from './cluster-dns.ts';
import {
  cniConfiguration,
  containerdConfiguration,
  kubeletConfiguration,
  type NodePlaces,
  proxyConfiguration,
  socketOf,
} from './configuration.ts';
import { API_ADDRESS, DNS_ADDRESS, makeNetwork, nodeAddress, nodeName } from './network.ts';

const run = promisify(execFile);

const READY_TIMEOUT_MS = 90_000;
const RUNTIME_POLL_MS = 100;
const IMPORT_TIMEOUT_MS = 120_000;
const CERTIFICATE_DAYS = 2;

export interface ClusterLayout {
  /** Absolute. Its `bin` has all programs, its `images` all images. */
  readonly directory: string;
  readonly nodes: number;
  /** The control group of everything. */
  readonly cgroup: string;
}

/** Resolves with an administrator's kubeconfig when all nodes are ready. All ends with this process. */
export async function startCluster({ directory, nodes, cgroup }: ClusterLayout): Promise<string> {
  makeNetwork(nodes);
  writeFileSync('/proc/sys/net/ipv4/ip_forward', '1');
  const programs = join(directory, 'bin');
  const at = (name: string): string => join(programs, name);
  const control = join(directory, 'control-plane');
  const [version] = KUBERNETES_VERSIONS;
  const binaries = {
    'kube-apiserver': at('kube-apiserver'),
    'kube-controller-manager': at('kube-controller-manager'),
    'kube-scheduler': at('kube-scheduler'),
    etcd: at('etcd'),
  };
  const places = Array.from({ length: nodes }, (_, index): NodePlaces => {
    const own = join(directory, nodeName(index));
    mkdirSync(own, { recursive: true });
    const authority = join(control, 'ca.crt');
    return { index, directory: own, programs, cgroup: `${cgroup}/${nodeName(index)}`, authority };
  });
  const [{ kubeconfig }] = await Promise.all([
    startControlPlane(binaries, control, FEATURE_GATES[version], undefined, API_ADDRESS),
    ...places.map((place) => startRuntime(place, join(directory, 'images'))),
  ]);
  const access = await loadKubeconfig({ path: kubeconfig, env: {}, homeDirectory: '/' });
  const { client } = connectClient(access, { ...PORTS, userAgent: 'lockstep-test' });
  await serveClusterDns(client, DNS_ADDRESS);
  startProxy(directory, control, access.server);
  for (const place of places) startKubelet(place, control, access.server);
  await Promise.all(places.map(({ index }) => untilReady(client, nodeName(index))));
  return kubeconfig;
}

/** The container runtime, with all images. */
async function startRuntime(place: NodePlaces, images: string): Promise<void> {
  const { directory, programs } = place;
  const write = (name: string, text: string): string => {
    const path = join(directory, name);
    writeFileSync(path, text);
    return path;
  };
  mkdirSync(join(directory, 'cni'));
  write('cni/pods.conflist', cniConfiguration(place));
  const config = write('containerd.toml', containerdConfiguration(place));
  new Processes(directory).start('containerd', join(programs, 'containerd'), { config });
  const deadlineMs = nodeClock.now() + READY_TIMEOUT_MS;
  while (!existsSync(socketOf(directory))) {
    if (nodeClock.now() > deadlineMs) {
      throw new Error(`no container runtime after ${READY_TIMEOUT_MS} ms`);
    }
    await setTimeout(RUNTIME_POLL_MS);
  }
  const address = ['--address', socketOf(directory), '--namespace', 'k8s.io'];
  for (const image of readdirSync(images)) {
    const args = [...address, 'images', 'import', join(images, image)];
    await run(join(programs, 'ctr'), args, { timeout: IMPORT_TIMEOUT_MS });
  }
}

function startKubelet(place: NodePlaces, control: string, server: string): void {
  const { index, directory, programs } = place;
  const name = nodeName(index);
  const config = join(directory, 'kubelet.json');
  const kubeconfig = join(directory, 'kubeconfig');
  writeFileSync(config, kubeletConfiguration(place));
  writeIdentity(kubeconfig, control, server, `system:node:${name}`, ['system:nodes']);
  new Processes(directory).start('kubelet', join(programs, 'kubelet'), {
    config,
    kubeconfig,
    'root-dir': join(directory, 'kubelet'),
    'cert-dir': join(directory, 'pki'),
    'hostname-override': name,
    'node-ip': nodeAddress(index),
  });
}

/** One for all nodes, since they share a network. */
function startProxy(directory: string, control: string, server: string): void {
  const own = join(directory, 'proxy');
  const processes = new Processes(own);
  const kubeconfig = join(own, 'kubeconfig');
  const config = join(own, 'proxy.json');
  writeIdentity(kubeconfig, control, server, 'system:kube-proxy', []);
  writeFileSync(config, proxyConfiguration(kubeconfig, nodeName(0)));
  processes.start('kube-proxy', join(directory, 'bin/kube-proxy'), { config });
}

function writeIdentity(
  path: string,
  control: string,
  server: string,
  user: string,
  organizations: readonly string[],
): void {
  const read = (name: string): string => readFileSync(join(control, name), 'utf8');
  const pair = { certificate: read('ca.crt'), key: read('ca.key') };
  const authority = loadCertificateAuthority(pair, nodeClock);
  const credentials = issueCertificate(authority, {
    commonName: user,
    organizations,
    usages: ['client'],
    days: CERTIFICATE_DAYS,
  });
  writeKubeconfig(path, { server, authority: authority.certificate, user, credentials });
}

async function untilReady(client: Client, name: string): Promise<void> {
  const options = { ...PORTS, timeoutMs: READY_TIMEOUT_MS };
  await waitFor(
    client,
    NODES,
    { name },
    (node) =>
      node?.status?.conditions?.some(
        ({ type, status }) => type === 'Ready' && status === 'True',
      ) === true,
    options,
  );
}
