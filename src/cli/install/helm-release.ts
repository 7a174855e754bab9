/** An installation that Helm made: the commands that would change it leave that to Helm. */

import { CLUSTER_ROLE_BINDINGS } from '@lockstep/kube/objects/rbac.ts';
import { printable } from '@lockstep/kube/quote.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { OPERATOR_NAME } from '../../deploy/permissions.ts';

const RELEASE_NAME = 'meta.helm.sh/release-name';
const RELEASE_NAMESPACE = 'meta.helm.sh/release-namespace';

/** Why nothing is changed, and what to do instead; undefined if there is no release. */
export async function releaseOfHelm(
  client: Client,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    // Not the definition of JobSet, which outlives its release.
    const at = { name: OPERATOR_NAME };
    const { metadata } = await client.get(CLUSTER_ROLE_BINDINGS, at, { signal });
    const name = metadata.annotations?.[RELEASE_NAME];
    const namespace = metadata.annotations?.[RELEASE_NAMESPACE];
    if (name === undefined || namespace === undefined) return undefined;
    const release = printable(`${name} --namespace ${namespace}`);
    return `Helm has installed Lockstep: change it with "helm upgrade ${release}", or remove it with "helm uninstall ${release}", which keeps JobSets and their definition; "lockstep install" and "lockstep uninstall --delete-jobsets" work after that`;
  } catch (error) {
    if (isReason(error, 'NotFound', 'Forbidden')) return undefined;
    throw error;
  }
}
