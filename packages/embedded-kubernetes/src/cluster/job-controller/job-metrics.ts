/** The metrics of the Job controller. */

import { type IndexSet, parseIndexSet } from '@lockstep/kube/index-set.ts';
import { externalManager, type Job, type JobStatus } from '@lockstep/kube/objects/job.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import type { Metrics } from '@lockstep/kube/runtime/metrics.ts';
import { NO_METRICS } from '@lockstep/kube/runtime/no-metrics.ts';
import { trueCondition } from './conditions.ts';
import { hasEnded, isIndexed, isTracked } from './job-pods.ts';
import type { PodFailureAction } from './pod-failure-policy.ts';

/**
 * They have the names and labels of kube-controller-manager's, so that dashboards and alerts for
 * Jobs work here too.
 */
export interface JobMetrics {
  synced(job: Job, sync: JobSync): void;
  /** A Job was created. */
  added(job: Job): void;
  /** A status was written over `before`, the status of `job`. */
  told(job: Job, status: JobStatus): void;
  created(reason: CreationReason, succeeded: number, failed: number): void;
  /** Failed Pods that a rule of the Pod failure policy matched. */
  judged(actions: readonly PodFailureAction[]): void;
  /** `undefined` is a Pod that does not exist. */
  podChanged(before: Pod | undefined, after: Pod | undefined): void;
}

export interface JobSync {
  readonly action: 'reconciling' | 'tracking' | 'pods_created' | 'pods_deleted';
  readonly isSuccess: boolean;
  readonly durationMs: number;
}

type CreationReason = 'new' | 'recreate_terminating_or_failed' | 'recreate_failed';

/** Seconds: 4 ms, doubled up to a minute. */
const SYNC_BUCKETS = Array.from({ length: 15 }, (_, power) => 0.004 * 2 ** power);

export function createJobMetrics(metrics: Metrics = NO_METRICS): JobMetrics {
  return new CountedJobs(metrics);
}

/** The reason for which Pods are created, from the Job's failures so far. */
export function creationReason({ spec }: Job, failed: number, terminating: number): CreationReason {
  if (spec.podReplacementPolicy === 'Failed' && failed > 0) return 'recreate_failed';
  return failed > 0 || terminating > 0 ? 'recreate_terminating_or_failed' : 'new';
}

class CountedJobs implements JobMetrics {
  readonly #of: ReturnType<typeof families>;

  constructor(metrics: Metrics) {
    this.#of = families(metrics);
  }

  synced(job: Job, { action, isSuccess, durationMs }: JobSync): void {
    const result = isSuccess ? 'success' : 'error';
    const labels = { completion_mode: modeOf(job), result, action };
    this.#of.syncs.add(labels);
    this.#of.syncSeconds.observe(labels, durationMs / 1000);
  }

  added(job: Job): void {
    const manager = externalManager(job);
    if (manager !== undefined) this.#of.external.add({ controller_name: manager });
  }

  told(job: Job, status: JobStatus): void {
    const completion_mode = modeOf(job);
    const before = job.status ?? {};
    const grown = isIndexed(job)
      ? indexCount(status.completedIndexes) - indexCount(before.completedIndexes)
      : (status.succeeded ?? 0) - (before.succeeded ?? 0);
    const failed = (status.failed ?? 0) - (before.failed ?? 0);
    // An elastic Job that shrinks forgets indexes, but a counter cannot go down.
    const succeeded = Math.max(0, grown);
    if (succeeded > 0) this.#of.podsFinished.add({ completion_mode, result: SUCCEEDED }, succeeded);
    if (failed > 0) this.#of.podsFinished.add({ completion_mode, result: FAILED }, failed);
    if (isIndexed(job)) this.#toldIndexes(job, status, succeeded);
    this.#toldEnd(job, status);
  }

  created(reason: CreationReason, succeeded: number, failed: number): void {
    if (succeeded > 0) this.#of.podsCreated.add({ reason, status: SUCCEEDED }, succeeded);
    if (failed > 0) this.#of.podsCreated.add({ reason, status: FAILED }, failed);
  }

