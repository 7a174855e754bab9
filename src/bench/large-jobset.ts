/** A minimal JobSet of any size. */
import { typeMetaOf } from '@lockstep/kube/resource.ts';
import { JOBSETS, type JobSet } from '../jobset/jobset.ts';

export const NAMESPACE = 'default';
export const NAME = 'bench';

export function jobSetOf(replicatedJobs: number, replicas: number): JobSet {
  const template = { spec: { containers: [{ name: 'worker', image: 'none' }] } };
  return {
    ...typeMetaOf(JOBSETS),
    metadata: { name: NAME, namespace: NAMESPACE },
    spec: {
      replicatedJobs: Array.from({ length: replicatedJobs }, (_, i) => ({
        name: `w${i}`,
        replicas,
        template: { spec: { parallelism: 1, completions: 1, template } },
      })),
    },
  };
}
