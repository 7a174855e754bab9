/** Empties namespaces that are being deleted. */

import type { PartialObjectMetadata, Stored } from '@lockstep/kube/meta.ts';
import { NAMESPACES, type Namespace } from '@lockstep/kube/objects/core.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { forEachConcurrently } from '@lockstep/kube/runtime/concurrency.ts';
import {
  type ReconcileResult,
  startController,
} from '@lockstep/kube/runtime/controller/controller.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import type { MeasuredPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { type DiscoveredResource, discoverResources } from '../discovery.ts';

/**
 * Deletes everything of every resource in the discovery documents, and removes the finalizer
 * `kubernetes` once nothing is left. It waits for objects with finalizers, which their own
 * controllers have to remove.
 */
export interface NamespaceControllerOptions extends MeasuredPorts {
  readonly namespaces: Informer<Namespace>;
}

const WORKERS = 2;
const DELETIONS_IN_FLIGHT = 20;
const LIST_PAGE_SIZE = 500;
/** How soon to look again while objects are being deleted. */
const RECHECK_MS = 500;
/** In `spec.finalizers` of every namespace. */
const FINALIZER = 'kubernetes';

export function startNamespaceController(options: NamespaceControllerOptions): {
  stop(): Promise<void>;
} {
  const controller = startController({
    ...options,
    name: 'namespace',
    workers: WORKERS,
    reconcile: (name, signal) => reconcile(options, name, signal),
  });
  const enqueue = ({ metadata }: Stored<Namespace>): void => {
    if (metadata.deletionTimestamp !== undefined) controller.enqueue(metadata.name);
  };
  options.namespaces.subscribe({ added: enqueue, updated: enqueue });
  return { stop: () => controller.stop() };
}

async function reconcile(
  { client, namespaces }: NamespaceControllerOptions,
  name: string,
  signal: AbortSignal,
): Promise<ReconcileResult | undefined> {
  const namespace = namespaces.store.get(name);
  const finalizers = namespace?.spec?.finalizers ?? [];
  if (namespace?.metadata.deletionTimestamp === undefined) return undefined;
  if (!finalizers.includes(FINALIZER)) return undefined;
  let remaining = 0;
  for (const resource of (await discoverResources(client, signal)).filter(isContent)) {
    remaining += await deleteAll(client, resource, name, signal);
  }
  if (remaining > 0) return { requeueAfterMs: RECHECK_MS };
  const spec = { ...namespace.spec, finalizers: finalizers.filter((each) => each !== FINALIZER) };
  try {
    const finalized = { ...namespace, spec };
    await client.update(NAMESPACES, finalized, { subresource: 'finalize', signal });
  } catch (error) {
    if (!isReason(error, 'NotFound')) throw error;
  }
  return undefined;
}

function isContent({ namespaced, verbs }: DiscoveredResource): boolean {
  return namespaced && verbs.includes('list') && verbs.includes('delete');
}

/** Deletes every object that is not in deletion yet, and returns the number of all. */
async function deleteAll(
  client: Client,
  resource: Resource,
  namespace: string,
  signal: AbortSignal,
): Promise<number> {
  let count = 0;
  let next: string | undefined;
  do {
    const paging = next === undefined ? {} : { continue: next };
    const options = { namespace, limit: LIST_PAGE_SIZE, ...paging, signal };
    const page = await client.listMetadata(resource, options);
    count += page.items.length;
    const staying = page.items.filter((item) => item.metadata.deletionTimestamp === undefined);
    await forEachConcurrently(staying, DELETIONS_IN_FLIGHT, (item) =>
      deleteOne(client, resource, item, signal),
    );
    next = page.metadata.continue || undefined;
  } while (next !== undefined);
  return count;
}

async function deleteOne(
  client: Client,
  resource: Resource,
  { metadata }: Stored<PartialObjectMetadata>,
  signal: AbortSignal,
): Promise<void> {
  const { name, namespace = '', uid } = metadata;
  const preconditions = { uid };
  try {
    const options = { preconditions, propagationPolicy: 'Background', signal } as const;
    await client.delete(resource, { name, namespace }, options);
  } catch (error) {
    if (!isReason(error, 'NotFound', 'Conflict')) throw error;
  }
}
