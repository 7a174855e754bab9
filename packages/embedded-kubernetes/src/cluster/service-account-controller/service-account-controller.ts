/** Gives every namespace what its Pods need to reach the API. */

import type { KubeObject, Stored } from '@lockstep/kube/meta.ts';
import {
  CONFIG_MAPS,
  type ConfigMap,
  type Namespace,
  SERVICE_ACCOUNTS,
  type ServiceAccount,
} from '@lockstep/kube/objects/core.ts';
import { type Resource, typeMetaOf } from '@lockstep/kube/resource.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { startController } from '@lockstep/kube/runtime/controller/controller.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import type { MeasuredPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import { isReason } from '@lockstep/kube/status.ts';

/**
 * Keeps the ServiceAccount `default`, and the ConfigMap `kube-root-ca.crt` with the authority of
 * the API server's certificate, in every namespace.
 */
export interface ServiceAccountControllerOptions extends MeasuredPorts {
  readonly namespaces: Informer<Namespace>;
  /** Only those named `default`. */
  readonly serviceAccounts: Informer<ServiceAccount>;
  /** Only those named `kube-root-ca.crt`. */
  readonly rootCertificates: Informer<ConfigMap>;
  /** PEM. */
  readonly rootCertificate: string;
}

export const DEFAULT_SERVICE_ACCOUNT = 'default';
export const ROOT_CERTIFICATE_CONFIG_MAP = 'kube-root-ca.crt';
const WORKERS = 2;

export function startServiceAccountController(options: ServiceAccountControllerOptions): {
  stop(): Promise<void>;
} {
  const controller = startController({
    ...options,
    name: 'serviceaccount',
    workers: WORKERS,
    reconcile: (namespace, signal) => reconcile(options, namespace, signal),
  });
  const enqueue = ({ metadata }: Stored<KubeObject>): void =>
    controller.enqueue(metadata.namespace ?? metadata.name);
  options.namespaces.subscribe({ added: enqueue });
  options.serviceAccounts.subscribe({ deleted: enqueue });
  options.rootCertificates.subscribe({ updated: enqueue, deleted: enqueue });
  return { stop: () => controller.stop() };
}

async function reconcile(
  options: ServiceAccountControllerOptions,
  namespace: string,
  signal: AbortSignal,
): Promise<void> {
  const { client, namespaces, serviceAccounts, rootCertificates, rootCertificate } = options;
  const { metadata } = namespaces.store.get(namespace) ?? {};
  if (metadata === undefined || metadata.deletionTimestamp !== undefined) return;
  if (serviceAccounts.store.get(`${namespace}/${DEFAULT_SERVICE_ACCOUNT}`) === undefined) {
    const account = objectOf(SERVICE_ACCOUNTS, namespace, DEFAULT_SERVICE_ACCOUNT);
    await createIfAbsent(client, SERVICE_ACCOUNTS, account, signal);
  }
  const data = { 'ca.crt': rootCertificate };
  const published = rootCertificates.store.get(`${namespace}/${ROOT_CERTIFICATE_CONFIG_MAP}`);
  if (published === undefined) {
    const empty = objectOf(CONFIG_MAPS, namespace, ROOT_CERTIFICATE_CONFIG_MAP);
    await createIfAbsent(client, CONFIG_MAPS, { ...empty, data }, signal);
  } else if (published.data?.['ca.crt'] !== rootCertificate) {
    await client.update(CONFIG_MAPS, { ...published, data }, { signal });
  }
}

function objectOf(of: Resource, namespace: string, name: string): KubeObject {
  return { ...typeMetaOf(of), metadata: { namespace, name } };
}

async function createIfAbsent<T extends KubeObject>(
  client: Client,
  of: Resource<T>,
  object: T,
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.create(of, object, { signal });
  } catch (error) {
    // Forbidden or NotFound: the namespace is being deleted, or is gone.
    if (!isReason(error, 'AlreadyExists', 'Forbidden', 'NotFound')) throw error;
  }
}
