/** Follows one JobSet and its Pods. */
import { JOBSETS, type JobSet } from '../jobset/jobset.ts';
import { JOBSET_NAME } from '../jobset/names.ts';
import { PODS, type Pod } from '../kube/objects/pod.ts';
import type { Client } from '../runtime/client/client.ts';
import { createInformer } from '../runtime/informer/create-informer.ts';
import type { Informer } from '../runtime/informer/informer.ts';
import type { Clock } from '../runtime/ports/clock.ts';
import { SILENT } from '../runtime/ports/logger.ts';
import type { Random } from '../runtime/ports/random.ts';

/** The informers may hold Pods of other owners with its label. */
export interface JobSetInformers {
  /** At most one. */
  readonly jobSets: Informer<JobSet>;
  readonly pods: Informer<Pod>;
}

export function createJobSetInformers(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  {
    client,
    clock,
    random,
  }: { readonly client: Client; readonly clock: Clock; readonly random: Random },
): JobSetInformers {
  const common = { client, clock, random, logger: SILENT, namespace };
  return {
    jobSets: createInformer({
      ...common,
      resource: JOBSETS,
      fieldSelector: `metadata.name=${name}`,
    }),
    pods: createInformer({ ...common, resource: PODS, labelSelector: `${JOBSET_NAME}=${name}` }),
  };
}
