/**
 * The Job controller's shell: reads the caches, lets `planJob` decide, and carries the plan out.
 */

import { controllerOf, namespaceOf, type Stored } from '@lockstep/kube/meta.ts';
import { externalManager, JOBS, type Job, type JobStatus } from '@lockstep/kube/objects/job.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import type { ReconcileResult } from '@lockstep/kube/runtime/controller/controller.ts';
import {
  type EventRecorder,
  referenceTo,
} from '@lockstep/kube/runtime/controller/event-recorder.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import type { MeasuredPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import { ApiStatusError, isNamespaceGoing, isReason } from '@lockstep/kube/status.ts';
import { earliest } from './backoff.ts';
import { JobMemory } from './job-memory.ts';
import { creationReason, type JobMetrics, type JobSync } from './job-metrics.ts';
import { isControlledBy } from './job-pods.ts';
import { confirmAdopter, releasePod, releaseStrangers } from './orphaned-pods.ts';
import { type JobEvent, type JobPlan, planJob } from './plan.ts';
import { claimPods } from './pod-claims.ts';
import {
  adoptPod,
  createPods,
  deletePod,
  disownPod,
  forEachPod,
  untrackPod,
} from './pod-writes.ts';
import { isSameStatus } from './status.ts';

/** It waits until the caches show its own writes. It may crash after every step. */
export interface JobReconcilerOptions extends MeasuredPorts {
  readonly jobs: Informer<Job>;
  /** With the indexes of `JOB_POD_INDEXES`. */
  readonly pods: Informer<Pod>;
  readonly events: EventRecorder;
}

/**
 * Indexes of the Pod informer: by `namespace/name` of the Job, and by namespace for Pods without a
 * controller.
 */
export const JOB_INDEX = 'controller/job';
export const ORPHAN_INDEX = 'controller/none';

/** Prefixes the keys of Pods that no Job controls; a namespace's name never contains a colon. */
export const POD_PREFIX = 'pod:';

/** If an own write does not show up by then, look again: a watch may be starting over. */
const CACHE_RECHECK_MS = 1000;

export class JobReconciler {
  readonly #options: JobReconcilerOptions;
  readonly #metrics: JobMetrics;
  /** By UID of the Job. */
  readonly #memories = new Map<string, JobMemory>();

  constructor(options: JobReconcilerOptions, metrics: JobMetrics) {
    this.#options = options;
    this.#metrics = metrics;
  }

  forget(job: Stored<Job>): void {
    this.#memories.delete(job.metadata.uid);
  }

  async reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    if (key.startsWith(POD_PREFIX)) {
      await releasePod(this.#options.client, this.#options, key.slice(POD_PREFIX.length), signal);
      return undefined;
    }
    const { jobs, client, clock, pods } = this.#options;
    const uid = jobs.store.get(key)?.metadata.uid;
    const known = uid === undefined ? undefined : this.#memories.get(uid);
    const restMs = known?.remainingRestMs(clock.monotonic()) ?? 0;
    if (restMs > 0) return { requeueAfterMs: restMs };
    await releaseStrangers(client, pods.store.byIndex(JOB_INDEX, key), uid, signal);
    const job = jobs.store.get(key);
    if (job === undefined || externalManager(job) !== undefined) return undefined;
    const memory = this.#memoryOf(job);
    if (memory.isCreationOpen) await this.#settleCreations(job, memory, signal);
    return this.#reconcileJob(key, memory, signal);
  }

  /** The cache shows the Pod; true if it was the last that its Job waited for. */
  podAppeared(pod: Stored<Pod>): boolean {
    const owner = controllerOf(pod.metadata);
    const memory = owner && this.#memories.get(owner.uid);
    return memory?.appeared(pod) === true;
  }

