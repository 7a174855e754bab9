import { JOBS, type Job, type JobStatus } from '../../kube/job.ts';
import type { Stored } from '../../kube/meta.ts';
import { PODS, type Pod } from '../../kube/pod.ts';
import { ApiStatusError, isReason } from '../../kube/status.ts';
import type { Client } from '../../runtime/client.ts';
import { type ReconcileResult, startController } from '../../runtime/controller.ts';
import { type EventRecorder, referenceTo } from '../../runtime/event-recorder.ts';
import { type Informer, keyOf } from '../../runtime/informer.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { Logger } from '../../runtime/ports/logger.ts';
import type { Random } from '../../runtime/ports/random.ts';
import { JobMemory } from './job-memory.ts';
import { hasEnded, isControlledBy, isTracked, jobKeyOf } from './job-pods.ts';
import { releasePod, releaseStrangers } from './orphaned-pods.ts';
import { type JobEvent, type JobPlan, planJob } from './plan.ts';
import { createPods, deletePod, forEachPod, untrackPod } from './pod-writes.ts';

/**
 * The Job controller's shell (spec container-restart-and-jobs.md, 7): it shows `planJob` a Job and
 * its Pods as soon as the caches show its own writes, and carries the plan out. Every step may be
 * the last one before a crash.
 */
export interface JobControllerOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly jobs: Informer<Job>;
  /** With the indexes of `JOB_POD_INDEXES`. */
  readonly pods: Informer<Pod>;
  readonly events: EventRecorder;
  readonly metrics?: Metrics | undefined;
}

const JOB_INDEX = 'controller/job';

/** Before the keys of Pods that no Job controls any more; no name of a namespace holds a colon. */
const POD_PREFIX = 'pod:';

/** Indexes that the Pod informer needs: Pods by `namespace/name` of the Job that controls them. */
export const JOB_POD_INDEXES = {
  [JOB_INDEX]: (pod: Stored<Pod>): readonly string[] => {
    const key = jobKeyOf(pod);
    return key === undefined ? [] : [key];
  },
};

const WORKERS = 5;
/**
 * Changes of Pods that only move `ready` and `active` wait for each other this long; the end of a
 * Pod is acted on at once. Upstream waits a second for everything.
 */
const POD_UPDATE_BATCH_MS = 100;
/** If an own write does not show up by then, look again: a watch may be starting over. */
const CACHE_RECHECK_MS = 1000;
/** `spec.managedBy` of Jobs that are ours; absent means the same. */
const OUR_NAME = 'kubernetes.io/job-controller';

export function startJobController(options: JobControllerOptions): { stop(): Promise<void> } {
  const worker = new JobWorker(options);
  const controller = startController({
    ...options,
    name: 'job',
    workers: WORKERS,
    reconcile: (key, signal) => worker.reconcile(key, signal),
  });
  options.jobs.subscribe({
    added: (job) => controller.enqueue(keyOf(job)),
    updated: (job) => controller.enqueue(keyOf(job)),
    deleted: (job) => {
      worker.forget(job);
      controller.enqueue(keyOf(job));
    },
  });
  const enqueueJobOf = (pod: Stored<Pod>, delayMs: number): void => {
    const key = jobKeyOf(pod);
    if (key !== undefined) controller.enqueueAfter(key, delayMs);
    else if (isTracked(pod)) controller.enqueue(`${POD_PREFIX}${keyOf(pod)}`);
  };
  options.pods.subscribe({
    added: (pod) => enqueueJobOf(pod, isUrgent(pod) ? 0 : POD_UPDATE_BATCH_MS),
    updated: (pod, old) => {
      const hasTurned = isUrgent(pod) || isTracked(pod) !== isTracked(old);
      enqueueJobOf(pod, hasTurned ? 0 : POD_UPDATE_BATCH_MS);
    },
    deleted: (pod) => enqueueJobOf(pod, 0),
  });
  return { stop: () => controller.stop() };
}

function isUrgent(pod: Pod): boolean {
  return hasEnded(pod) || pod.metadata.deletionTimestamp !== undefined;
}

class JobWorker {
  readonly #options: JobControllerOptions;
  /** By UID of the Job. */
  readonly #memories = new Map<string, JobMemory>();

  constructor(options: JobControllerOptions) {
    this.#options = options;
  }

  forget(job: Stored<Job>): void {
    this.#memories.delete(job.metadata.uid);
  }

