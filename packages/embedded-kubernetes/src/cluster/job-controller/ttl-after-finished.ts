/** Deletes finished Jobs after `ttlSecondsAfterFinished`, with everything that they own. */

import type { Stored } from '@lockstep/kube/meta.ts';
import { JOBS, type Job } from '@lockstep/kube/objects/job.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import {
  type ReconcileResult,
  startController,
} from '@lockstep/kube/runtime/controller/controller.ts';
import { type Informer, keyOf } from '@lockstep/kube/runtime/informer/informer.ts';
import type { MeasuredPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { trueCondition } from './conditions.ts';

/** The value may still change, so the Job is read again before it is deleted. */
export interface TtlAfterFinishedOptions extends MeasuredPorts {
  readonly jobs: Informer<Job>;
}

const WORKERS = 1;
/** Seconds: 100 ms, doubled up to half an hour. */
const DELETION_BUCKETS = Array.from({ length: 14 }, (_, power) => 0.1 * 2 ** power);

export function startTtlAfterFinished(options: TtlAfterFinishedOptions): { stop(): Promise<void> } {
  const { client, clock, jobs, metrics } = options;
  const deletionSeconds = metrics?.histogram({
    name: 'ttl_after_finished_controller_job_deletion_duration_seconds',
    help: 'How long after its time was over a Job was deleted',
    buckets: DELETION_BUCKETS,
  });
  const controller = startController({
    ...options,
    name: 'ttl-after-finished',
    workers: WORKERS,
    reconcile: async (key, signal): Promise<ReconcileResult | undefined> => {
      const cached = jobs.store.get(key);
      if (cached === undefined) return undefined;
      const waitMs = remainingTtlMs(cached, clock.now());
      if (waitMs === undefined) return undefined;
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      const expiredMs = await deleteIfExpired(client, cached, clock.now(), signal);
      if (expiredMs !== undefined) deletionSeconds?.observe({}, (clock.now() - expiredMs) / 1000);
      return undefined;
    },
  });
  const consider = (job: Stored<Job>): void => {
    if (remainingTtlMs(job, clock.now()) !== undefined) controller.enqueue(keyOf(job));
  };
  jobs.subscribe({ added: consider, updated: consider });
  return { stop: () => controller.stop() };
}

/** Undefined for a Job that has not finished, sets no TTL or is being deleted. */
export function remainingTtlMs(job: Job, nowMs: number): number | undefined {
  const endMs = expiryMs(job);
  return endMs === undefined ? undefined : Math.max(0, endMs - nowMs);
}

function expiryMs(job: Job): number | undefined {
  const { ttlSecondsAfterFinished } = job.spec;
  const end = trueCondition(job, 'Complete') ?? trueCondition(job, 'Failed');
  const endMs = Date.parse(end?.lastTransitionTime ?? '');
  if (ttlSecondsAfterFinished === undefined || Number.isNaN(endMs)) return undefined;
  if (job.metadata.deletionTimestamp !== undefined) return undefined;
  return endMs + ttlSecondsAfterFinished * 1000;
}

/** Returns when the deleted Job's time was over; undefined if there was nothing to delete. */
async function deleteIfExpired(
  client: Client,
  { metadata }: Stored<Job>,
  nowMs: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { name, namespace = '', uid } = metadata;
  try {
    const fresh = await client.get(JOBS, { namespace, name }, { signal });
    if (fresh.metadata.uid !== uid || remainingTtlMs(fresh, nowMs) !== 0) return undefined;
    const preconditions = { uid, resourceVersion: fresh.metadata.resourceVersion };
    const options = { propagationPolicy: 'Foreground', preconditions, signal } as const;
    await client.delete(JOBS, { namespace, name }, options);
    return expiryMs(fresh);
  } catch (error) {
    // The Job is gone already, or it changed, and the change brings it here again.
    if (!isReason(error, 'NotFound', 'Conflict')) throw error;
    return undefined;
  }
}
