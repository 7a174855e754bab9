/** Detects objects that claim an owner in another namespace. */
import type { KubeObject, OwnerReference, Stored } from '@lockstep/kube/meta.ts';
import { JOBS } from '@lockstep/kube/objects/job.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import { JOBSETS } from './jobset.ts';
import { identityOf } from './membership.ts';
import { JOBSET_UID } from './names.ts';

/** Finds an object by UID in any namespace. */
export interface KnownOwners {
  jobSetWithUid(uid: string): Stored<KubeObject> | undefined;
  jobWithUid(uid: string): Stored<KubeObject> | undefined;
}

/**
 * Describes a false owner reference; undefined if there is none, or it may be true. A reference to an
 * unknown owner is not false: the owner is gone, and the garbage collector has not seen that yet.
 * The text does not reveal where the real owner is.
 */
export function foreignClaim(object: KubeObject, known: KnownOwners): string | undefined {
  const { namespace = '', ownerReferences = [], labels } = object.metadata;
  for (const reference of ownerReferences) {
    const owner = referredTo(reference, known);
    if (owner === undefined) continue;
    const { kind, name, uid } = reference;
    const is = identityOf(owner);
    if (is.namespace !== namespace || is.name !== name) {
      return `its owner reference to ${kind} ${name} (${uid}) matches none in namespace ${namespace}; ${IGNORED}`;
    }
  }
  const uid = labels?.[JOBSET_UID];
  const jobSet = uid === undefined ? undefined : known.jobSetWithUid(uid);
  if (jobSet === undefined || identityOf(jobSet).namespace === namespace) return undefined;
  return `its label ${JOBSET_UID} is ${uid}, which is no JobSet of namespace ${namespace}; ${IGNORED}`;
}

const IGNORED =
  'an owner must be in the same namespace and match by name and UID, so Lockstep ignores this object';

function referredTo(
  reference: OwnerReference,
  { jobSetWithUid, jobWithUid }: KnownOwners,
): Stored<KubeObject> | undefined {
  if (isTo(JOBSETS, reference)) return jobSetWithUid(reference.uid);
  return isTo(JOBS, reference) ? jobWithUid(reference.uid) : undefined;
}

function isTo({ kind, group }: Resource, reference: OwnerReference): boolean {
  return reference.kind === kind && reference.apiVersion.startsWith(`${group}/`);
}
