import { JOBS } from '../../kube/job.ts';
import { controllerOf, type Stored } from '../../kube/meta.ts';
import type { Pod } from '../../kube/pod.ts';
import { isReason } from '../../kube/status.ts';
import type { Client } from '../../runtime/client.ts';
import type { Informer } from '../../runtime/informer.ts';
import { isControlledBy, isTracked, jobKeyOf } from './job-pods.ts';
import { forEachPod, untrackPod } from './pod-writes.ts';

/**
 * Pods that wear the Job controller's finalizer although no Job counts them any more: the Job is
 * gone, or was told to leave them. Without the finalizer they can be deleted, by the garbage
 * collector or by whoever wants to.
 */

/** Releases those of a Job's Pods that are not the Pods of the Job with this UID. */
export async function releaseStrangers(
  client: Client,
  pods: readonly Stored<Pod>[],
  uid: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const strangers = pods.filter((pod) => isTracked(pod) && !isControlledBy(pod, uid));
  const [first] = strangers;
  const owner = first === undefined ? undefined : controllerOf(first.metadata);
  if (first === undefined || owner === undefined) return;
  // The cache of Jobs may lag behind that of Pods.
  const liveUid = await uidOfJob(client, first.metadata.namespace ?? '', owner.name, signal);
  const orphans = strangers.filter((pod) => !isControlledBy(pod, liveUid));
  await forEachPod(orphans, (pod) => untrackPod(client, pod, signal));
}

/** Releases a Pod, by key, if no Job controls it. */
export async function releasePod(
  { client, pods }: { readonly client: Client; readonly pods: Informer<Pod> },
  key: string,
  signal: AbortSignal,
): Promise<void> {
  const pod = pods.store.get(key);
  if (pod !== undefined && jobKeyOf(pod) === undefined) await untrackPod(client, pod, signal);
}

async function uidOfJob(
  client: Client,
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    return (await client.get(JOBS, { namespace, name }, { signal })).metadata.uid;
  } catch (error) {
    if (isReason(error, 'NotFound')) return undefined;
    throw error;
  }
}