  async reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    if (key.startsWith(POD_PREFIX)) {
      await releasePod(this.#options, key.slice(POD_PREFIX.length), signal);
      return undefined;
    }
    const uid = this.#options.jobs.store.get(key)?.metadata.uid;
    await releaseStrangers(this.#options.client, this.#podsOf(key), uid, signal);
    const job = this.#options.jobs.store.get(key);
    if (job === undefined || (job.spec.managedBy ?? OUR_NAME) !== OUR_NAME) return undefined;
    const memory = this.#memoryOf(job);
    if (memory.isCreationOpen) await this.#settleCreations(job, memory, signal);
    return this.#reconcileJob(key, memory, signal);
  }

  /** Reads both caches and what was written to the API in one go, then acts on it. */
  async #reconcileJob(
    key: string,
    memory: JobMemory,
    signal: AbortSignal,
  ): Promise<ReconcileResult | undefined> {
    const job = this.#options.jobs.store.get(key);
    if (job === undefined || this.#memoryOf(job) !== memory) return undefined;
    const pods = this.#podsOf(key).filter((pod) => isControlledBy(pod, job.metadata.uid));
    memory.catchUp(pods, this.#options.pods.store);
    if (memory.isAhead(job)) return { requeueAfterMs: CACHE_RECHECK_MS };
    const { untracked, deleted, streak } = memory;
    const nowMs = this.#options.clock.now();
    const plan = planJob({ job, pods, untracked, deleted, streak, nowMs });
    await this.#carryOut(job, plan, memory, signal);
    return { requeueAfterMs: plan.requeueAfterMs };
  }

  async #carryOut(
    job: Stored<Job>,
    plan: JobPlan,
    memory: JobMemory,
    signal: AbortSignal,
  ): Promise<void> {
    const remove = async (pod: Stored<Pod>): Promise<void> => {
      await deletePod(this.#options.client, pod, signal);
      memory.deleted.add(pod.metadata.uid);
      const note = `Deleted pod: ${pod.metadata.name}`;
      this.#tell(job, { type: 'Normal', reason: 'SuccessfulDelete', note });
    };
    await forEachPod(plan.discarded, async (pod) => {
      await this.#untrack(pod, memory, signal);
      await remove(pod);
    });
    await forEachPod(plan.stopped, remove);
    const creation = await this.#create(job, plan, memory, signal);
    const failedCreations = plan.created.length - creation.created;
    const status = withFewerActive(plan.status, failedCreations);
    const isWritten = await this.#writeStatus(job, status, memory, signal);
    if (!isWritten) return;
    memory.streak = plan.streak;
    for (const event of plan.events) this.#tell(job, event);
    await forEachPod(plan.settled, (pod) => this.#untrack(pod, memory, signal));
    if (creation.error !== undefined) throw creation.error;
  }

  /** Creates what it can; a failure is returned, so that the status is written all the same. */
  async #create(
    job: Stored<Job>,
    plan: JobPlan,
    memory: JobMemory,
    signal: AbortSignal,
  ): Promise<{ readonly created: number; readonly error?: Error }> {
    let created = 0;
    const sawCreated = (pod: Stored<Pod>): void => {
      created++;
      memory.sawCreated(pod);
      const note = `Created pod: ${pod.metadata.name}`;
      this.#tell(job, { type: 'Normal', reason: 'SuccessfulCreate', note });
    };
    try {
      await createPods(this.#options.client, job, plan, sawCreated, signal);
      return { created };
    } catch (cause) {
      const isRefusal = cause instanceof ApiStatusError && cause.code < 500;
      if (!isRefusal) memory.isCreationOpen = true;
      const error = cause instanceof Error ? cause : new Error('creation failed', { cause });
      const note = `Error creating: ${error.message}`;
      this.#tell(job, { type: 'Warning', reason: 'FailedCreate', note });
      return { created, error };
    }
  }

  /** False if the Job is gone, and its Pods are orphans from now on. */
  async #writeStatus(
    job: Stored<Job>,
    status: JobStatus,
    memory: JobMemory,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (isSameStatus(job.status ?? {}, status)) return true;
    const options = { subresource: 'status', signal } as const;
    try {
      memory.wrote(await this.#options.client.update(JOBS, { ...job, status }, options));
      return true;
    } catch (error) {
      if (isReason(error, 'NotFound')) return false;
      throw error;
    }
  }

  async #untrack(pod: Stored<Pod>, memory: JobMemory, signal: AbortSignal): Promise<void> {
    if (memory.untracked.has(pod.metadata.uid)) return;
    await untrackPod(this.#options.client, pod, signal);
    memory.untracked.add(pod.metadata.uid);
  }

  /** Finds out which Pods exist that the cache does not show, after a creation without an answer. */
  async #settleCreations(job: Stored<Job>, memory: JobMemory, signal: AbortSignal): Promise<void> {
    const namespace = job.metadata.namespace ?? '';
    const { items } = await this.#options.client.list(PODS, { namespace, signal });
    for (const pod of items) {
      if (isControlledBy(pod, job.metadata.uid)) memory.sawCreated(pod);
    }
    memory.isCreationOpen = false;
  }

  #podsOf(key: string): readonly Stored<Pod>[] {
    return [...this.#options.pods.store.byIndex(JOB_INDEX, key)];
  }

  #memoryOf(job: Stored<Job>): JobMemory {
    const { uid } = job.metadata;
    const memory = this.#memories.get(uid) ?? new JobMemory();
    this.#memories.set(uid, memory);
    return memory;
  }

  #tell(job: Stored<Job>, event: JobEvent): void {
    this.#options.events.record({
      ...event,
      regarding: referenceTo(JOBS, job),
      action: 'Reconciling',
    });
  }
}

function withFewerActive({ active = 0, ...status }: JobStatus, fewer: number): JobStatus {
  return active > fewer ? { ...status, active: active - fewer } : status;
}

/** Compares what matters: absent and empty lists, and absent and zero counters, are the same. */
function isSameStatus(a: JobStatus, b: JobStatus): boolean {
  return canonical(a) === canonical(b);
}

function canonical(status: JobStatus): string {
  const { uncountedTerminatedPods: uncounted, conditions } = status;
  return JSON.stringify([
    conditions?.map((c) => [c.type, c.status, c.reason, c.message]) ?? [],
    status.startTime,
    status.completionTime,
    [status.active ?? 0, status.ready ?? 0, status.terminating ?? 0],
    [status.succeeded ?? 0, status.failed ?? 0],
    [status.completedIndexes ?? '', status.failedIndexes ?? ''],
    [uncounted?.succeeded ?? [], uncounted?.failed ?? []],
  ]);
}
