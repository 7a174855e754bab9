/** Decides whether and why a Job fails. */
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import type { InterimCondition } from './conditions.ts';
import type { Counting } from './counting.ts';
import { hasEnded, hasFailed } from './job-pods.ts';
import { judgeFailedPod } from './pod-failure-policy.ts';

/**
 * Reasons in this order: the Pod failure policy, too many failed Pods, too many restarts of
 * containers under `restartPolicy: OnFailure`, the deadline, failed indexes.
 */
export interface Evidence {
  readonly job: Job;
  readonly counting: Counting;
  /** Pods whose end can still be read. */
  readonly pods: readonly Stored<Pod>[];
  readonly nowMs: number;
}

export function judge({ job, counting, pods, nowMs }: Evidence): InterimCondition | undefined {
  const type = 'FailureTarget';
  const fatal = failJobMessage(job, pods);
  if (fatal !== undefined) return { type, reason: 'PodFailurePolicy', message: fatal };
  const limit = job.spec.backoffLimit ?? DEFAULT_BACKOFF_LIMIT;
  if (counting.failed > limit || isBeyondRestarts(job, pods, limit)) {
    const message = 'Job has reached the specified backoff limit';
    return { type, reason: 'BackoffLimitExceeded', message };
  }
  if (remainingDeadlineMs(job, nowMs) === 0) {
    const message = 'Job was active longer than specified deadline';
    return { type, reason: 'DeadlineExceeded', message };
  }
  return failureOfIndexes(job, counting);
}

function failJobMessage(job: Job, pods: readonly Stored<Pod>[]): string | undefined {
  if (job.spec.podFailurePolicy === undefined) return undefined;
  for (const pod of pods) {
    if (!hasFailed(job, pod)) continue;
    const { action, message } = judgeFailedPod(job, pod);
    if (action === 'FailJob') return message;
  }
  return undefined;
}

function failureOfIndexes({ spec }: Job, counting: Counting): InterimCondition | undefined {
  const type = 'FailureTarget';
  const { failed } = counting.indexFailures;
  if (failed.size === 0) return undefined;
  if (failed.size > (spec.maxFailedIndexes ?? Number.POSITIVE_INFINITY)) {
    const message = 'Job has exceeded the specified maximal number of failed indexes';
    return { type, reason: 'MaxFailedIndexesExceeded', message };
  }
  const isOver = counting.completedIndexes.size + failed.size >= (spec.completions ?? 0);
  return isOver ? { type, reason: 'FailedIndexes', message: 'Job has failed indexes' } : undefined;
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

/** Restarts in Pods that are being deleted count too, until these Pods have ended. */
function isBeyondRestarts(job: Job, pods: readonly Pod[], limit: number): boolean {
  if (job.spec.template.spec.restartPolicy !== 'OnFailure') return false;
  let restarts = 0;
  for (const pod of pods) {
    if (hasEnded(pod)) continue;
    const { status } = pod;
    const containers = [
      ...(status?.initContainerStatuses ?? []),
      ...(status?.containerStatuses ?? []),
    ];
    for (const container of containers) restarts += container.restartCount;
  }
  return limit === 0 ? restarts > 0 : restarts >= limit;
}
