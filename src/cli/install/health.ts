/**
 * The health of an installation: one line for each part, with what is wrong and, if a person can
 * fix it, how.
 */

import type { KubeObject, Stored } from '@lockstep/kube/meta.ts';
import type { Webhook } from '@lockstep/kube/objects/admission-webhooks.ts';
import { NAMESPACES } from '@lockstep/kube/objects/core.ts';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  type CustomResourceDefinition,
} from '@lockstep/kube/objects/custom-resource-definition.ts';
import { LEASES, type Lease } from '@lockstep/kube/objects/lease.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { unlessGone } from '@lockstep/kube/runtime/client/unless-refused.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { DEPLOYMENTS, type Deployment } from '../../deploy/kinds.ts';
import { OPERATOR_NAME } from '../../deploy/permissions.ts';
import type { InstallationSettings, Installed } from '../../deploy/settings.ts';
import { ONLY_MANAGED_LEASE } from '../../operator/configuration/object-names.ts';
import { settingValues } from '../../operator/configuration/setting-values.ts';
import { WEBHOOK_CONFIGURATIONS } from '../webhook-configurations.ts';
import { keyOf, titleOf } from './objects.ts';

export interface HealthFinding {
  readonly part: string;
  /** Undefined: all is well, as far as it could be read. */
  readonly problem: string | undefined;
  /** The objects that the user may not read; then nothing is known of the rest. */
  readonly unread?: readonly string[];
}

export interface HealthOptions {
  readonly client: Client;
  readonly settings: InstallationSettings;
  readonly objects: readonly Installed[];
  readonly nowMs: number;
  readonly signal: AbortSignal;
  /** Whether objects that the user may not read are reported as `unread`, and not thrown as errors. */
  readonly mayLackRights?: boolean;
}

/** Rejects only if the API server does not answer or does not let us look. */
export async function installationHealth(
  options: HealthOptions,
): Promise<readonly HealthFinding[]> {
  const { found: objects, unread } = await readAll(options);
  const missing = options.objects
    .map(({ object }) => titleOf(object))
    .filter((title) => !objects.has(title) && !unread.includes(title));
  const [first] = missing;
  const telling = options.objects.filter(isTelling).map(({ object }) => titleOf(object));
  if (!telling.some((title) => objects.has(title))) {
    if (telling.some((title) => unread.includes(title))) {
      return [{ part: 'objects', problem: undefined, unread }];
    }
    return [{ part: 'objects', problem: 'Lockstep is not installed: run "lockstep install"' }];
  }
  const ofKind = ({ kind }: Resource): readonly string[] =>
    unread.filter((title) => title.startsWith(`${kind} `));
  const unlessUnread = (
    part: string,
    of: readonly Resource[],
    judge: () => HealthFinding,
  ): HealthFinding => {
    const needed = of.flatMap(ofKind);
    return needed.length > 0 ? { part, problem: undefined, unread: needed } : judge();
  };
  return [
    {
      part: 'objects',
      problem:
        first === undefined
          ? undefined
          : `missing: ${missing.join(', ')}: run "lockstep install" again`,
      ...(unread.length > 0 && { unread }),
    },
    ...(options.settings.definition
      ? [unlessUnread('JobSet API', [CUSTOM_RESOURCE_DEFINITIONS], () => definition(objects))]
      : []),
    ofKind(DEPLOYMENTS).length > 0
      ? { part: 'operator', problem: undefined, unread: ofKind(DEPLOYMENTS) }
      : await deployment(options, objects),
    await leader(options),
    ...(options.settings.webhooks
      ? [unlessUnread('webhooks', WEBHOOKS, () => webhooks(objects))]
      : []),
  ];
}

const WEBHOOKS = WEBHOOK_CONFIGURATIONS.map(([of]) => of);

/** A namespace may be older than an installation, and the definition of JobSet outlives it. */
function isTelling({ of }: Installed): boolean {
  return of.kind !== NAMESPACES.kind && of.kind !== CUSTOM_RESOURCE_DEFINITIONS.kind;
}

/** The existing objects, by title. */
type Found = ReadonlyMap<string, Stored<KubeObject>>;

async function readAll(
  options: HealthOptions,
): Promise<{ readonly found: Found; readonly unread: readonly string[] }> {
  const { client, objects, signal, mayLackRights = false } = options;
  const found = new Map<string, Stored<KubeObject>>();
  const unread: string[] = [];
  await Promise.all(
    objects.map(async ({ of, object }) => {
      try {
        const stored = await unlessGone(client.get(of, keyOf(object), { signal }));
        if (stored !== undefined) found.set(titleOf(object), stored);
      } catch (error) {
        if (!mayLackRights || !isReason(error, 'Forbidden')) throw error;
        unread.push(titleOf(object));
      }
    }),
  );
  return { found, unread };
}

