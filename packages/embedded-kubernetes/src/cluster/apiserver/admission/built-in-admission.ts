/** The server's own admission of new objects. */
import { quote } from '@lockstep/kube/quote.ts';
import { groupResourceOf } from '@lockstep/kube/resource.ts';
import { failure } from '@lockstep/kube/status.ts';
import { notFound } from '@lockstep/kube/status-errors.ts';
import type { ServerState } from '../calls/server-state.ts';
import { type ApiObject, textAt } from '../resources/api-object.ts';
import type { ResourceTable } from '../resources/resource-table.ts';
import { admitPod, type CreateReview } from './pod-admission.ts';

/** Completes or refuses a new object, beyond what its kind does. Idempotent. */
export function admitNew(server: ServerState, review: CreateReview): ApiObject {
  namespaceLifecycle(server.resources, review);
  const isPod = review.of.group === '' && review.of.plural === 'pods';
  return isPod ? admitPod(server, review) : review.object;
}

/** Objects are created only in namespaces that exist and are there to stay. */
export function namespaceLifecycle(resources: ResourceTable, review: CreateReview): void {
  const { of, namespace, object } = review;
  if (!of.namespaced || namespace === undefined) return;
  const namespaces = resources.core('namespaces');
  const entry = namespaces.collection.get(namespace);
  if (entry === undefined) throw notFound(namespaces, namespace);
  if (textAt(entry.object, 'status', 'phase') !== 'Terminating') return;
  const name = object.metadata.name ?? '';
  const what = `${groupResourceOf(of)} ${quote(name)} is forbidden`;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  throw failure('Forbidden', `${what}: ${why}`, {
    ...(name === '' ? {} : { name }),
    ...(of.group === '' ? {} : { group: of.group }),
    kind: of.plural,
    causes: [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  });
}
