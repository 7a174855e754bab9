import type { DefaultedSpec } from '../defaults.ts';

/**
 * Whether the Jobs that succeeded complete the JobSet. A JobSet that asks for no Job at all has
 * nothing left to do, so it is complete; upstream lets it run for ever. `succeeded` is their number
 * by ReplicatedJob.
 */
export function meetsSuccessPolicy(
  spec: Pick<DefaultedSpec, 'replicatedJobs' | 'successPolicy'>,
  succeeded: ReadonlyMap<string, number>,
): boolean {
  const { operator, targetReplicatedJobs = [] } = spec.successPolicy;
  const targets = new Set(targetReplicatedJobs);
  let expected = 0;
  let reached = 0;
  for (const { name, replicas } of spec.replicatedJobs) {
    if (targets.size > 0 && !targets.has(name)) continue;
    expected += replicas;
    reached += succeeded.get(name) ?? 0;
  }
  switch (operator) {
    case 'All':
      return reached >= expected;
    case 'Any':
      return reached >= Math.min(1, expected);
  }
}
