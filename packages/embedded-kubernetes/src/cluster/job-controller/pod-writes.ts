/** The Job controller's writes to Pods. */

import { defined } from '@lockstep/kube/json/defined.ts';
import type { ObjectMeta, Stored } from '@lockstep/kube/meta.ts';
import { JOB_TRACKING_FINALIZER, type Job } from '@lockstep/kube/objects/job.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { unlessGone } from '@lockstep/kube/runtime/client/unless-refused.ts';
import { forEachConcurrently } from '@lockstep/kube/runtime/concurrency.ts';
import { failure, isReason } from '@lockstep/kube/status.ts';
import type { JobPlan } from './plan.ts';
import { podFromTemplate, referenceToJob } from './pod-template.ts';

/** A Pod that is already gone satisfies every write. */

/** Requests of one Job in flight. */
const MAX_WRITES_IN_FLIGHT = 50;

/**
 * Removes our finalizer from this Pod, identified by UID, if it is at the position that the cache
 * shows.
 */
export async function untrackPod(client: Client, pod: Stored<Pod>, signal: AbortSignal) {
  const { name, namespace, uid, finalizers } = pod.metadata;
  const position = finalizers?.indexOf(JOB_TRACKING_FINALIZER) ?? -1;
  if (position < 0) return;
  const path = `/metadata/finalizers/${position}`;
  const operations = [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'test', path, value: JOB_TRACKING_FINALIZER },
    { op: 'remove', path },
  ] as const;
  const at = { name, ...defined({ namespace }) };
  try {
    await client.patch(PODS, at, { type: 'json', operations }, { signal });
  } catch (error) {
    if (isReason(error, 'NotFound')) return;
    // A test in the patch failed: the cache is behind.
    const isStale = isReason(error, 'Invalid');
    throw isStale ? failure('Conflict', `Pod ${name} has changed`) : error;
  }
}

/**
 * Makes the Pod the Job's own; undefined if it is gone. A Pod that has changed meanwhile is a
 * conflict.
 */
export async function adoptPod(
  client: Client,
  pod: Stored<Pod>,
  job: Stored<Job>,
  signal: AbortSignal,
): Promise<Stored<Pod> | undefined> {
  const { ownerReferences = [], finalizers = [] } = pod.metadata;
  return rewrite(client, pod, signal, {
    ownerReferences: [...ownerReferences, referenceToJob(job)],
    finalizers: [...new Set([...finalizers, JOB_TRACKING_FINALIZER])],
  });
}

/** Releases the Pod, uncounted. */
export async function disownPod(
  client: Client,
  pod: Stored<Pod>,
  job: Stored<Job>,
  signal: AbortSignal,
): Promise<void> {
  const { ownerReferences = [], finalizers = [] } = pod.metadata;
  await rewrite(client, pod, signal, {
    ownerReferences: ownerReferences.filter((owner) => owner.uid !== job.metadata.uid),
    finalizers: finalizers.filter((finalizer) => finalizer !== JOB_TRACKING_FINALIZER),
  });
}

async function rewrite(
  client: Client,
  { metadata }: Stored<Pod>,
  signal: AbortSignal,
  change: Pick<ObjectMeta, 'ownerReferences' | 'finalizers'>,
): Promise<Stored<Pod> | undefined> {
  const { name, namespace = '', uid, resourceVersion } = metadata;
  const patch = { metadata: { uid, resourceVersion, ...change } };
  const written = client.patch(PODS, { namespace, name }, { type: 'merge', patch }, { signal });
  return unlessGone(written);
}

export async function deletePod(client: Client, pod: Stored<Pod>, signal: AbortSignal) {
  const { name, namespace, uid } = pod.metadata;
  const at = { name, ...defined({ namespace }) };
  try {
    await client.delete(PODS, at, { preconditions: { uid }, signal });
  } catch (error) {
    if (!isReason(error, 'NotFound', 'Conflict')) throw error;
  }
}

/**
 * Creates one Pod for each index, in batches of 1, 2, 4, ... so that a creation that cannot succeed
 * is tried only once. Rejects with the first failure of a batch, after the batch.
 */
export async function createPods(
  client: Client,
  job: Stored<Job>,
  { created: indexes, replaced }: Pick<JobPlan, 'created' | 'replaced'>,
  created: (pod: Stored<Pod>) => void,
  signal: AbortSignal,
): Promise<void> {
  for (let start = 0, size = 1; start < indexes.length; start += size, size *= 2) {
    const batch = indexes.slice(start, start + size);
    await forEachConcurrently(batch, MAX_WRITES_IN_FLIGHT, async (index) => {
      const pod = podFromTemplate(job, index, replaced.get(index ?? -1));
      created(await client.create(PODS, pod, { signal }));
    });
  }
}

export function forEachPod(
  pods: readonly Stored<Pod>[],
  write: (pod: Stored<Pod>) => Promise<void>,
): Promise<void> {
  return forEachConcurrently(pods, MAX_WRITES_IN_FLIGHT, write);
}
