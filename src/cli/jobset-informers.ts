/** Follows one JobSet and its Pods. */

import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { createInformer } from '@lockstep/kube/runtime/informer/create-informer.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { Random } from '@lockstep/kube/runtime/ports/random.ts';
import { JOBSETS, type JobSet } from '../jobset/jobset.ts';
import { JOBSET_NAME } from '../jobset/names.ts';

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
