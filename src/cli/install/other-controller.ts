/**
 * Finds the controller of kubernetes-sigs/jobset. Its manifests and its Helm chart use different
 * names and labels. Lockstep is not installed beside it. If only its webhooks are left, they would
 * refuse every JobSet.
 */

import type { KubeObject, Stored } from '@lockstep/kube/meta.ts';
import {
  MUTATING_WEBHOOK_CONFIGURATIONS,
  VALIDATING_WEBHOOK_CONFIGURATIONS,
} from '@lockstep/kube/objects/admission-webhooks.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import type { Client, ObjectKey } from '@lockstep/kube/runtime/client/client.ts';
import { unlessRefused } from '@lockstep/kube/runtime/client/unless-refused.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { DEPLOYMENTS } from '../../deploy/kinds.ts';
import { titleOf } from './objects.ts';

/** Labels of its chart, and of its manifests if a tool has added them. */
const LABELS = ['app.kubernetes.io/name=jobset', 'app.kubernetes.io/part-of=jobset'];
/** Names in its manifests, which are not labelled everywhere. */
const NAMES: Readonly<Record<string, ObjectKey>> = {
  [DEPLOYMENTS.kind]: { namespace: 'jobset-system', name: 'jobset-controller-manager' },
  [MUTATING_WEBHOOK_CONFIGURATIONS.kind]: { name: 'jobset-mutating-webhook-configuration' },
  [VALIDATING_WEBHOOK_CONFIGURATIONS.kind]: { name: 'jobset-validating-webhook-configuration' },
};
const KINDS = [MUTATING_WEBHOOK_CONFIGURATIONS, VALIDATING_WEBHOOK_CONFIGURATIONS] as const;

interface Asking {
  readonly client: Client;
  readonly signal: AbortSignal;
}

/** What to do about it, in one line; undefined if it is not there. */
export async function otherController(asking: Asking): Promise<readonly string[]> {
  const deployments = await ofUpstream(asking, DEPLOYMENTS);
  const running = deployments.filter(({ status }) => (status?.replicas ?? 0) > 0);
  const found = await Promise.all(KINDS.map((of) => ofUpstream<KubeObject>(asking, of)));
  const removals = found
    .flat()
    .map((one) => `"kubectl delete ${one.kind?.toLowerCase() ?? ''} ${one.metadata.name}"`);
  const commands = [
    ...running.map(
      ({ metadata: { namespace = '', name } }) =>
        `"kubectl -n ${namespace} scale deployment ${name} --replicas=0"`,
    ),
    ...removals,
  ];
  if (commands.length === 0) return [];
  const what =
    running.length > 0
      ? `the controller of kubernetes-sigs/jobset runs in this cluster (${running.map(titleOf).join(', ')}), and two controllers would act on the same JobSets`
      : 'webhooks of the controller of kubernetes-sigs/jobset, which does not run, would refuse every JobSet';
  return [`${what}: run ${commands.join(', ')}; JobSets and their Pods stay`];
}

async function ofUpstream<T extends KubeObject>(
  { client, signal }: Asking,
  of: Resource<T>,
): Promise<readonly Stored<T>[]> {
  const found = new Map<string, Stored<T>>();
  const keep = (one: Stored<T>): void => {
    // Items of lists lack their kind.
    const whole = { ...one, kind: of.kind };
    found.set(titleOf(whole), whole);
  };
  try {
    for (const labelSelector of LABELS) {
      const { items } = await client.list(of, { labelSelector, signal });
      items.forEach(keep);
    }
  } catch (error) {
    // Missing rights to look are reported by the check of rights to create.
    if (!isReason(error, 'Forbidden')) throw error;
  }
  const known = NAMES[of.kind];
  const named =
    known === undefined
      ? undefined
      : await unlessRefused(client.get(of, known, { signal }), 'NotFound', 'Forbidden');
  if (named !== undefined) keep(named);
  return [...found.values()];
}
