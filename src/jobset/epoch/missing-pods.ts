/**
 * Says why a group that restarts waits for seconds with nothing to see: a Pod is dead for good, and the
 * Job controller of Kubernetes lets some time pass before it makes another.
 */
import { isSuspended } from '../child-jobs/suspend.ts';
import type { Planning } from '../planning.ts';
import type { Stage } from './in-place-restart.ts';
import type { Members } from './members.ts';

const WHY =
  'Kubernetes creates another about 10 s after a Pod of a Job failed, and waits longer after each further failure';

/** Once for each epoch that ends; the next change of the condition takes it away. */
export function reportMissingPods({
  snapshot,
  draft,
  stages,
}: Pick<Planning, 'snapshot' | 'draft' | 'stages'>): void {
  const restarting = draft.status.conditions?.find(({ type }) => type === 'RestartingInPlace');
  if (stages === undefined || restarting?.status !== 'True') return;
  const { reason, message } = restarting;
  if (message.endsWith(WHY)) return;
  const job = jobThatLacksPod(stages.stages, snapshot.members);
  if (job === undefined) return;
  draft.condition(
    {
      type: 'RestartingInPlace',
      status: 'True',
      reason,
      message: `${message}; Job ${job} lacks a Pod: ${WHY}`,
    },
    'None',
  );
}

/** One that has counted the failure and not made up for it. */
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
