/** Releases Pods that have the Job controller's finalizer although no Job counts them any more. */

import { controllerOf, namespaceOf, type Stored } from '@lockstep/kube/meta.ts';
import { JOBS, type Job } from '@lockstep/kube/objects/job.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { unlessGone } from '@lockstep/kube/runtime/client/unless-refused.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import { isControlledBy, isTracked } from './job-pods.ts';
import { wouldAdopt } from './pod-claims.ts';
import { forEachPod, untrackPod } from './pod-writes.ts';

/**
 * Their Job is gone, or gave them up. Without the finalizer, the garbage collector or a user can
 * delete them.
 */

/** Releases Pods that refer to a Job of this name with another UID. */
export async function releaseStrangers(
  client: Client,
  pods: Iterable<Stored<Pod>>,
  uid: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const strangers: Stored<Pod>[] = [];
  for (const pod of pods) {
    if (!isControlledBy(pod, uid) && isTracked(pod)) strangers.push(pod);
  }
  const [first] = strangers;
  const owner = first === undefined ? undefined : controllerOf(first.metadata);
  if (first === undefined || owner === undefined) return;
  // The cache of Jobs may lag behind the cache of Pods.
  const liveUid = await uidOfJob(client, namespaceOf(first.metadata), owner.name, signal);
  const orphans = strangers.filter((pod) => !isControlledBy(pod, liveUid));
  await forEachPod(orphans, (pod) => untrackPod(client, pod, signal));
}

/** Releases a Pod, by key, unless a Job controls it or is about to adopt it. */
export async function releasePod(
  client: Client,
  caches: { readonly pods: Informer<Pod>; readonly jobs: Informer<Job> },
  key: string,
  signal: AbortSignal,
): Promise<void> {
  const pod = caches.pods.store.get(key);
  if (pod === undefined || controllerOf(pod.metadata) !== undefined) return;
  for (const job of caches.jobs.store.values()) if (wouldAdopt(job, pod)) return;
  await untrackPod(client, pod, signal);
}

/**
 * Reads the Job from the API to confirm that it can still adopt Pods, because the cache may lag.
 */
export async function confirmAdopter(
  client: Client,
  { metadata }: Stored<Job>,
  signal: AbortSignal,
): Promise<boolean> {
  const { namespace = '', name, uid } = metadata;
  const fresh = await unlessGone(client.get(JOBS, { namespace, name }, { signal }));
  return fresh?.metadata.uid === uid && fresh.metadata.deletionTimestamp === undefined;
}

async function uidOfJob(
  client: Client,
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const job = await unlessGone(client.get(JOBS, { namespace, name }, { signal }));
  return job?.metadata.uid;
}
