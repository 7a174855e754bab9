/**
 * The host name of a Pod, as a kubelet makes it: its own name or `hostname`, the full name of both
 * with `setHostnameAsFQDN`, or `hostnameOverride`, which has no domain.
 */
import { namespaceOf } from '@lockstep/kube/meta.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';

export const CLUSTER_DOMAIN = 'svc.cluster.local';

/** A label of the DNS. */
const MAX_SHORT_LENGTH = 63;
/** Linux's limit. */
const MAX_LENGTH = 64;

/** The host name that a Pod asks for exceeds Linux's limit. */
export class HostnameError extends Error {
  override readonly name = 'HostnameError';
}

/** The output of `hostname` in the Pod. Throws `HostnameError`. */
export function hostnameOf(pod: Pod): string {
  const { hostnameOverride, setHostnameAsFQDN, subdomain = '' } = pod.spec;
  if (hostnameOverride !== undefined) return hostnameOverride;
  const short = shortHostnameOf(pod);
  if (setHostnameAsFQDN !== true || subdomain === '') return short;
  const full = `${short}.${subdomain}.${namespaceOf(pod.metadata)}.${CLUSTER_DOMAIN}`;
  if (full.length <= MAX_LENGTH) return full;
  throw new HostnameError(
    `Failed to construct FQDN from Pod hostname and cluster domain, FQDN ${full} is too long (${MAX_LENGTH} characters is the max, ${full.length} characters requested)`,
  );
}

/** Its first part, by which other Pods find it in its subdomain. */
export function shortHostnameOf({ metadata: { name = '' }, spec: { hostname = '' } }: Pod): string {
  return hostname === '' ? name.slice(0, MAX_SHORT_LENGTH).replace(/[-.]+$/, '') : hostname;
}
