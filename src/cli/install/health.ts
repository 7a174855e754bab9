/**
 * The health of an installation: one line for each part, with what is wrong and, if a person can
 * fix it, how.
 */
import { DEPLOYMENTS, type Deployment } from '../../deploy/kinds.ts';
import { OPERATOR_NAME } from '../../deploy/permissions.ts';
import type { InstallationSettings, Installed } from '../../deploy/settings.ts';
import type { KubeObject, Stored } from '../../kube/meta.ts';
import {
  MUTATING_WEBHOOK_CONFIGURATIONS,
  VALIDATING_WEBHOOK_CONFIGURATIONS,
  type Webhook,
} from '../../kube/objects/admission-webhooks.ts';
import { NAMESPACES } from '../../kube/objects/core.ts';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  type CustomResourceDefinition,
} from '../../kube/objects/custom-resource-definition.ts';
import { LEASES } from '../../kube/objects/lease.ts';
import { PODS, type Pod } from '../../kube/objects/pod.ts';
import type { Resource } from '../../kube/resource.ts';
import { isReason } from '../../kube/status.ts';
import { LEADER_ELECTION_ID } from '../../operator/configuration/object-names.ts';
import type { Client, ObjectKey } from '../../runtime/client/client.ts';
import { keyOf, titleOf } from './objects.ts';

export interface Finding {
  readonly part: string;
  /** Undefined: all is well. */
  readonly problem: string | undefined;
}

export interface HealthOptions {
  readonly client: Client;
  readonly settings: InstallationSettings;
  readonly objects: readonly Installed[];
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

/** Rejects only if the API server does not answer or does not let us look. */
export async function installationHealth(options: HealthOptions): Promise<readonly Finding[]> {
  const objects = await readAll(options);
  const missing = options.objects
    .filter(({ object }) => !objects.has(titleOf(object)))
    .map(({ object }) => titleOf(object));
  const [first] = missing;
  if (!options.objects.some((one) => isTelling(one) && objects.has(titleOf(one.object)))) {
    return [{ part: 'objects', problem: 'Lockstep is not installed: run "lockstep install"' }];
  }
  return [
    {
      part: 'objects',
      problem:
        first === undefined
          ? undefined
          : `missing: ${missing.join(', ')}: run "lockstep install" again`,
    },
    definition(objects),
    await deployment(options, objects),
    await leader(options),
    ...(options.settings.webhooks ? [webhooks(objects)] : []),
  ];
}

/** A namespace may be older than an installation, and the definition of JobSet outlives it. */
function isTelling({ of }: Installed): boolean {
  return of.kind !== NAMESPACES.kind && of.kind !== CUSTOM_RESOURCE_DEFINITIONS.kind;
}

/** The existing objects, by title. */
type Found = ReadonlyMap<string, Stored<KubeObject>>;

async function readAll({ client, objects, signal }: HealthOptions): Promise<Found> {
  const all = await Promise.all(
    objects.map(({ of, object }) => read(client, of, keyOf(object), signal)),
  );
  return new Map(
    all.flatMap((object) => (object === undefined ? [] : [[titleOf(object), object]])),
  );
}

async function read<T extends KubeObject>(
  client: Client,
  of: Resource<T>,
  at: ObjectKey,
  signal: AbortSignal,
): Promise<Stored<T> | undefined> {
  try {
    return await client.get(of, at, { signal });
  } catch (error) {
    if (isReason(error, 'NotFound')) return undefined;
    throw error;
  }
}

function only<T extends KubeObject>(objects: Found, of: Resource<T>): Stored<T> | undefined {
  for (const object of objects.values()) {
    // Each object was read by its own resource.
    if (object.kind === of.kind) return object as Stored<T>;
  }
  return undefined;
}

function definition(objects: Found): Finding {
  const part = 'JobSet API';
  const crd = only<CustomResourceDefinition>(objects, CUSTOM_RESOURCE_DEFINITIONS);
  const conditions = crd?.status?.conditions ?? [];
  if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) {
    return { part, problem: undefined };
  }
  const told = conditions.filter(({ status }) => status === 'False').map(({ message }) => message);
  return { part, problem: told.join('; ') || 'not served yet' };
}

async function deployment(options: HealthOptions, objects: Found): Promise<Finding> {
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

const OPERATOR_PODS = 'app.kubernetes.io/name=lockstep,app.kubernetes.io/component=operator';

/** Why Pods do not run, each reason once. */
async function podProblems({
  client,
  settings,
  signal,
}: HealthOptions): Promise<readonly string[]> {
  const { items } = await client.list(PODS, {
    namespace: settings.namespace,
    labelSelector: OPERATOR_PODS,
    signal,
  });
  return [...new Set(items.flatMap(podProblem))];
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

async function leader({ client, settings, nowMs, signal }: HealthOptions): Promise<Finding> {
  const part = 'leader';
  const at = { namespace: settings.namespace, name: LEADER_ELECTION_ID };
  const lease = await read(client, LEASES, at, signal);
  const { holderIdentity = '', renewTime = '', leaseDurationSeconds = 0 } = lease?.spec ?? {};
  if (holderIdentity === '') return { part, problem: 'no replica leads yet' };
  const endsMs = Date.parse(renewTime) + leaseDurationSeconds * 1000;
  if (endsMs > nowMs) return { part, problem: undefined };
  return { part, problem: `${holderIdentity} led until ${renewTime}, and no replica leads now` };
}

function webhooks(objects: Found): Finding {
  const part = 'webhooks';
  const configured = [MUTATING_WEBHOOK_CONFIGURATIONS, VALIDATING_WEBHOOK_CONFIGURATIONS].flatMap(
    (of): readonly Webhook[] =>
      only<KubeObject & { readonly webhooks?: readonly Webhook[] }>(objects, of)?.webhooks ?? [],
  );
  const isTrusted = configured.every(({ clientConfig }) => (clientConfig.caBundle ?? '') !== '');
  if (isTrusted && configured.length > 0) return { part, problem: undefined };
  return { part, problem: `${OPERATOR_NAME} has not published its authority for API servers yet` };
}
