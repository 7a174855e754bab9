/**
 * The names of the Pods as a hosts file, in place of a cluster's DNS. A Pod with `hostname` (or its
 * own name) and `subdomain` is found as `hostname.subdomain` and by the full name, if the headless
 * Service of that name selects it. Pods that are not ready are left out unless the Service
 * publishes them. By its mere host name each is always found, because programs look up their own.
 */
import type { Service } from '@lockstep/kube/objects/core.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { labelRequirementsOf, matchesLabels } from '@lockstep/kube/selectors/label-selector.ts';
import { CLUSTER_DOMAIN, HostnameError, hostnameOf, shortHostnameOf } from './pod-hostname.ts';

export interface HostsEntry {
  readonly pod: Pod;
  readonly address: string;
  /** From a declared port to the Pod's actual one, if Pods share an address. */
  readonly ports: ReadonlyMap<number, number>;
}

/** The file for the Pods of one namespace. Both collections are of that namespace. */
export function hostsFile(
  entries: readonly HostsEntry[],
  services: readonly Service[],
  machineName?: string,
): string {
  const byName = new Map(services.map((service) => [service.metadata.name, service]));
  const lines = entries.flatMap((entry) => {
    const names = [...new Set([...namesOf(entry.pod, byName), ...ownNames(entry.pod)])];
    const ports = [...entry.ports].map(([port, real]) => `${port}=${real}`);
    const comment = ports.length === 0 ? '' : ` # ports ${ports.join(' ')}`;
    return [`${entry.address}\t${names.join(' ')}${comment}`];
  });
  const own = ['localhost', ...(machineName === undefined ? [] : [machineName])];
  return [`127.0.0.1\t${own.join(' ')}`, ...lines.sort(), ''].join('\n');
}

/** The file for a Pod with `hostAliases`, whose lines come last. */
export function withHostAliases(text: string, { spec: { hostAliases = [] } }: Pod): string {
  const lines = hostAliases.map(({ ip, hostnames = [] }) => [ip, ...hostnames].join('\t'));
  return [text, '# Entries added by HostAliases.', ...lines, ''].join('\n');
}

function ownNames(pod: Pod): readonly string[] {
  try {
    return [hostnameOf(pod)];
  } catch (error) {
    if (!(error instanceof HostnameError)) throw error;
    // The Pod does not start, and its Event says why.
    return [];
  }
}

function namesOf(pod: Pod, services: ReadonlyMap<string | undefined, Service>): readonly string[] {
  const { subdomain } = pod.spec;
  const { namespace = '' } = pod.metadata;
  if (subdomain === undefined || subdomain === '') return [];
  const service = services.get(subdomain);
  if (service?.spec?.clusterIP !== 'None' || !selects(service, pod)) return [];
  if (service.spec.publishNotReadyAddresses !== true && !isReady(pod)) return [];
  const short = `${shortHostnameOf(pod)}.${subdomain}`;
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
