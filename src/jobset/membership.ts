/** Decides which objects belong to which JobSet. */
import {
  controllerOf,
  type KubeObject,
  namespaceOf,
  type OwnerReference,
  type Stored,
} from '@lockstep/kube/meta.ts';
import { JOBS, type Job } from '@lockstep/kube/objects/job.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import { JOBSETS } from './jobset.ts';
import { JOBSET_API_VERSION, JOBSET_NAME, JOBSET_UID } from './names.ts';

/**
 * Every membership check is here, because a UID alone proves nothing: any user may write any UID
 * into the owner references of an object. An owner is in the namespace of its child, and the
 * child's controller reference has its kind, group, name and UID. If one of these differs, the
 * child is a stranger.
 */
export interface Owner {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** The JobSet that controls an object, or undefined. It may not exist. */
export function ownerOf(child: KubeObject): Owner | undefined {
  return controllerOfKind(JOBSETS, child);
}

/** The Job that controls a Pod, or undefined. It may not exist. */
export function jobOf(pod: KubeObject): Owner | undefined {
  return controllerOfKind(JOBS, pod);
}

export function identityOf({ metadata }: Stored<KubeObject>): Owner {
  return { namespace: namespaceOf(metadata), name: metadata.name, uid: metadata.uid };
}

/** The key under which maps and indexes hold an owner's objects. */
export function ownerKey({ namespace, name, uid }: Owner): string {
  return `${namespace}/${name}/${uid}`;
}

export function isSame(a: Owner | undefined, b: Owner): boolean {
  return a?.uid === b.uid && a.name === b.name && a.namespace === b.namespace;
}

/** Whether this JobSet, by UID, controls the object. */
export function isChildOf(child: KubeObject, jobSet: Stored<KubeObject>): boolean {
  return isSame(ownerOf(child), identityOf(jobSet));
}

/** Whether this Job, by UID, controls the Pod. */
export function isPodOf(pod: KubeObject, job: Stored<KubeObject>): boolean {
  return isSame(jobOf(pod), identityOf(job));
}

export type Membership =
  /** The owner is known: Pod, Job and JobSet are one chain within one namespace. */
  | { readonly kind: 'Member'; readonly job: Stored<Job>; readonly jobSet: Owner }
  /**
   * The owner is unknown: the Job is gone or has not arrived here yet, but labels name the Pod's
   * JobSet. The Pod may be running, so it may delay a release; it has no other effect.
   */
  | { readonly kind: 'Claimant'; readonly jobSet: Owner }
  | { readonly kind: 'Stranger'; readonly problem: string };

/** `jobWithUid` finds a Job in any namespace. */
export function membershipOf(
  pod: KubeObject,
  jobWithUid: (uid: string) => Stored<Job> | undefined,
): Membership {
  const named = jobOf(pod);
  if (named === undefined) return stranger('the Pod belongs to no Job');
  const job = jobWithUid(named.uid);
  if (job === undefined) {
    const jobSet = labelledOwner(pod);
    return jobSet === undefined
      ? stranger('the Job of the Pod is unknown, and labels name no JobSet')
      : { kind: 'Claimant', jobSet };
  }
  if (!isSame(named, identityOf(job))) {
    return stranger('the Job of the Pod has another name or is in another namespace');
  }
  const jobSet = ownerOf(job);
  return jobSet === undefined
    ? stranger('the Job of the Pod belongs to no JobSet')
    : { kind: 'Member', job, jobSet };
}

/** Whether a Pod claims to belong to a Job of the JobSet, which may not exist. */
export function claims(pod: KubeObject, jobSet: Stored<KubeObject>): boolean {
  return jobOf(pod) !== undefined && isSame(labelledOwner(pod), identityOf(jobSet));
}

/** The JobSet that the labels of an object name, in its own namespace. */
export function labelledOwner({ metadata }: KubeObject): Owner | undefined {
  const uid = metadata.labels?.[JOBSET_UID];
  const name = metadata.labels?.[JOBSET_NAME];
  if (uid === undefined || name === undefined) return undefined;
  return { namespace: namespaceOf(metadata), name, uid };
}

function controllerOfKind({ kind, group }: Resource, { metadata }: KubeObject): Owner | undefined {
  const owner = controllerOf(metadata);
  if (owner?.kind !== kind || !owner.apiVersion.startsWith(`${group}/`)) return undefined;
  return { namespace: namespaceOf(metadata), name: owner.name, uid: owner.uid };
}

function stranger(problem: string): Membership {
  return { kind: 'Stranger', problem };
}

export interface JobSetIdentity {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
}

export function ownerReferenceTo(jobSet: JobSetIdentity): OwnerReference {
  return {
    apiVersion: JOBSET_API_VERSION,
    kind: JOBSETS.kind,
    name: jobSet.name,
    uid: jobSet.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}
