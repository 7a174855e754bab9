/** The Job controller: which change of a Job or a Pod makes it look at which Job, and when. */
import { controllerOf, namespaceOf, type Stored } from '@lockstep/kube/meta.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { type Controller, startController } from '@lockstep/kube/runtime/controller/controller.ts';
import { keyOf } from '@lockstep/kube/runtime/informer/informer.ts';
import { createJobMetrics, type JobMetrics } from './job-metrics.ts';
import { hasEnded, isTracked, jobKeyOf } from './job-pods.ts';
import {
  JOB_INDEX,
  JobReconciler,
  type JobReconcilerOptions,
  ORPHAN_INDEX,
  POD_PREFIX,
} from './job-reconciler.ts';
import { wouldAdopt } from './pod-claims.ts';

/** What it then does is in `job-reconciler.ts`. */

/**
 * The Pod informer's indexes: Pods by the Job that controls them, and Pods without a controller.
 */
export const JOB_POD_INDEXES = {
  [JOB_INDEX]: (pod: Stored<Pod>): readonly string[] => {
    const key = jobKeyOf(pod);
    return key === undefined ? [] : [key];
  },
  [ORPHAN_INDEX]: (pod: Stored<Pod>): readonly string[] =>
    isOrphan(pod) ? [namespaceOf(pod.metadata)] : [],
};

const WORKERS = 5;
/**
 * How long changes that only move `ready` and `active` are collected; the end of a Pod is acted on
 * at once. Upstream waits a second for everything.
 */
const POD_UPDATE_BATCH_MS = 100;

export function startJobController(options: JobReconcilerOptions): { stop(): Promise<void> } {
  const metrics = createJobMetrics(options.metrics);
  const reconciler = new JobReconciler(options, metrics);
  const controller = startController({
    ...options,
    name: 'job',
    workers: WORKERS,
    reconcile: (key, signal) => reconciler.reconcile(key, signal),
  });
  options.jobs.subscribe({
    added: (job) => {
      metrics.added(job);
      controller.enqueue(keyOf(job));
    },
    updated: (job) => controller.enqueue(keyOf(job)),
    deleted: (job) => {
      reconciler.forget(job);
      controller.enqueue(keyOf(job));
    },
  });
  followPods(options, controller, reconciler, metrics);
  return { stop: () => controller.stop() };
}

function followPods(
  { pods, jobs }: JobReconcilerOptions,
  controller: Controller,
  reconciler: JobReconciler,
  metrics: JobMetrics,
): void {
  const enqueueJobOf = (pod: Stored<Pod>, delayMs: number): void => {
    const key = jobKeyOf(pod);
    if (key !== undefined) controller.enqueueAfter(key, delayMs);
    else if (isTracked(pod)) controller.enqueue(`${POD_PREFIX}${keyOf(pod)}`);
  };
  const offer = (pod: Stored<Pod>): void => {
    if (!isOrphan(pod)) return;
    for (const job of jobs.store.values()) {
      if (wouldAdopt(job, pod)) controller.enqueueAfter(keyOf(job), POD_UPDATE_BATCH_MS);
    }
  };
  pods.subscribe({
    added: (pod) => {
      metrics.podChanged(undefined, pod);
      const isLastAwaited = reconciler.podAppeared(pod);
      enqueueJobOf(pod, isLastAwaited || isUrgent(pod) ? 0 : POD_UPDATE_BATCH_MS);
      offer(pod);
    },
    updated: (pod, old) => {
      metrics.podChanged(old, pod);
      const hasTurned = isUrgent(pod) || isTracked(pod) !== isTracked(old);
      enqueueJobOf(pod, hasTurned ? 0 : POD_UPDATE_BATCH_MS);
      if (jobKeyOf(old) !== jobKeyOf(pod)) enqueueJobOf(old, 0);
      if (!isOrphan(old) || old.metadata.labels !== pod.metadata.labels) offer(pod);
    },
    deleted: (pod) => {
      metrics.podChanged(pod, undefined);
      enqueueJobOf(pod, 0);
    },
  });
}

function isOrphan(pod: Pod): boolean {
  return controllerOf(pod.metadata) === undefined;
}

function isUrgent(pod: Pod): boolean {
  return hasEnded(pod) || pod.metadata.deletionTimestamp !== undefined;
}
