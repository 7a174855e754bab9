/** Reads Pods: one by its UID, or the Pods of a JobSet by phase, page by page. */

import type { PartialObjectMetadata, Stored } from '@lockstep/kube/meta.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { allPages } from '@lockstep/kube/runtime/client/pages.ts';
import { unlessGone } from '@lockstep/kube/runtime/client/unless-refused.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import { claims } from '../../jobset/membership.ts';
import { JOBSET_UID } from '../../jobset/names.ts';
import type { PodFacts } from '../../jobset/roster/pod-facts.ts';

/** Field selector of living Pods: a Pod that has not ended may be running something. */
export const LIVING = 'status.phase!=Failed,status.phase!=Succeeded';
export const SUCCEEDED = 'status.phase=Succeeded';

/** Pods of one request. */
const PAGE_SIZE = 500;

/** Reads from storage: a request without a version gets no answer from a cache. */
export async function podsOf(
  { namespace = '', uid }: Pick<Stored<JobSet>['metadata'], 'namespace' | 'uid'>,
  fieldSelector: string,
  client: Client,
  signal: AbortSignal,
): Promise<readonly Stored<PartialObjectMetadata>[]> {
  return allPages((next) =>
    client.listMetadata(PODS, {
      namespace,
      labelSelector: `${JOBSET_UID}=${uid}`,
      fieldSelector,
      limit: PAGE_SIZE,
      ...next,
      signal,
    }),
  );
}

/** A Pod that is not on a node yet, or that has a container that has not started. */
export async function firstPending(
  jobSet: Stored<JobSet>,
  client: Client,
  signal: AbortSignal,
): Promise<Stored<Pod> | undefined> {
  const { namespace = '', uid } = jobSet.metadata;
  const { items } = await client.list(PODS, {
    namespace,
    labelSelector: `${JOBSET_UID}=${uid}`,
    fieldSelector: 'status.phase=Pending',
    limit: 1,
    signal,
  });
  return items.find((pod) => claims(pod, jobSet));
}

/** Undefined if the Pod is gone, even if another one has its name. */
export async function readPod(
  { namespace, name, uid }: Pick<PodFacts, 'namespace' | 'name' | 'uid'>,
  client: Client,
  signal: AbortSignal,
): Promise<Stored<Pod> | undefined> {
  const pod = await unlessGone(client.get(PODS, { namespace, name }, { signal }));
  return pod?.metadata.uid === uid ? pod : undefined;
}
