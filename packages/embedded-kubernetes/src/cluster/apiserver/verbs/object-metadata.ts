/** The fields of metadata that the server owns. */

import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import { defined } from '@lockstep/kube/json/defined.ts';
import type { ObjectMeta } from '@lockstep/kube/meta.ts';
import { timeText } from '@lockstep/kube/time.ts';
import { type ApiObject, type StoredObject, withMembers } from '../resources/api-object.ts';
import type { ServedResource } from '../resources/served-resource.ts';

/**
 * The metadata of a new object, with the server's fields set and those that clients may not set
 * removed.
 */
export function newMetadata(
  of: ServedResource,
  given: ObjectMeta,
  server: {
    readonly name: string;
    readonly namespace: string | undefined;
    readonly uid: string;
    readonly nowMs: number;
  },
): ObjectMeta {
  const { labels, annotations, ownerReferences, finalizers, generateName, managedFields } = given;
  return {
    name: server.name,
    ...defined({ generateName }),
    ...(of.namespaced && server.namespace !== undefined ? { namespace: server.namespace } : {}),
    uid: server.uid,
    ...(of.strategy.countsGeneration ? { generation: 1 } : {}),
    creationTimestamp: timeText(server.nowMs),
    ...defined({ labels, annotations, ownerReferences, finalizers, managedFields }),
  };
}

/** The metadata of an updated object before validation: absent server fields keep their value. */
export function updatedMetadata(given: ObjectMeta, old: StoredObject['metadata']): ObjectMeta {
  return withMembers(
    {
      ...given,
      name: given.name ?? old.name,
      uid: given.uid ?? old.uid,
      creationTimestamp: given.creationTimestamp ?? old.creationTimestamp,
    },
    {
      namespace: given.namespace ?? old.namespace,
      resourceVersion: undefined,
      generation: old.generation,
      deletionTimestamp: old.deletionTimestamp,
      deletionGracePeriodSeconds: old.deletionGracePeriodSeconds,
    },
  );
}

/** `object`, with its generation increased if something changed that counts. */
export function withGeneration(
  of: ServedResource,
  object: ApiObject,
  old: StoredObject,
): ApiObject {
  if (!of.strategy.countsGeneration || sameDesire(of, object, old)) return object;
  const generation = (old.metadata.generation ?? 0) + 1;
  return { ...object, metadata: { ...object.metadata, generation } };
}

export function hasStatus(of: ServedResource): boolean {
  return of.subresources.some(({ name }) => name === 'status');
}

/** Compares the desired state: everything but metadata and, if it is a subresource, status. */
function sameDesire(of: ServedResource, object: ApiObject, old: StoredObject): boolean {
  const aside = { metadata: undefined, ...(hasStatus(of) ? { status: undefined } : {}) };
  return deepEqual(withMembers(object, aside), withMembers(old, aside));
}

/** Whether two states of an object differ in nothing but their resourceVersion. */
export function isUnchanged(object: ApiObject, old: StoredObject): boolean {
  return deepEqual(
    { ...object, metadata: withMembers(object.metadata, { resourceVersion: undefined }) },
    { ...old, metadata: withMembers(old.metadata, { resourceVersion: undefined }) },
  );
}
