/** The objects of an installation in a cluster. */

import type { KubeObject } from '@lockstep/kube/meta.ts';
import type { CustomResourceDefinition } from '@lockstep/kube/objects/custom-resource-definition.ts';
import { CLUSTER_ROLE_BINDINGS } from '@lockstep/kube/objects/rbac.ts';
import { printable } from '@lockstep/kube/quote.ts';
import type { Client, ObjectKey } from '@lockstep/kube/runtime/client/client.ts';
import { unlessRefused } from '@lockstep/kube/runtime/client/unless-refused.ts';
import { OPERATOR_NAME } from '../../deploy/permissions.ts';
import { INSTALLED_LABELS } from '../../deploy/settings.ts';
import { missingStatusFields } from '../../jobset/schema/missing-fields.ts';

/** The manager of an installation's fields. */
export const FIELD_MANAGER = 'lockstep-install';

export function keyOf({ metadata: { namespace = '', name = '' } }: KubeObject): ObjectKey {
  return { namespace, name };
}

/** `Deployment lockstep-system/lockstep-operator`. */
export function titleOf({ kind, metadata }: KubeObject): string {
  const { namespace, name = '' } = metadata;
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}

export const PART_OF = 'app.kubernetes.io/part-of';

/** Whether it was applied from our manifest, and does not only have such a name. */
export function isOurs({ metadata }: KubeObject): boolean {
  return metadata.labels?.[PART_OF] === INSTALLED_LABELS[PART_OF];
}

/** A definition that our operator created has no label, and says more than upstream's. */
export function isOurDefinition(crd: CustomResourceDefinition): boolean {
  return isOurs(crd) || !missingStatusFields(crd).includes('deprecatedEpoch');
}

/** Why nothing can be done in this namespace: a cluster has one Lockstep, and it is elsewhere. */
export async function otherPlace(
  client: Client,
  namespace: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const get = client.get(CLUSTER_ROLE_BINDINGS, { name: OPERATOR_NAME }, { signal });
  const binding = await unlessRefused(get, 'NotFound', 'Forbidden');
  if (binding === undefined || !isOurs(binding)) return undefined;
  const [subject] = binding.subjects;
  const there = subject !== undefined && 'namespace' in subject ? subject.namespace : namespace;
  if (there === namespace) return undefined;
  return `Lockstep is installed in namespace ${there}, not in ${namespace}: use --namespace ${there}, or uninstall it there first`;
}

const RELEASE_NAME = 'meta.helm.sh/release-name';
const RELEASE_NAMESPACE = 'meta.helm.sh/release-namespace';

/** Why nothing is changed, and what to do instead; undefined if there is no release. */
export async function releaseOfHelm(
  client: Client,
  signal: AbortSignal,
): Promise<string | undefined> {
  // Not the definition of JobSet, which outlives its release.
  const binding = client.get(CLUSTER_ROLE_BINDINGS, { name: OPERATOR_NAME }, { signal });
  const { annotations = {} } =
    (await unlessRefused(binding, 'NotFound', 'Forbidden'))?.metadata ?? {};
  const { [RELEASE_NAME]: name, [RELEASE_NAMESPACE]: namespace } = annotations;
  if (name === undefined || namespace === undefined) return undefined;
  const release = printable(`${name} --namespace ${namespace}`);
  return `Helm has installed Lockstep: change it with "helm upgrade ${release}", or remove it with "helm uninstall ${release}", which keeps JobSets and their definition; "lockstep install" and "lockstep uninstall --delete-jobsets" work after that`;
}
