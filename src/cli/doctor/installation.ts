/** Where the operator is, and whether each part of its installation is well. */

import {
  MUTATING_WEBHOOK_CONFIGURATIONS,
  type Webhook,
} from '@lockstep/kube/objects/admission-webhooks.ts';
import { CLUSTER_ROLE_BINDINGS } from '@lockstep/kube/objects/rbac.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { unlessGone } from '@lockstep/kube/runtime/client/unless-refused.ts';
import { DEPLOYMENTS, type Deployment } from '../../deploy/kinds.ts';
import { manifest } from '../../deploy/manifest.ts';
import { OPERATOR_NAME } from '../../deploy/permissions.ts';
import {
  DEFAULT_NAMESPACE,
  defaultSettings,
  type InstallationSettings,
} from '../../deploy/settings.ts';
import { readConfiguration } from '../../operator/configuration/configuration.ts';
import { MUTATING_CONFIGURATION_NAME } from '../../operator/webhooks/webhook-configurations.ts';
import { type HealthFinding, installationHealth } from '../install/health.ts';
import { fromArguments } from '../install/kept-objects.ts';
import { type Asking, checkOf, type Fact, type Finding, fact, ifKnown } from './finding.ts';
import { readSettings } from './settings.ts';

const TOPIC = 'Lockstep';

/** Where an operator is. */
export type OperatorHome =
  /** A process of `lockstep up`, whose webhooks are at this host. */
  | { readonly type: 'Process'; readonly host: string }
  | { readonly type: 'Cluster'; readonly namespace: string };

/** Follows what names the namespace of an operator; the usual one if nothing does. */
export async function findOperator(
  client: Client,
  asking: Asking,
  given: string | undefined,
): Promise<OperatorHome> {
  const configuration = await fact(asking, 'get the webhook configuration', (signal) =>
    client.get(MUTATING_WEBHOOK_CONFIGURATIONS, { name: MUTATING_CONFIGURATION_NAME }, { signal }),
  );
  const webhooks: readonly Webhook[] =
    'value' in configuration ? (configuration.value.webhooks ?? []) : [];
  for (const { clientConfig } of webhooks) {
    if (clientConfig.url !== undefined && URL.canParse(clientConfig.url)) {
      return { type: 'Process', host: new URL(clientConfig.url).host };
    }
  }
  if (given !== undefined) return { type: 'Cluster', namespace: given };
  const service = webhooks.map(({ clientConfig }) => clientConfig.service).find(Boolean);
  if (service !== undefined) return { type: 'Cluster', namespace: service.namespace };
  const binding = await fact(asking, 'get the role binding of the operator', (signal) =>
    client.get(CLUSTER_ROLE_BINDINGS, { name: OPERATOR_NAME }, { signal }),
  );
  const [subject] = 'value' in binding ? binding.value.subjects : [];
  const bound = subject !== undefined && 'namespace' in subject ? subject.namespace : undefined;
  return { type: 'Cluster', namespace: bound ?? DEFAULT_NAMESPACE };
}

/** It elects no leader. That it answers, a dry run of a JobSet shows. */
export function processFindings(host: string): readonly Finding[] {
  const text = `the operator is a process of "lockstep up" or "lockstep demo"; its webhooks are at ${host}`;
  return [checkOf(TOPIC, 'operator').ok(text)];
}

export interface Installation {
  readonly namespace: string;
  /** As far as the operator that runs shows them. */
  readonly settings: InstallationSettings;
  readonly health: Fact<readonly HealthFinding[]>;
}

export async function readInstallation(
  client: Client,
  asking: Asking,
  namespace: string,
  version: string,
): Promise<Installation> {
  const settings = await asInstalled(client, asking, { ...defaultSettings(version), namespace });
  const health = await fact(asking, 'read the installation', (signal) =>
    installationHealth({
      client,
      settings,
      objects: manifest(settings),
      nowMs: asking.clock.now(),
      signal,
      mayLackRights: true,
    }),
  );
  return { namespace, settings, health };
}

/** Lets the file and the arguments of the existing operator decide what is expected. */
async function asInstalled(
  client: Client,
  asking: Asking,
  settings: InstallationSettings,
): Promise<InstallationSettings> {
  const at = { namespace: settings.namespace, name: OPERATOR_NAME };
  const read = await fact(asking, 'get the Deployment of the operator', (signal) =>
    unlessGone(client.get(DEPLOYMENTS, at, { signal })),
  );
  const operator: Deployment | undefined = 'value' in read ? read.value : undefined;
  const file = await readSettings(client, asking, settings.namespace);
  const configuration = readConfiguration(('value' in file ? file.value : undefined) ?? '');
  const told = fromArguments(operator);
  return {
    ...settings,
    ...('given' in configuration && { configuration: configuration.given }),
    ...told,
    definition: !told.onlyManaged,
  };
}

/** Names that stay, by part. */
const CHECKS: Readonly<Record<string, string>> = {
  objects: 'objects',
  'JobSet API': 'jobset-api',
  operator: 'operator',
  leader: 'leader',
  webhooks: 'webhooks',
};

export function installationFindings({ namespace, health }: Installation): readonly Finding[] {
  return ifKnown(health, checkOf(TOPIC, 'objects'), (parts) =>
    parts.map((part) => findingOf(part, namespace)),
  );
}

function findingOf({ part, problem, unread = [] }: HealthFinding, namespace: string): Finding {
  const check = CHECKS[part] ?? part;
  const about = checkOf(TOPIC, check);
  if (problem !== undefined) {
    return about.problem(problem, FIXES[check]?.(namespace));
  }
  const [first, ...others] = unread;
  if (first === undefined) return about.ok(WELL[check] ?? 'ok');
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return about.unknown(`you may not get ${first}${more}`);
}

const WELL: Readonly<Record<string, string>> = {
  objects: 'all objects of the installation are there',
  'jobset-api': 'the API server serves JobSets',
  operator: 'all replicas of the operator are available',
  leader: 'a replica leads',
  webhooks: 'API servers trust the webhooks',
};

const FIXES: Readonly<Record<string, (namespace: string) => string>> = {
  objects: (namespace) => `lockstep install -n ${namespace}`,
  'jobset-api': (namespace) => `lockstep install -n ${namespace}`,
  operator: (namespace) =>
    `kubectl -n ${namespace} describe pods; kubectl -n ${namespace} logs deployment/${OPERATOR_NAME}`,
  leader: (namespace) => `kubectl -n ${namespace} logs deployment/${OPERATOR_NAME}`,
  webhooks: (namespace) => `kubectl -n ${namespace} logs deployment/${OPERATOR_NAME}`,
};
