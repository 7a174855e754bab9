import type { Job } from '../kube/job.ts';
import { replicatedJobOf } from './child-jobs.ts';
import type { DefaultedSpec } from './defaults.ts';

/**
 * Whether the Jobs that succeeded complete the JobSet (spec 4.10). A JobSet that asks for no Job at
 * all has nothing left to do, so it is complete; upstream lets it run for ever.
 */
export function meetsSuccessPolicy(
  spec: Pick<DefaultedSpec, 'replicatedJobs' | 'successPolicy'>,
  successful: readonly Job[],
): boolean {
  const targets = spec.successPolicy.targetReplicatedJobs ?? [];
  const isTarget = (name: string): boolean => targets.length === 0 || targets.includes(name);
  const expected = spec.replicatedJobs
    .filter(({ name }) => isTarget(name))
    .reduce((sum, { replicas }) => sum + replicas, 0);
  const succeeded = successful.filter((job) => {
    const name = replicatedJobOf(job);
    return name !== undefined && isTarget(name);
  }).length;
  switch (spec.successPolicy.operator) {
    case 'All':
      return succeeded >= expected;
    case 'Any':
      return succeeded >= Math.min(1, expected);
  }
}
