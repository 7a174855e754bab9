/** Counts the Jobs of each ReplicatedJob by state. */
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { DefaultedReplicatedJob } from '../defaults.ts';
import type { ReplicatedJobStatus } from '../jobset-status.ts';
import { type ChildJobs, replicatedJobOf } from './child-jobs.ts';

/**
 * The counts in upstream's order: by name, descending. Fields that do not count Jobs come from `old`.
 */
export function replicatedJobsStatus(
  replicatedJobs: readonly DefaultedReplicatedJob[],
  jobs: ChildJobs,
  old: readonly ReplicatedJobStatus[],
): readonly ReplicatedJobStatus[] {
  const counts = new Map(replicatedJobs.map(({ name }) => [name, { ...ZERO }]));
  const count = (list: readonly Job[], each: (counter: Counter, job: Job) => void): void => {
    for (const job of list) {
      const counter = counts.get(replicatedJobOf(job) ?? '');
      if (counter !== undefined) each(counter, job);
    }
  };
  count(jobs.active, (counter, job) => {
    if (isReady(job)) counter.ready++;
    if ((job.status?.active ?? 0) > 0) counter.active++;
    if (job.spec.suspend === true) counter.suspended++;
  });
  count(jobs.successful, (counter) => counter.succeeded++);
  for (const [name, indexes] of jobs.gone) {
    const counter = counts.get(name);
    if (counter !== undefined) counter.succeeded += indexes.size;
  }
  count(jobs.failed, (counter) => counter.failed++);

  const kept = new Map(old.map((status) => [status.name, status]));
  return [...counts]
    .sort(([a], [b]) => (a < b ? 1 : -1))
    .map(([name, counter]) => ({ ...kept.get(name), name, ...counter }));
}

/** True if every Job is ready or has succeeded, and there is at least one. */
export function allJobsReady(
  replicatedJobs: readonly DefaultedReplicatedJob[],
  statuses: readonly ReplicatedJobStatus[],
): boolean {
  const expected = replicatedJobs.reduce((sum, { replicas }) => sum + replicas, 0);
  return statuses.reduce((sum, each) => sum + each.ready + each.succeeded, 0) === expected;
}

type Counter = {
  -readonly [K in 'ready' | 'succeeded' | 'failed' | 'active' | 'suspended']: number;
};

const ZERO: Counter = { ready: 0, succeeded: 0, failed: 0, active: 0, suspended: 0 };

function isReady({ spec, status }: Job): boolean {
  const parallelism = spec.parallelism ?? 1;
  const wanted = Math.min(parallelism, spec.completions ?? parallelism);
  return (status?.succeeded ?? 0) + (status?.ready ?? 0) >= wanted;
}
