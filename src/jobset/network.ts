import type { Service } from '../kube/core.ts';
import type { OwnerReference } from '../kube/meta.ts';
import type { DefaultedSpec } from './defaults.ts';
import { JOBSET_NAME } from './names.ts';
import { subdomainOf } from './naming.ts';

/**
 * The headless Service that gives the Pods their DNS names (spec 4.14), or undefined if the JobSet
 * wants none. An existing Service of that name is used as it is, whoever made it.
 */
export function headlessService(
  jobSet: { readonly name: string; readonly namespace: string },
  spec: Pick<DefaultedSpec, 'network'>,
  owner: OwnerReference,
): Service | undefined {
  if (!spec.network.enableDNSHostnames) return undefined;
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: subdomainOf(jobSet.name, spec),
      namespace: jobSet.namespace,
      ownerReferences: [owner],
    },
    spec: {
      clusterIP: 'None',
      selector: { [JOBSET_NAME]: jobSet.name },
      publishNotReadyAddresses: spec.network.publishNotReadyAddresses,
    },
  };
}
