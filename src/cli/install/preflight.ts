/**
 * Checks before Lockstep is installed: a server that knows every kind of the manifest, no other
 * controller of JobSets, and the rights to create everything. Each problem says what to do about
 * it.
 */

import type { KubeObject, Stored } from '@lockstep/kube/meta.ts';
import { namespaceOf } from '@lockstep/kube/meta.ts';
import { NAMESPACES } from '@lockstep/kube/objects/core.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '@lockstep/kube/objects/custom-resource-definition.ts';
import { groupResourceOf, type Resource } from '@lockstep/kube/resource.ts';
import type { Client, ObjectKey } from '@lockstep/kube/runtime/client/client.ts';
import { unlessRefused } from '@lockstep/kube/runtime/client/unless-refused.ts';
import { ApiStatusError } from '@lockstep/kube/status.ts';
import { SERVICE_MONITORS } from '../../deploy/kinds.ts';
import type { Installed } from '../../deploy/settings.ts';
import { JOBSETS } from '../../jobset/jobset.ts';
import {
  MUTATING_CONFIGURATION_NAME,
  VALIDATING_CONFIGURATION_NAME,
} from '../../operator/webhooks/webhook-configurations.ts';
import { judgeVersion } from '../kubernetes-versions.ts';
import { readWebhooks } from '../webhook-configurations.ts';
import { FIELD_MANAGER, isOurDefinition, keyOf, titleOf } from './objects.ts';
import { otherController } from './other-controller.ts';

export interface PreflightOptions {
  readonly client: Client;
  readonly serverVersion: string;
  readonly objects: readonly Installed[];
  /** Whether the definition of another controller may be replaced by ours. */
  readonly replaceCrd: boolean;
  /** Whether the controller of upstream stays, and acts on all other JobSets. */
  readonly onlyManaged?: boolean;
  readonly signal: AbortSignal;
}

