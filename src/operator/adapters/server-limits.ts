/** Limits for requests from any client that reaches a port of the operator. */
import type { HttpServerOptions } from '@lockstep/kube/runtime/adapters/http-server.ts';
import type { BodyBudget } from '@lockstep/kube/runtime/body-budget.ts';

type Limits = Pick<HttpServerOptions, 'bodies' | 'maxHeadBytes' | 'maxConnections'>;

/** A token has 1 to 2 KiB. */
const MAX_HEAD_BYTES = 16 * 1024;

/**
 * A review holds an object before and after, each of at most 1.5 MiB, because etcd stores no more.
 * `managedFields` are part of the objects.
 */
const MAX_REVIEW_BYTES = 4 * 1024 * 1024;
const REVIEW_TIMEOUT_MS = 5_000;
/** One for each request that API servers have in flight: 200 writes each, by default. */
const MAX_WEBHOOK_CONNECTIONS = 1_024;

export function reviewLimits(budget: BodyBudget): Limits {
  return {
    bodies: { maxBytes: MAX_REVIEW_BYTES, timeoutMs: REVIEW_TIMEOUT_MS, budget },
    maxHeadBytes: MAX_HEAD_BYTES,
    maxConnections: MAX_WEBHOOK_CONNECTIONS,
  };
}

/** Requests for metrics and probes have no body, and come from few clients. */
export const PAGE_LIMITS: Limits = {
  bodies: { maxBytes: 0 },
  maxHeadBytes: MAX_HEAD_BYTES,
  maxConnections: 128,
};
