/** Reads Jobs of a JobSet that the cache saw before the JobSet, and so kept without their spec. */
import type { Stored } from '../../kube/meta.ts';
import { JOBS, type Job } from '../../kube/objects/job.ts';
import { isReason } from '../../kube/status.ts';
import type { Client } from '../../runtime/client/client.ts';
import { withoutManagedFields } from '../../runtime/informer/create-informer.ts';
import type { ChildJobMemory } from '../tracking/child-job-memory.ts';

/** One request for each: it is rare, and the events that follow bring them whole. */
export async function readWholeJobs(
  memory: ChildJobMemory,
  cached: Iterable<Stored<Job>>,
  client: Client,
  signal: AbortSignal,
): Promise<void> {
  for (const { metadata } of memory.toRead(cached)) {
    const { name, namespace = '', uid } = metadata;
    try {
      const job = await client.get(JOBS, { namespace, name }, { signal });
      if (job.metadata.uid === uid) memory.hasRead(withoutManagedFields(job));
    } catch (error) {
      if (!isReason(error, 'NotFound')) throw error;
    }
  }
}
