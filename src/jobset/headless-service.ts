/** The headless Service of a JobSet. */
import type { OwnerReference, StringMap } from '@lockstep/kube/meta.ts';
import type { Service } from '@lockstep/kube/objects/core.ts';
import type { DefaultedSpec } from './defaults.ts';
import { subdomainOf } from './derived-names.ts';
import { JOBSET_NAME } from './names.ts';

/** It gives the Pods their DNS names; undefined if the JobSet wants none. */
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

/**
 * Why an existing Service of that name does not lead to the JobSet's Pods; undefined if it does. The
 * operator never changes it, because its owner may need it as it is.
 */
export function serviceProblem(service: Service, wanted: Service): string | undefined {
  const { name } = service.metadata;
  const { selector = {}, clusterIP } = service.spec ?? {};
  const asked = selectorText(wanted.spec?.selector ?? {});
  const is = selectorText(selector);
  if (is !== asked) {
    const found = is === '' ? 'has no selector' : `selects ${is}`;
    return `Service ${name} ${found}, expected ${asked}: the Pods have no DNS names`;
  }
  if (clusterIP === undefined || clusterIP === 'None' || clusterIP === '') return undefined;
  return `Service ${name} is not headless: the Pods have no DNS names`;
}

function selectorText(selector: StringMap): string {
  const terms = Object.entries(selector).map(([key, value]) => `${key}=${value}`);
  return terms.sort().join(',');
}
