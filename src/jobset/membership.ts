import { controllerOf, type KubeObject, type Stored } from '../kube/meta.ts';
import { JOBS, type Job } from '../kube/objects/job.ts';
import type { Resource } from '../kube/resource.ts';
import { JOBSETS } from './jobset.ts';
import { JOBSET_NAME, JOBSET_UID } from './names.ts';

/**
 * Who belongs to which JobSet. Everybody who wants to know asks here, because a UID alone proves
 * nothing: any user may write any UID into the owner references of an object of theirs. An owner is
 * in the namespace of its child, and the child's controller reference has its kind, group, name and
 * UID. Whatever differs in one of these is a stranger.
 */
export interface Owner {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** The JobSet that controls an object, or undefined. Whether it exists is another question. */
export function ownerOf(child: KubeObject): Owner | undefined {
  return controllerOfKind(JOBSETS, child);
}

/** The Job that controls a Pod, or undefined. Whether it exists is another question. */
export function jobOf(pod: KubeObject): Owner | undefined {
  return controllerOfKind(JOBS, pod);
}

export function identityOf({ metadata }: Stored<KubeObject>): Owner {
  return { namespace: metadata.namespace ?? '', name: metadata.name, uid: metadata.uid };
}

/** Under which maps and indexes hold what an owner has. */
export function ownerKey({ namespace, name, uid }: Owner): string {
  return `${namespace}/${name}/${uid}`;
}

export function isSame(a: Owner | undefined, b: Owner): boolean {
  return a !== undefined && ownerKey(a) === ownerKey(b);
}

/** Whether this very JobSet controls the object. */
export function isChildOf(child: KubeObject, jobSet: Stored<KubeObject>): boolean {
  return isSame(ownerOf(child), identityOf(jobSet));
}

/** Whether this very Job controls the Pod. */
export function isPodOf(pod: KubeObject, job: Stored<KubeObject>): boolean {
  return isSame(jobOf(pod), identityOf(job));
}

export type Membership =
  /** The owner is known: Pod, Job and JobSet are one chain within one namespace. */
  | { readonly kind: 'Member'; readonly job: Stored<Job>; readonly jobSet: Owner }
  /**
   * The owner is not known: the Job is gone or has not arrived here yet, and labels say what the Pod
   * was made for. It may still be running something, so that it may delay a release; it ends,
   * completes and fills nothing.
   */
  | { readonly kind: 'Claimant'; readonly jobSet: Owner }
  | { readonly kind: 'Stranger'; readonly problem: string };

/** `jobWithUid` finds a Job in whatever namespace it is. */
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

/** Whether a Pod says of itself that it is one of the JobSet's Jobs; whether that Job exists is another question. */
export function claims(pod: KubeObject, jobSet: Stored<KubeObject>): boolean {
  return jobOf(pod) !== undefined && isSame(labelledOwner(pod), identityOf(jobSet));
}

/** The JobSet that the labels of an object name, in its own namespace. */
export function labelledOwner({ metadata }: KubeObject): Owner | undefined {
  const uid = metadata.labels?.[JOBSET_UID];
  const name = metadata.labels?.[JOBSET_NAME];
  if (uid === undefined || name === undefined) return undefined;
  return { namespace: metadata.namespace ?? '', name, uid };
}

function controllerOfKind({ kind, group }: Resource, { metadata }: KubeObject): Owner | undefined {
  const owner = controllerOf(metadata);
  if (owner?.kind !== kind || !owner.apiVersion.startsWith(`${group}/`)) return undefined;
  return { namespace: metadata.namespace ?? '', name: owner.name, uid: owner.uid };
}

function stranger(problem: string): Membership {
  return { kind: 'Stranger', problem };
}
