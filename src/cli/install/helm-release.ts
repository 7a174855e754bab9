/** An installation that Helm made: the commands that would change it leave that to Helm. */

import { CLUSTER_ROLE_BINDINGS } from '@lockstep/kube/objects/rbac.ts';
import { printable } from '@lockstep/kube/quote.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { OPERATOR_NAME } from '../../deploy/permissions.ts';
import { unlessRefused } from '../unless-refused.ts';

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
