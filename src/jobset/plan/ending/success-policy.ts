/** When the Jobs that succeeded complete the JobSet. */
import { succeededCounts } from '../../child-jobs/succeeded-jobs.ts';
import type { DefaultedSpec } from '../../defaults.ts';
import { willSucceed } from '../../epoch/stages.ts';
import { type Decision, LAST } from '../decision.ts';
import type { Facts } from '../facts.ts';
import { tidyUp } from '../jobs/tidying.ts';
import { completed } from '../records/terminal-state.ts';

export function complete(facts: Facts): readonly Decision[] {
  const { spec, children } = facts;
  const succeeded = succeededCounts(children.successful, children.gone);
  const isIdle = spec.suspend && [...succeeded.values()].every((count) => count === 0);
  if (isIdle || !meetsSuccessPolicy(spec, succeeded)) return [];
  return [completed(), ...tidyUp(facts), LAST];
}

/** Whether the policy will be met when the Job controller has counted the successes. */
export function isSuccessNear({ spec, children, members }: Facts): boolean {
  const near = succeededCounts(willSucceed(children, members), children.gone);
  return meetsSuccessPolicy(spec, near);
}

/**
 * Whether the Jobs that succeeded complete the JobSet. A JobSet without any Jobs is complete,
 * because it has nothing left to do; upstream lets it run for ever. `succeeded` is their number by
 * ReplicatedJob.
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
