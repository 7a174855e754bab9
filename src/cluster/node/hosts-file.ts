/**
 * The names of the Pods as a hosts file, in place of a cluster's DNS: a Pod with `hostname` (or its
 * own name) and `subdomain` is found as `hostname.subdomain` and by the full name, if the headless
 * Service of that name selects it. Pods that are not ready are left out unless the Service publishes
 * them.
 */
import type { Service } from '../../kube/core.ts';
import { labelRequirementsOf, matchesLabels } from '../../kube/label-selector.ts';
import type { Pod } from '../../kube/pod.ts';

export interface HostsEntry {
  readonly pod: Pod;
  readonly address: string;
  /** Declared port to the one that the Pod really has, where Pods share an address. */
  readonly ports: ReadonlyMap<number, number>;
}

const CLUSTER_DOMAIN = 'svc.cluster.local';

/** The file for the Pods of one namespace. Both collections are of that namespace. */
export function hostsFile(
  entries: readonly HostsEntry[],
  services: readonly Service[],
  machineName?: string,
): string {
  const byName = new Map(services.map((service) => [service.metadata.name, service]));
  const lines = entries.flatMap((entry) => {
    const names = namesOf(entry.pod, byName);
    if (names.length === 0) return [];
    const ports = [...entry.ports].map(([port, real]) => `${port}=${real}`);
    const comment = ports.length === 0 ? '' : ` # ports ${ports.join(' ')}`;
    return [`${entry.address}\t${names.join(' ')}${comment}`];
  });
  const own = ['localhost', ...(machineName === undefined ? [] : [machineName])];
  return [`127.0.0.1\t${own.join(' ')}`, ...lines.sort(), ''].join('\n');
}

function namesOf(pod: Pod, services: ReadonlyMap<string | undefined, Service>): readonly string[] {
  const { subdomain, hostname } = pod.spec;
  const { name = '', namespace = '' } = pod.metadata;
  if (subdomain === undefined || subdomain === '') return [];
  const service = services.get(subdomain);
  if (service?.spec?.clusterIP !== 'None' || !selects(service, pod)) return [];
  if (service.spec.publishNotReadyAddresses !== true && !isReady(pod)) return [];
  const short = `${hostname === undefined || hostname === '' ? name : hostname}.${subdomain}`;
  return [`${short}.${namespace}.${CLUSTER_DOMAIN}`, `${short}.${namespace}.svc`, short];
}

function selects(service: Service, pod: Pod): boolean {
  const matchLabels = service.spec?.selector ?? {};
  if (Object.keys(matchLabels).length === 0) return false;
  return matchesLabels(labelRequirementsOf({ matchLabels }), pod.metadata.labels);
}

function isReady(pod: Pod): boolean {
  return (
    pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ===
    true
  );
}
