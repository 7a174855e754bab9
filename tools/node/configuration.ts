/** The configuration files of a node's programs. */
import { join } from 'node:path';
import { PAUSE_IMAGE } from './images.ts';
import { DNS_ADDRESS, nodeAddress, POD_NETWORK, podRange } from './network.ts';

const MAX_PODS = 250;
/** Requests per second: one node stands for many. */
const REQUESTS = { kubeAPIQPS: 500, kubeAPIBurst: 1000, eventRecordQPS: 500, eventBurst: 1000 };
const NO_EVICTION = [
  'memory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
];

export interface NodePlaces {
  readonly index: number;
  /** The node's own. */
  readonly directory: string;
  /** The directory of all programs. */
  readonly programs: string;
  /** The control group that holds the groups of Pods. */
  readonly cgroup: string;
  /** The file of the authority of clients. */
  readonly authority: string;
}

export function socketOf(directory: string): string {
  return join(directory, 'containerd.sock');
}

/** The kubelet's. JSON is YAML. */
export function kubeletConfiguration({ index, directory, cgroup, authority }: NodePlaces): string {
  return JSON.stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: nodeAddress(index),
    // The health of two kubelets would share one port.
    healthzPort: 0,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: authority },
    },
    authorization: { mode: 'Webhook' },
    failCgroupV1: false,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${cgroup}`,
    containerRuntimeEndpoint: `unix://${socketOf(directory)}`,
    evictionHard: Object.fromEntries(NO_EVICTION.map((signal) => [signal, '0%'])),
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    maxPods: MAX_PODS,
    serializeImagePulls: false,
    makeIPTablesUtilChains: false,
    resolvConf: '/dev/null',
    clusterDNS: [DNS_ADDRESS],
    clusterDomain: 'cluster.local',
    podLogsDir: join(directory, 'pods'),
    volumePluginDir: join(directory, 'volume-plugins'),
    ...REQUESTS,
  });
}

export function proxyConfiguration(kubeconfig: string, nodeName: string): string {
  return JSON.stringify({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'nftables',
    clientConnection: { kubeconfig },
    clusterCIDR: POD_NETWORK,
    hostnameOverride: nodeName,
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
    nftables: { minSyncPeriod: '100ms', syncPeriod: '30s' },
  });
}

/** A virtual pair of interfaces for each Pod, with a host route to it. */
export function cniConfiguration({ index, directory }: NodePlaces): string {
  const ranges = [[{ subnet: podRange(index) }]];
  const dataDir = join(directory, 'addresses');
  const routes = [{ dst: '0.0.0.0/0' }];
  const ipam = { type: 'host-local', dataDir, ranges, routes };
  return JSON.stringify({
    cniVersion: '1.0.0',
    name: 'pods',
    plugins: [{ type: 'ptp', ipMasq: false, ipam }],
  });
}

/** The container runtime's. */
export function containerdConfiguration({ directory, programs }: NodePlaces): string {
  const unused = ['btrfs', 'zfs', 'devmapper', 'blockfile', 'erofs'];
  const disabled = unused.map((name) => `'io.containerd.snapshotter.v1.${name}'`);
  return `version = 3
root = '${join(directory, 'containerd')}'
state = '${join(directory, 'containerd-state')}'
disabled_plugins = ['io.containerd.nri.v1.nri', ${disabled.join(', ')}]
[grpc]
  address = '${socketOf(directory)}'
[ttrpc]
  address = '${socketOf(directory)}.ttrpc'
[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = 'docker.io/${PAUSE_IMAGE}'
[plugins.'io.containerd.cri.v1.runtime']
  disable_apparmor = true
  # Root may lack the capability that runc needs to protect containers more than itself.
  restrict_oom_score_adj = true
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
  runtime_type = 'io.containerd.runc.v2'
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
  BinaryName = '${join(programs, 'runc')}'
  SystemdCgroup = false
[plugins.'io.containerd.cri.v1.runtime'.cni]
  bin_dirs = ['${programs}']
  conf_dir = '${join(directory, 'cni')}'
`;
}