  judged(actions: readonly PodFailureAction[]): void {
    for (const action of actions) this.#of.judged.add({ action });
  }

  podChanged(before: Pod | undefined, after: Pod | undefined): void {
    const wasHeld = before !== undefined && hasEnded(before) && isTracked(before);
    const isHeld = after !== undefined && hasEnded(after) && isTracked(after);
    if (wasHeld !== isHeld) this.#of.held.add({ event: isHeld ? 'add' : 'delete' });
  }

  #toldIndexes(job: Job, status: JobStatus, succeeded: number): void {
    const backoffLimit = job.spec.backoffLimitPerIndex === undefined ? 'global' : 'perIndex';
    const failed = indexCount(status.failedIndexes) - indexCount(job.status?.failedIndexes);
    if (succeeded > 0) this.#of.indexes.add({ status: SUCCEEDED, backoffLimit }, succeeded);
    if (failed > 0) this.#of.indexes.add({ status: FAILED, backoffLimit }, failed);
  }

  #toldEnd(job: Job, status: JobStatus): void {
    for (const [type, result] of ENDS) {
      const end = trueCondition({ ...job, status }, type);
      if (end === undefined || trueCondition(job, type) !== undefined) continue;
      this.#of.jobsFinished.add({
        completion_mode: modeOf(job),
        result,
        reason: end.reason ?? '',
      });
    }
  }
}

const SUCCEEDED = 'succeeded';
const FAILED = 'failed';
const ENDS = [
  ['Complete', SUCCEEDED],
  ['Failed', FAILED],
] as const;

function families(metrics: Metrics) {
  const sync = ['completion_mode', 'result', 'action'] as const;
  return {
    syncs: metrics.counter({
      name: 'job_controller_job_syncs_total',
      help: 'Passes over Jobs',
      labels: sync,
    }),
    syncSeconds: metrics.histogram({
      name: 'job_controller_job_sync_duration_seconds',
      help: 'Length of one pass over a Job',
      labels: sync,
      buckets: SYNC_BUCKETS,
    }),
    jobsFinished: metrics.counter({
      name: 'job_controller_jobs_finished_total',
      help: 'Jobs that came to their end, with the reason of its condition',
      labels: ['completion_mode', 'result', 'reason'],
    }),
    podsFinished: metrics.counter({
      name: 'job_controller_job_pods_finished_total',
      help: 'Pods of Jobs that ended and are counted',
      labels: ['completion_mode', 'result'],
    }),
    indexes: metrics.counter({
      name: 'job_controller_job_finished_indexes_total',
      help: 'Completion indexes that succeeded or were given up',
      labels: ['status', 'backoffLimit'],
    }),
    podsCreated: metrics.counter({
      name: 'job_controller_job_pods_creation_total',
      help: 'Creations of Pods, by why they were wanted',
      labels: ['reason', 'status'],
    }),
    judged: metrics.counter({
      name: 'job_controller_pod_failures_handled_by_failure_policy_total',
      help: 'Failed Pods that a rule of a Pod failure policy matched, by its action',
      labels: ['action'],
    }),
    held: metrics.counter({
      name: 'job_controller_terminated_pods_tracking_finalizer_total',
      help: 'Ended Pods that came to wear (add) or lost (delete) the finalizer of the controller',
      labels: ['event'],
    }),
    external: metrics.counter({
      name: 'job_controller_jobs_by_external_controller_total',
      help: 'Jobs that another controller is in charge of',
      labels: ['controller_name'],
    }),
  };
}

function modeOf(job: Job): 'Indexed' | 'NonIndexed' {
  return isIndexed(job) ? 'Indexed' : 'NonIndexed';
}

function indexCount(text = ''): number {
  const ranges: IndexSet = parseIndexSet(text) ?? [];
  return ranges.reduce((sum, [start, end]) => sum + end - start + 1, 0);
}
