import type { Job } from '../../kube/job.ts';
import type { Pod } from '../../kube/pod.ts';
import type { Verdict } from './conditions.ts';
import type { Counting } from './counting.ts';
import type { LivePods } from './pod-count.ts';

/**
 * Why a Job fails (spec container-restart-and-jobs.md, 7.3): too many failed Pods, too many restarts
 * of containers under `restartPolicy: OnFailure`, or its deadline.
 */
export interface Evidence {
  readonly job: Job;
  readonly counting: Counting;
  readonly live: LivePods;
  readonly nowMs: number;
}

export function judge({ job, counting, live, nowMs }: Evidence): Verdict | undefined {
  const type = 'FailureTarget';
  const limit = job.spec.backoffLimit ?? DEFAULT_BACKOFF_LIMIT;
  if (counting.failed > limit || isBeyondRestarts(job, live.active, limit)) {
    const message = 'Job has reached the specified backoff limit';
    return { type, reason: 'BackoffLimitExceeded', message };
  }
  if (remainingDeadlineMs(job, nowMs) === 0) {
    const message = 'Job was active longer than specified deadline';
    return { type, reason: 'DeadlineExceeded', message };
  }
  return undefined;
}

/** How long the Job may still be active; undefined without a deadline and while suspended. */
export function remainingDeadlineMs(job: Job, nowMs: number): number | undefined {
  const { activeDeadlineSeconds, suspend } = job.spec;
  const startTime = job.status?.startTime;
  if (activeDeadlineSeconds === undefined || startTime === undefined || suspend === true) {
    return undefined;
  }
  return Math.max(0, Date.parse(startTime) + activeDeadlineSeconds * 1000 - nowMs);
}

/** The API server's default. */
const DEFAULT_BACKOFF_LIMIT = 6;

function isBeyondRestarts(job: Job, active: readonly Pod[], limit: number): boolean {
  if (job.spec.template.spec.restartPolicy !== 'OnFailure') return false;
  let restarts = 0;
  for (const { status } of active) {
    const containers = [
      ...(status?.initContainerStatuses ?? []),
      ...(status?.containerStatuses ?? []),
    ];
    for (const container of containers) restarts += container.restartCount;
  }
  return limit === 0 ? restarts > 0 : restarts >= limit;
}