function only<T extends KubeObject>(objects: Found, of: Resource<T>): Stored<T> | undefined {
  for (const object of objects.values()) {
    // Each object was read by its own resource.
    if (object.kind === of.kind) return object as Stored<T>;
  }
  return undefined;
}

function definition(objects: Found): HealthFinding {
  const part = 'JobSet API';
  const crd = only<CustomResourceDefinition>(objects, CUSTOM_RESOURCE_DEFINITIONS);
  const conditions = crd?.status?.conditions ?? [];
  if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) {
    return { part, problem: undefined };
  }
  const told = conditions.filter(({ status }) => status === 'False').map(({ message }) => message);
  return { part, problem: told.join('; ') || 'not served yet' };
}

async function deployment(options: HealthOptions, objects: Found): Promise<HealthFinding> {
  const part = 'operator';
  const found = only<Deployment>(objects, DEPLOYMENTS);
  if (found === undefined) return { part, problem: 'there is no Deployment' };
  const { generation = 0 } = found.metadata;
  const {
    observedGeneration = 0,
    replicas = 0,
    updatedReplicas = 0,
    availableReplicas = 0,
  } = found.status ?? {};
  const isDone = observedGeneration >= generation && replicas > 0 && availableReplicas >= replicas;
  if (isDone && updatedReplicas >= replicas) return { part, problem: undefined };
  const why = await podProblems(options);
  const count = `${availableReplicas} of ${Math.max(replicas, 1)} replicas are available`;
  return { part, problem: [count, ...why].join('; ') };
}

/** An operator has two replicas; more Pods are remains of failed ones. */
const MAX_PODS = 50;
const OPERATOR_PODS = 'app.kubernetes.io/name=lockstep,app.kubernetes.io/component=operator';

/** Why Pods do not run, each reason once. */
async function podProblems(options: HealthOptions): Promise<readonly string[]> {
  const { client, settings, signal, mayLackRights = false } = options;
  const of = { namespace: settings.namespace, labelSelector: OPERATOR_PODS, limit: MAX_PODS };
  try {
    const { items } = await client.list(PODS, { ...of, signal });
    return [...new Set(items.flatMap(podProblem))];
  } catch (error) {
    if (!mayLackRights || !isReason(error, 'Forbidden')) throw error;
    return [];
  }
}

function podProblem({ metadata, status }: Stored<Pod>): readonly string[] {
  if (metadata.deletionTimestamp !== undefined) return [];
  const unscheduled = status?.conditions?.find(
    (one) => one.type === 'PodScheduled' && one.status === 'False',
  );
  if (unscheduled !== undefined) return [`not scheduled: ${unscheduled.message ?? ''}`];
  return (status?.containerStatuses ?? []).flatMap(({ state, ready, lastState }) => {
    if (state?.waiting !== undefined) {
      const { reason = '', message = '' } = state.waiting;
      const exit = lastState?.terminated?.exitCode;
      const ended = exit === undefined ? '' : `, it ended with exit code ${exit}: see its log`;
      return [`${reason}: ${message}${ended}`];
    }
    return ready === true ? [] : ['it runs but is not ready: see /readyz and its log'];
  });
}

async function leader(options: HealthOptions): Promise<HealthFinding> {
  const { client, settings, nowMs, signal, mayLackRights = false } = options;
  const part = 'leader';
  const at = {
    namespace: settings.namespace,
    name: settings.onlyManaged
      ? ONLY_MANAGED_LEASE
      : settingValues(settings.configuration).leaderElectionId,
  };
  let lease: Lease | undefined;
  try {
    lease = await unlessGone(client.get(LEASES, at, { signal }));
  } catch (error) {
    if (!mayLackRights || !isReason(error, 'Forbidden')) throw error;
    return { part, problem: undefined, unread: [`Lease ${at.namespace}/${at.name}`] };
  }
  const { holderIdentity = '', renewTime = '', leaseDurationSeconds = 0 } = lease?.spec ?? {};
  if (holderIdentity === '') return { part, problem: 'no replica leads yet' };
  const endsMs = Date.parse(renewTime) + leaseDurationSeconds * 1000;
  if (endsMs > nowMs) return { part, problem: undefined };
  return { part, problem: `${holderIdentity} led until ${renewTime}, and no replica leads now` };
}

function webhooks(objects: Found): HealthFinding {
  const part = 'webhooks';
  const configured = WEBHOOKS.flatMap(
    (of): readonly Webhook[] =>
      only<KubeObject & { readonly webhooks?: readonly Webhook[] }>(objects, of)?.webhooks ?? [],
  );
  const isTrusted = configured.every(({ clientConfig }) => (clientConfig.caBundle ?? '') !== '');
  if (isTrusted && configured.length > 0) return { part, problem: undefined };
  return { part, problem: `${OPERATOR_NAME} has not published its authority for API servers yet` };
}
