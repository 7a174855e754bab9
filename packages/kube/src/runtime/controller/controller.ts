/** The loop of every controller. */

import { isReason } from '../../status.ts';
import { endsWithin, withDeadline } from '../deadline.ts';
import type { Metrics } from '../metrics.ts';
import type { Logger } from '../ports/logger.ts';
import type { RuntimePorts } from '../ports/runtime-ports.ts';
import { controllerObserver } from './controller-metrics.ts';
import { createWorkQueue, type WorkQueue } from './work-queue.ts';

/**
 * Keys come in, `reconcile` brings the objects of one key to their desired state, and errors return
 * the key with back-off. One key is never reconciled twice at the same time. Start it when the
 * informers that it reads have synced.
 */
export interface ControllerOptions extends RuntimePorts {
  /** The name in logs and metrics, such as `jobset`. */
  readonly name: string;
  readonly reconcile: Reconcile;
  /** How many keys are reconciled at a time. */
  readonly workers: number;
  readonly metrics?: Metrics | undefined;
  /** After how long the signal of one reconcile aborts. */
  readonly timeoutMs?: number;
  /** Aborts running reconciles at once, and takes no more keys. Call `stop` all the same. */
  readonly signal?: AbortSignal | undefined;
}

/** `signal` aborts when the time is up or the controller stops; pass it to every call. */
type Reconcile = (
  key: string,
  signal: AbortSignal,
) => Promise<ReconcileResult | undefined> | Promise<void>;

export interface ReconcileResult {
  /** Reconcile again after this time, even if nothing happens. */
  readonly requeueAfterMs?: number | undefined;
}

export interface Controller {
  enqueue(key: string): void;
  enqueueAfter(key: string, delayMs: number): void;
  /**
   * Takes no more keys, and lets running reconciles end, aborting them after a short while. Queued
   * keys are not lost, because a controller starts from the state of the API.
   */
  stop(): Promise<void>;
}

/** Above any server-side time-out, so a longer reconcile must hang. */
const RECONCILE_TIMEOUT_MS = 60_000;
/** How long `stop` lets reconciles end by themselves. The process has 2 s for a clean end. */
const STOP_GRACE_MS = 1000;
/** How long `stop` waits after it has aborted them. */
const STOP_ABORT_MS = 500;

export function startController(options: ControllerOptions): Controller {
  const observer = controllerObserver(options.metrics, options.name, options.workers);
  const logger = options.logger.with({ controller: options.name });
  const stopping = new AbortController();
  const queue = createWorkQueue({ ...options, observer: observer.queue });
  const accepted = (taken: boolean, key: string): void => {
    if (!taken && !isStopping) logger.error('queue is full, key refused', { key });
  };
  const work = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const key = await queue.take();
      if (key === undefined) return;
      await reconcileOnce({ options, queue, logger, observer, stop: stopping.signal }, key);
      queue.done(key);
    }
  };
  let isStopping = false;
  const abandon = (): void => {
    isStopping = true;
    queue.shutDown();
    stopping.abort(options.signal?.reason);
  };
  options.signal?.addEventListener('abort', abandon, { once: true });
  if (options.signal?.aborted) abandon();
  const workers = Array.from({ length: options.workers }, work);
  return {
    enqueue: (key) => accepted(queue.add(key), key),
    enqueueAfter: (key, delayMs) => accepted(queue.addAfter(key, delayMs), key),
    stop: async () => {
      isStopping = true;
      queue.shutDown();
      options.signal?.removeEventListener('abort', abandon);
      const ended = Promise.all(workers);
      if (await endsWithin(options.clock, STOP_GRACE_MS, ended)) return;
      stopping.abort(new Error(`controller ${options.name} stops`));
      if (await endsWithin(options.clock, STOP_ABORT_MS, ended)) return;
      logger.warn('stopped although a reconcile ignores its signal');
    },
  };
}

interface Loop {
  readonly options: ControllerOptions;
  readonly queue: WorkQueue;
  readonly logger: Logger;
  readonly observer: ReturnType<typeof controllerObserver>;
  readonly stop: AbortSignal;
}

async function reconcileOnce(loop: Loop, key: string): Promise<void> {
  const { options, queue, logger, observer, stop } = loop;
  const startMs = options.clock.monotonic();
  observer.started();
  try {
    const limitMs = options.timeoutMs ?? RECONCILE_TIMEOUT_MS;
    const result = await withDeadline(
      options.clock,
      limitMs,
      stop,
      async (signal) => (await options.reconcile(key, signal)) ?? undefined,
    );
    queue.forget(key);
    const requeueAfterMs = result?.requeueAfterMs;
    if (requeueAfterMs !== undefined) queue.addAfter(key, requeueAfterMs);
    const outcome = requeueAfterMs === undefined ? 'success' : 'requeue_after';
    observer.ended(outcome, options.clock.monotonic() - startMs);
  } catch (error) {
    const isConflict = isReason(error, 'Conflict');
    observer.ended(isConflict ? 'requeue' : 'error', options.clock.monotonic() - startMs);
    if (stop.aborted) return;
    queue.addRateLimited(key);
    // A conflict only says that the cache was behind: the retry sees the newer object.
    if (isConflict) logger.debug('conflict, reconciling again', { key });
    else logger.error('reconcile failed', { key, err: error, retries: queue.retries(key) });
  }
}