export interface Preflight {
  /** If there is a problem, nothing is installed. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

export async function preflight(options: PreflightOptions): Promise<Preflight> {
  const { serverVersion } = options;
  const { problem, notes } = judgeVersion(serverVersion);
  const runs = `the API server runs Kubernetes ${serverVersion}`;
  if (problem !== undefined) return { problems: [`${runs}; ${problem}`], warnings: [] };
  const definitions = await otherDefinition(options);
  const others = [
    ...(options.onlyManaged ? [] : await otherController(options)),
    ...(await joinedNodes(options)),
    ...definitions,
  ];
  // The definition of another controller is a problem already, whatever the server says of ours.
  const objects =
    definitions.length > 0
      ? options.objects.filter(({ of }) => of.kind !== CUSTOM_RESOURCE_DEFINITIONS.kind)
      : options.objects;
  const problems = [...others, ...(await refusals({ ...options, objects }))];
  return { problems, warnings: notes.map((note) => `${runs}; ${note}`) };
}

/** Webhooks at a URL belong to an operator on a user's machine. */
async function joinedNodes(options: PreflightOptions): Promise<readonly string[]> {
  const webhooks = await readWebhooks(options.client, options.signal, 'Forbidden');
  const url = webhooks.map(({ clientConfig }) => clientConfig.url).find((one) => one !== undefined);
  if (url === undefined) return [];
  return [
    `the operator of "lockstep up --kubeconfig" or "lockstep demo --kubeconfig" serves this cluster (its webhooks are at ${new URL(url).host}): end that command first, or delete MutatingWebhookConfiguration ${MUTATING_CONFIGURATION_NAME} and ValidatingWebhookConfiguration ${VALIDATING_CONFIGURATION_NAME} if it was killed`,
  ];
}

async function otherDefinition(options: PreflightOptions): Promise<readonly string[]> {
  const name = groupResourceOf(JOBSETS);
  const crd = await found(options, CUSTOM_RESOURCE_DEFINITIONS, { name });
  if (crd === undefined && options.onlyManaged && !options.replaceCrd) {
    return [
      `there is no CustomResourceDefinition ${name}, which --only-managed leaves to the controller of kubernetes-sigs/jobset: install that first, add --replace-crd to install our definition, or omit --only-managed to run Lockstep alone`,
    ];
  }
  if (crd === undefined || isOurDefinition(crd)) return [];
  const foreign = (crd.status?.storedVersions ?? []).filter(
    (version) => version !== JOBSETS.version,
  );
  if (foreign.length > 0) {
    return [
      `CustomResourceDefinition ${name} of another controller has stored JobSets as ${foreign.join(', ')}, and only ${JOBSETS.version} is served here: migrate them to ${JOBSETS.version} first and remove the other versions from its status.storedVersions, or delete the definition together with its JobSets`,
    ];
  }
  if (options.replaceCrd || options.onlyManaged) return [];
  const versions = crd.spec.versions.map((version) => version.name).join(', ');
  return [
    `CustomResourceDefinition ${name} (${versions}) belongs to another controller: --replace-crd replaces it with ours, which has all of its fields; JobSets stay`,
  ];
}

/** Dry-runs all objects: what is refused now would be refused then. */
async function refusals({ client, objects, signal }: PreflightOptions): Promise<readonly string[]> {
  const problems = new Set<string>();
  const made = new Set(
    objects
      .filter(({ of }) => of.kind === NAMESPACES.kind)
      .map(({ object }) => object.metadata.name),
  );
  const forbidden: string[] = [];
  let who = 'you';
  for (const { of, object } of objects) {
    const patch = {
      type: 'apply',
      patch: object,
      fieldManager: FIELD_MANAGER,
      force: true,
      dryRun: 'All',
    } as const;
    try {
      await client.patch(of, keyOf(object), patch, { signal });
    } catch (error) {
      if (!(error instanceof ApiStatusError)) throw error;
      if (error.code === 404 && error.status.details?.kind === 'namespaces') {
        const { namespace = '' } = object.metadata;
        if (!made.has(namespace))
          problems.add(`namespace ${namespace} does not exist: create it first`);
        continue;
      }
      if (isTerminating(error)) problems.add(terminating(object));
      else if (error.code === 403) {
        forbidden.push(titleOf(object));
        who = /User "([^"]*)"/.exec(error.message)?.[1] ?? who;
      } else problems.add(refusal(of, object, error));
    }
  }
  if (forbidden.length > 0) problems.add(withoutRights(who, forbidden));
  return [...problems];
}

/** A namespace takes no new objects while it is being deleted. */
function isTerminating({ status }: ApiStatusError): boolean {
  return status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') === true;
}

function terminating({ metadata }: KubeObject): string {
  return `namespace ${namespaceOf(metadata)} is being deleted: try again when it is gone`;
}

function withoutRights(who: string, objects: readonly string[]): string {
  return `${who} may not create ${objects.join(', ')}: to install you need the rights of a cluster administrator (ClusterRole cluster-admin)`;
}

function refusal(of: Resource, object: KubeObject, error: ApiStatusError): string {
  const what = titleOf(object);
  if (error.code === 415) {
    return 'this API server has no server-side apply (Kubernetes 1.22 or later)';
  }
  if (error.code === 404) {
    const advice =
      of.group === SERVICE_MONITORS.group
        ? ': install the Prometheus operator first, or omit --monitoring'
        : '';
    return `${what}: this API server does not know ${groupResourceOf(of)}${advice}`;
  }
  return `${what}: ${error.message}`;
}

/** Missing rights to look are reported by the check of rights to create. */
function found<T extends KubeObject>(
  { client, signal }: PreflightOptions,
  of: Resource<T>,
  at: ObjectKey,
): Promise<Stored<T> | undefined> {
  return unlessRefused(client.get(of, at, { signal }), 'NotFound', 'Forbidden');
}
