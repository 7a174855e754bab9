/** Which Pods of a JobSet the operator lists, and how: by phase, from storage, page by page. */
import type { JobSet } from '../../jobset/jobset.ts';
import { JOBSET_UID } from '../../jobset/names.ts';
import type { PartialObjectMetadata, Stored } from '../../kube/meta.ts';
import { PODS } from '../../kube/objects/pod.ts';
import type { Client } from '../../runtime/client/client.ts';
import { allPages } from '../../runtime/client/pages.ts';

/** Field selector of living Pods: a Pod that has not ended may be running something. */
export const LIVING = 'status.phase!=Failed,status.phase!=Succeeded';
export const SUCCEEDED = 'status.phase=Succeeded';

/** Pods of one request. */
const PAGE_SIZE = 500;

/** Reads from storage: without a version no cache answers. */
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
