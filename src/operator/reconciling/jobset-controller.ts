/**
 * Which change of a JobSet or of its objects makes the JobSet controller look at it, and when.
 * `jobset-reconciler.ts` says what it then does.
 */

import type { KubeObject, Stored } from '@lockstep/kube/meta.ts';
import { namespaceOf } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { type Controller, startController } from '@lockstep/kube/runtime/controller/controller.ts';
import { keyOf } from '@lockstep/kube/runtime/informer/informer.ts';
import type { Metrics } from '@lockstep/kube/runtime/metrics.ts';
import type { Random } from '@lockstep/kube/runtime/ports/random.ts';
import { ownerKey, ownerOf } from '../../jobset/membership.ts';
import { JOBSET_NAME } from '../../jobset/names.ts';
import { operatorMetrics } from '../process/operator-metrics.ts';
import type { Informers } from '../tracking/caches.ts';
import { JobSetReconciler, type ReconcilerOptions } from './jobset-reconciler.ts';

export interface JobSetControllerOptions extends Omit<ReconcilerOptions, 'metrics'> {
  readonly metrics?: Metrics | undefined;
  readonly random: Random;
  readonly signal?: AbortSignal | undefined;
}

/** How many JobSets are worked on at a time. */
const WORKERS = 4;
/** How long changes that only move Jobs' counters are collected. */
const JOB_COUNTERS_BATCH_MS = 50;
/**
 * How long changes of the hub's reach are collected: a restart ends all streams of a group and
 * brings them back, and only the lasting result matters.
 */
const HUB_REACH_BATCH_MS = 1000;

export function startJobSetController(options: JobSetControllerOptions): Controller {
  const { informers, feed } = options;
  const reconciler = new JobSetReconciler({
    ...options,
    metrics: operatorMetrics(options.metrics),
  });
  const controller = startController({
    ...options,
    name: 'jobset',
    workers: WORKERS,
    reconcile: (key, signal) => reconciler.reconcile(key, signal),
  });
  feed.subscribe((news) => {
    if (news.kind === 'Look') controller.enqueue(news.jobSet);
    else if (news.kind === 'ReachChanged') {
      controller.enqueueAfter(news.jobSet, HUB_REACH_BATCH_MS);
    } else if (news.kind === 'InvalidPod') reconciler.reportInvalidPod(news.pod);
    else if (news.kind === 'StandbyOff') reconciler.reportStandbyOff(news);
  });
  followJobs(informers, reconciler, controller);
  informers.services.subscribe({ deleted: (service) => enqueueOwner(controller, service) });
  informers.claims.subscribe({
    deleted: ({ metadata }) => {
      const key = `${namespaceOf(metadata)}/${metadata.labels?.[JOBSET_NAME] ?? ''}`;
      reconciler.claimGone(key, metadata.name ?? '');
      controller.enqueue(key);
    },
  });
  informers.jobSets.subscribe({
    added: (jobSet) => controller.enqueue(keyOf(jobSet)),
    updated: (jobSet, old) => {
      if (jobSet.metadata.uid !== old.metadata.uid) reconciler.forgetJobSet(old);
      controller.enqueue(keyOf(jobSet));
    },
    deleted: (jobSet) => reconciler.forgetJobSet(jobSet),
  });
  return controller;
}

function followJobs(
  { jobs }: Informers,
  reconciler: JobSetReconciler,
  controller: Controller,
): void {
  const gone = (job: Stored<Job>): void => {
    reconciler.jobGone(job);
    enqueueOwner(controller, job);
  };
  jobs.subscribe({
    added: (job) => enqueueOwner(controller, job),
    updated: (job, old) => {
      if (job.metadata.uid !== old.metadata.uid || ownerText(job) !== ownerText(old)) gone(old);
      enqueueOwner(controller, job, movesCountersOnly(job, old) ? JOB_COUNTERS_BATCH_MS : 0);
    },
    deleted: gone,
  });
}

function enqueueOwner(controller: Controller, child: KubeObject, delayMs = 0): void {
  const owner = ownerOf(child);
  if (owner !== undefined) controller.enqueueAfter(`${owner.namespace}/${owner.name}`, delayMs);
}

function ownerText(child: KubeObject): string {
  const owner = ownerOf(child);
  return owner === undefined ? '' : ownerKey(owner);
}

function movesCountersOnly(job: Stored<Job>, old: Stored<Job>): boolean {
  return (
    job.metadata.deletionTimestamp === old.metadata.deletionTimestamp &&
    job.spec.suspend === old.spec.suspend &&
    job.status?.succeeded === old.status?.succeeded &&
    trueConditions(job) === trueConditions(old)
  );
}

function trueConditions({ status }: Job): string {
  const conditions = status?.conditions ?? [];
  return conditions.map((condition) => `${condition.type}=${condition.status}`).join();
}
