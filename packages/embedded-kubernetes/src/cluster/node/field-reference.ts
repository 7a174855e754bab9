/**
 * The downward API: fields of a Pod by path for environment variables and files, and the resources
 * of a container. Paths and texts are Kubernetes'.
 */

import type { StringMap } from '@lockstep/kube/meta.ts';
import { namespaceOf } from '@lockstep/kube/meta.ts';
import type { Container, Pod, ResourceFieldSelector } from '@lockstep/kube/objects/pod.ts';
import { parseQuantity } from '@lockstep/kube/quantity.ts';

/** What a field reference may read besides the object itself. */
export interface PodFields {
  readonly pod: Pod;
  readonly podIP: string;
  readonly hostIP: string;
  readonly nodeName: string;
  /** What the node offers, which is the limit of a container without one. */
  readonly allocatable: StringMap;
}

/** The text of a field; undefined for an unknown path. */
export function podField(facts: PodFields, fieldPath: string): string | undefined {
  const { metadata, spec } = facts.pod;
  const subscript = /^metadata\.(labels|annotations)\['([^']*)'\]$/.exec(fieldPath);
  if (subscript !== null) {
    const map = subscript[1] === 'labels' ? metadata.labels : metadata.annotations;
    return map?.[subscript[2] ?? ''] ?? '';
  }
  switch (fieldPath) {
    case 'metadata.name':
      return metadata.name ?? '';
    case 'metadata.namespace':
      return namespaceOf(metadata);
    case 'metadata.uid':
      return metadata.uid ?? '';
    case 'metadata.labels':
      return mapText(metadata.labels);
    case 'metadata.annotations':
      return mapText(metadata.annotations);
    case 'spec.nodeName':
      return facts.nodeName;
    case 'spec.serviceAccountName':
      return spec.serviceAccountName ?? '';
    case 'status.hostIP':
    case 'status.hostIPs':
      return facts.hostIP;
    case 'status.podIP':
    case 'status.podIPs':
      return facts.podIP;
    default:
      return undefined;
  }
}

/**
 * A limit or request in units of `divisor`, rounded up, of `container` or of the named one. A
 * missing limit is what the node offers, a missing request is zero. Undefined if there is no such
 * resource or container.
 */
export function resourceField(
  { pod, allocatable }: PodFields,
  { containerName = '', resource, divisor = '1' }: ResourceFieldSelector,
  container: Container | undefined,
): string | undefined {
  const { containers, initContainers = [] } = pod.spec;
  const of =
    containerName === ''
      ? container
      : [...containers, ...initContainers].find(({ name }) => name === containerName);
  const [kind, ...rest] = resource.split('.');
  if (of === undefined || (kind !== 'limits' && kind !== 'requests')) return undefined;
  const name = rest.join('.');
  const otherwise = kind === 'limits' ? allocatable[name] : '0';
  const amount = parseQuantity(of.resources?.[kind]?.[name] ?? otherwise ?? '');
  const unit = parseQuantity(divisor) ?? parseQuantity('1');
  if (amount === undefined || unit === undefined) return undefined;
  const nano = unit.nano === 0n ? 1_000_000_000n : unit.nano;
  return String((amount.nano + nano - 1n) / nano);
}

/** `key="value"` lines in key order, as downward API files hold maps. */
function mapText(map: StringMap | undefined): string {
  return Object.entries(map ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join('\n');
}