  /** Reads both caches and the memory of own writes together, then acts. */
  async #reconcileJob(
    key: string,
    memory: JobMemory,
    signal: AbortSignal,
  ): Promise<ReconcileResult | undefined> {
    const { jobs, client, clock } = this.#options;
    const job = jobs.store.get(key);
    if (job === undefined || this.#memoryOf(job) !== memory) return undefined;
    memory.catchUp();
    if (memory.isAhead()) return { requeueAfterMs: CACHE_RECHECK_MS };
    const claims = claimPods(job, this.#podsOf(key, job), this.#orphansOf(job));
    if (claims.adopted.length > 0) {
      await this.#adopt(job, claims.adopted, memory, signal);
      return { requeueAfterMs: CACHE_RECHECK_MS };
    }
    await forEachPod(claims.disowned, (pod) => disownPod(client, pod, job, signal));
    const { untracked, deleted, streak, creationHeldUntilMs } = memory;
    const known = { untracked, deleted, streak, creationHeldUntilMs, nowMs: clock.now() };
    const plan = planJob({ job, pods: claims.own, ...known });
    await this.#measured(job, plan, () => this.#carryOut(job, plan, memory, signal));
    // More Pods may be due at once.
    if (plan.created.length === 0) memory.rest(claims.own.length, clock.monotonic());
    const heldMs = memory.creationHeldUntilMs - clock.now();
    return { requeueAfterMs: earliest([plan.requeueAfterMs, heldMs > 0 ? heldMs : undefined]) };
  }

  async #measured(job: Stored<Job>, plan: JobPlan, work: () => Promise<void>): Promise<void> {
    const { clock } = this.#options;
    const startMs = clock.monotonic();
    let isSuccess = false;
    try {
      await work();
      isSuccess = true;
    } finally {
      const durationMs = clock.monotonic() - startMs;
      this.#metrics.synced(job, { action: actionOf(plan), isSuccess, durationMs });
    }
  }

  async #carryOut(
    job: Stored<Job>,
    plan: JobPlan,
    memory: JobMemory,
    signal: AbortSignal,
  ): Promise<void> {
    await forEachPod(plan.discarded, async (pod) => {
      await this.#untrack(pod, memory, signal);
      await this.#delete(job, pod, memory, signal);
    });
    const created = await this.#create(job, plan, memory, signal);
    const status = withFewerActive(plan.status, plan.created.length - created);
    const isWritten = await this.#writeStatus(job, status, memory, signal);
    if (!isWritten) return;
    memory.streak = plan.streak;
    this.#metrics.judged(plan.judged);
    for (const event of plan.events) this.#tell(job, event);
    await forEachPod(plan.stopped, (pod) => this.#delete(job, pod, memory, signal));
    await forEachPod(plan.settled, (pod) => this.#untrack(pod, memory, signal));
  }

  async #delete(
    job: Stored<Job>,
    pod: Stored<Pod>,
    memory: JobMemory,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      await deletePod(this.#options.client, pod, signal);
    } catch (error) {
      const note = `Error deleting: ${error instanceof Error ? error.message : String(error)}`;
      this.#tell(job, { type: 'Warning', reason: 'FailedDelete', note });
      throw error;
    }
    memory.deleted.add(pod);
    const note = `Deleted pod: ${pod.metadata.name}`;
    this.#tell(job, { type: 'Normal', reason: 'SuccessfulDelete', note });
  }

  /**
   * Creates what it can and returns how many. After a failure it creates no more for a while,
   * longer each time, but still writes the status.
   */
  async #create(
    job: Stored<Job>,
    plan: JobPlan,
    memory: JobMemory,
    signal: AbortSignal,
  ): Promise<number> {
    if (plan.created.length === 0) return 0;
    const { client, clock, logger } = this.#options;
    const { failed = 0, terminating = 0 } = plan.status;
    const reason = creationReason(job, failed, terminating);
    let created = 0;
    const sawCreated = (pod: Stored<Pod>): void => {
      created++;
      memory.sawCreated(pod);
      const note = `Created pod: ${pod.metadata.name}`;
      this.#tell(job, { type: 'Normal', reason: 'SuccessfulCreate', note });
    };
    try {
      await createPods(client, job, plan, sawCreated, signal);
      memory.creationSucceeded();
      this.#metrics.created(reason, created, 0);
    } catch (error) {
      const isRefusal = error instanceof ApiStatusError && error.code < 500;
      if (!isRefusal) memory.isCreationOpen = true;
      memory.creationFailed(clock.now());
      this.#metrics.created(reason, created, 1);
      const message = error instanceof Error ? error.message : String(error);
      if (!isNamespaceGoing(error)) {
        logger.warn('a Pod of a Job was not created', { job: job.metadata.name, err: error });
        const note = `Error creating: ${message}`;
        this.#tell(job, { type: 'Warning', reason: 'FailedCreate', note });
      }
    }
    return created;
  }

  /** False if the Job is gone, so that its Pods are orphans from now on. */
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
      this.#metrics.told(job, status);
      return true;
    } catch (error) {
      if (isReason(error, 'NotFound')) return false;
      throw error;
    }
  }

  async #untrack(pod: Stored<Pod>, memory: JobMemory, signal: AbortSignal): Promise<void> {
    if (memory.untracked.has(pod.metadata.uid)) return;
    await untrackPod(this.#options.client, pod, signal);
    memory.untracked.add(pod);
  }

  /** The Job is next looked at when the cache shows these Pods as its own. */
  async #adopt(
    job: Stored<Job>,
    pods: readonly Stored<Pod>[],
    memory: JobMemory,
    signal: AbortSignal,
  ): Promise<void> {
    const { client } = this.#options;
    if (!(await confirmAdopter(client, job, signal))) return;
    await forEachPod(pods, async (pod) => {
      const adopted = await adoptPod(client, pod, job, signal);
      if (adopted !== undefined) memory.sawCreated(adopted);
    });
  }

  /**
   * After a creation without an answer, finds out which Pods exist that the cache does not show.
   */
  async #settleCreations(job: Stored<Job>, memory: JobMemory, signal: AbortSignal): Promise<void> {
    const namespace = namespaceOf(job.metadata);
    const { items } = await this.#options.client.list(PODS, { namespace, signal });
    for (const pod of items) {
      if (isControlledBy(pod, job.metadata.uid)) memory.sawCreated(pod);
    }
    memory.isCreationOpen = false;
  }

  /** The Pods that this Job controls, not an earlier one of its name. */
  #podsOf(key: string, { metadata }: Stored<Job>): readonly Stored<Pod>[] {
    const all = [...this.#options.pods.store.byIndex(JOB_INDEX, key)];
    return all.filter((pod) => isControlledBy(pod, metadata.uid));
  }

  #orphansOf({ metadata }: Stored<Job>): Iterable<Stored<Pod>> {
    return this.#options.pods.store.byIndex(ORPHAN_INDEX, namespaceOf(metadata));
  }

  #memoryOf(job: Stored<Job>): JobMemory {
    const { uid } = job.metadata;
    let memory = this.#memories.get(uid);
    if (memory === undefined) {
      const { jobs, pods } = this.#options;
      memory = new JobMemory(pods.store, jobs.store);
      this.#memories.set(uid, memory);
    }
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

function actionOf({ created, discarded }: JobPlan): JobSync['action'] {
  if (created.length > 0) return 'pods_created';
  return discarded.length > 0 ? 'pods_deleted' : 'tracking';
}
