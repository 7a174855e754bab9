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
import type { GroupTracker } from '../tracking/group-tracker.ts';
import type { MemberFates } from '../tracking/member-fates.ts';
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
  const { informers, tracker, fates, hub } = options;
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
  tracker.subscribe({
    interest: (key) => controller.enqueue(key),
    stray: (stray) => reconciler.reportStray(stray),
  });
  if (hub !== undefined) {
    hub.reachChanged = (key) => controller.enqueueAfter(key, HUB_REACH_BATCH_MS);
    hub.standbyOff = (member, why) => reconciler.reportStandbyOff(member, why);
  }
  followPods(informers, tracker, fates);
  followJobs(informers, tracker, reconciler, controller);
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

/** The tracker forgets a Pod that is gone, so the ends of members come first. */
function followPods(
  { livingPods, succeededPods }: Informers,
  tracker: GroupTracker,
  fates: MemberFates,
): void {
  livingPods.subscribe({
    added: (pod) => tracker.podLives(pod),
    updated: (pod, old) => {
      // Another Pod took the name while the watch was interrupted.
      if (pod.metadata.uid === old.metadata.uid) fates.podChanged(pod, old);
      else {
        fates.podGone(old);
        tracker.podEnded(old.metadata.uid);
      }
      tracker.podLives(pod);
    },
    deleted: (pod) => {
      fates.podGone(pod);
      tracker.podEnded(pod.metadata.uid);
    },
  });
  succeededPods.subscribe({
    added: (pod) => {
      fates.podSucceeded(pod);
      tracker.podSucceeded(pod);
    },
    updated: (pod) => tracker.podSucceeded(pod),
    deleted: (pod) => tracker.succeededPodGone(pod),
  });
}

function followJobs(
  { jobs }: Informers,
  tracker: GroupTracker,
  reconciler: JobSetReconciler,
  controller: Controller,
): void {
  const gone = (job: Stored<Job>): void => {
    reconciler.jobGone(job);
    tracker.jobGone(job);
    enqueueOwner(controller, job);
  };
  jobs.subscribe({
    added: (job) => {
      tracker.jobSeen(job);
      enqueueOwner(controller, job);
    },
    updated: (job, old) => {
      if (job.metadata.uid !== old.metadata.uid || ownerText(job) !== ownerText(old)) gone(old);
      tracker.jobSeen(job);
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
