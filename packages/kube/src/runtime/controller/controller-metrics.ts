/** Metrics of controllers and their queues. */

import type { Metrics } from '../metrics.ts';
import { NO_METRICS } from '../no-metrics.ts';
import type { WorkQueueObserver } from './work-queue.ts';

/**
 * They have the names of client-go and controller-runtime, so that existing dashboards and alerts
 * work.
 */
export interface ControllerObserver {
  readonly queue: WorkQueueObserver;
  started(): void;
  ended(result: ReconcileOutcome, durationMs: number): void;
}

/** The values of the label `result` of `controller_runtime_reconcile_total`. */
type ReconcileOutcome = 'success' | 'requeue_after' | 'requeue' | 'error';

// Seconds, 10 ns to 10 s in decades: client-go's buckets for both queue histograms.
const QUEUE_BUCKETS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10];
// Seconds, denser in the usual range of reconciles; fewer than controller-runtime's 37 buckets.
const RECONCILE_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export function controllerObserver(
  metrics: Metrics = NO_METRICS,
  controller: string,
  workers: number,
): ControllerObserver {
  const total = metrics.counter({
    name: 'controller_runtime_reconcile_total',
    help: 'Reconciles by controller and result',
    labels: ['controller', 'result'],
  });
  const errors = metrics.counter({
    name: 'controller_runtime_reconcile_errors_total',
    help: 'Reconciles that failed, by controller',
    labels: ['controller'],
  });
  const time = metrics.histogram({
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'Length of one reconcile',
    labels: ['controller'],
    buckets: RECONCILE_BUCKETS,
  });
  const active = metrics.gauge({
    name: 'controller_runtime_active_workers',
    help: 'Workers that are reconciling now',
    labels: ['controller'],
  });
  const maximum = metrics.gauge({
    name: 'controller_runtime_max_concurrent_reconciles',
    help: 'Workers of the controller',
    labels: ['controller'],
  });
  maximum.set({ controller }, workers);
  let running = 0;
  return {
    queue: queueObserver(metrics, controller),
    started() {
      running++;
      active.set({ controller }, running);
    },
    ended(result, durationMs) {
      running--;
      active.set({ controller }, running);
      total.add({ controller, result });
      if (result === 'error') errors.add({ controller });
      time.observe({ controller }, durationMs / 1000);
    },
  };
}

function queueObserver(metrics: Metrics, name: string): WorkQueueObserver {
  const labels = ['name'] as const;
  const depth = metrics.gauge({ name: 'workqueue_depth', help: 'Keys that wait', labels });
  const adds = metrics.counter({ name: 'workqueue_adds_total', help: 'Keys taken', labels });
  const retries = metrics.counter({
    name: 'workqueue_retries_total',
    help: 'Keys returned with back-off',
    labels,
  });
  const waited = metrics.histogram({
    name: 'workqueue_queue_duration_seconds',
    help: 'How long a key waited for a worker',
    labels,
    buckets: QUEUE_BUCKETS,
  });
  const worked = metrics.histogram({
    name: 'workqueue_work_duration_seconds',
    help: 'How long a worker had a key',
    labels,
    buckets: QUEUE_BUCKETS,
  });
  return {
    depth: (keys) => depth.set({ name }, keys),
    added: () => adds.add({ name }),
    retried: () => retries.add({ name }),
    waited: (durationMs) => waited.observe({ name }, durationMs / 1000),
    worked: (durationMs) => worked.observe({ name }, durationMs / 1000),
  };
}
