/**
 * Explains a wait of seconds without visible progress in a group that restarts: a Pod is dead for
 * good, and the Job controller of Kubernetes lets some time pass before it makes another.
 */

import { isSuspended } from '../../child-jobs/child-jobs.ts';
import type { Stage } from '../../epoch/in-place-restart.ts';
import type { Members } from '../../roster/members.ts';
import type { Decision } from '../decision.ts';
import type { GroupFacts } from '../facts.ts';

/** Other versions of the operator give the reason in other words, but begin it with these. */
const LACKS_POD = 'lacks a Pod: ';
const WHY =
  'Kubernetes creates another about 10 s after a Pod of a Job failed, and waits longer after each further failure';

/** Says so once for each epoch that ends; the next change of the condition removes it. */
export function reportMissingPods({ status, group, members }: GroupFacts): readonly Decision[] {
  const type = 'RestartingInPlace';
  const restarting = status.conditions?.find((each) => each.type === type);
  if (restarting?.status !== 'True' || restarting.message.includes(LACKS_POD)) return [];
  const job = jobThatLacksPod(group.stages, members);
  if (job === undefined) return [];
  const message = `${restarting.message}; Job ${job} ${LACKS_POD}${WHY}`;
  return [{ conditions: [{ type, status: 'True', reason: restarting.reason, message }] }];
}

/** A Job that has counted the failure and not replaced the Pod. */
function jobThatLacksPod(stages: readonly Stage[], members: Members): string | undefined {
  for (const { jobs, parallelism, isComplete } of stages) {
    if (isComplete) continue;
    for (const job of jobs) {
      const { failed = 0, active = 0, succeeded = 0 } = job.status ?? {};
      const known = members.ofJob(job.metadata.uid);
      const pods = (known?.live ?? 0) + (known?.terminating ?? 0) + (known?.succeeded.size ?? 0);
      const lacks = active + succeeded < parallelism && pods < parallelism;
      if (failed > 0 && lacks && !isSuspended(job)) return job.metadata.name;
    }
  }
  return undefined;
}
