/**
 * The HTTP side of admission. There is one path per webhook. It takes a POST with an
 * AdmissionReview and answers 200 with the decision. An invalid request gets another code: 400 for a
 * malformed review, else 404, 405 or 415.
 */

import { parseDuration } from '@lockstep/kube/duration.ts';
import { refusalResponse } from '@lockstep/kube/runtime/client/refusal-response.ts';
import { DeadlineError, withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import type { Metrics } from '@lockstep/kube/runtime/metrics.ts';
import { NO_METRICS } from '@lockstep/kube/runtime/no-metrics.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type {
  HttpHandler,
  HttpRequest,
  HttpResponse,
} from '@lockstep/kube/runtime/ports/transport.ts';
import { ApiStatusError } from '@lockstep/kube/status.ts';
import {
  internalError,
  methodNotAllowed,
  unknownResource,
  unsupportedMediaType,
} from '@lockstep/kube/status-errors.ts';
import type { AdmissionAnswer, AdmissionHandler } from './admission-handler.ts';
import { denialOf, readAdmissionReview, reviewOf } from './admission-review.ts';

export interface AdmissionEndpointOptions {
  /** By path, such as `/mutate--v1-pod`. */
  readonly handlers: ReadonlyMap<string, AdmissionHandler>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export function admissionEndpoint(options: AdmissionEndpointOptions): HttpHandler {
  return async (request) => {
    const [path = '', search = ''] = request.path.split('?');
    const handler = options.handlers.get(path);
    if (handler === undefined) return refusalResponse(unknownResource());
    return answer(handler, request, { path, search }, options).catch((error: unknown) => {
      if (error instanceof ApiStatusError) return refusalResponse(error);
      throw error;
    });
  };
}

/** Counts and times the answers of `handler` at `paths`, and logs what it refuses to read. */
export function observedReviews(
  handler: HttpHandler,
  paths: ReadonlySet<string>,
  {
    clock,
    logger,
    metrics,
  }: Pick<AdmissionEndpointOptions, 'clock' | 'logger'> & {
    readonly metrics?: Metrics | undefined;
  },
): HttpHandler {
  const observe = observer(metrics);
  return async (request) => {
    const startMs = clock.monotonic();
    const response = await handler(request);
    const [path = ''] = request.path.split('?');
    if (!paths.has(path)) return response;
    observe(path, response.status, clock.monotonic() - startMs);
    if (response.status >= 400) {
      logger.warn('refused to read an admission review', { path, code: response.status });
    }
    return response;
  };
}

/** An API server's wait by default, and the most that a configuration may ask for. */
const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_TIMEOUT_MS = 30_000;

async function answer(
  handler: AdmissionHandler,
  request: HttpRequest,
  { path, search }: { readonly path: string; readonly search: string },
  options: AdmissionEndpointOptions,
): Promise<HttpResponse> {
  if (request.method !== 'POST') throw methodNotAllowed();
  const [mediaType = ''] = (request.headers['content-type'] ?? '').split(';');
  const isPlain = ['', 'identity'].includes(request.headers['content-encoding'] ?? '');
  if (mediaType.trim().toLowerCase() !== JSON_TYPE || !isPlain) {
    throw unsupportedMediaType([JSON_TYPE]);
  }
  const asked = readAdmissionReview(request.body);
  const limitMs = timeoutMs(new URLSearchParams(search).get('timeout'));
  let decision: AdmissionAnswer;
  try {
    decision = await withDeadline(options.clock, limitMs, request.signal, (signal) =>
      handler(asked, signal),
    );
  } catch (error) {
    decision = denialOf(refusalFor(error, limitMs));
    if (!(error instanceof ApiStatusError)) {
      const { uid, namespace, name, operation } = asked;
      const fields = { path, uid, namespace, name, operation };
      options.logger.error('a webhook failed', { ...fields, err: error });
    }
  }
  return json(200, reviewOf(asked, decision));
}

const OWN_MISTAKE = 'the webhook failed: see the log of the operator';

function refusalFor(error: unknown, limitMs: number): ApiStatusError {
  if (error instanceof ApiStatusError) return error;
  if (error instanceof DeadlineError) {
    return internalError(`the webhook did not decide within ${limitMs} ms`, error);
  }
  // The text of an internal error means nothing to a user, so it goes to the log.
  const isMistake = error instanceof TypeError || error instanceof RangeError;
  const told = isMistake ? OWN_MISTAKE : error instanceof Error ? error.message : String(error);
  return internalError(told, error);
}

/** The API server's own time-out, which it sends along as `?timeout=10s`. */
function timeoutMs(text: string | null): number {
  const asked = text === null ? undefined : parseDuration(text);
  if (asked === undefined || asked <= 0) return DEFAULT_TIMEOUT_MS;
  return Math.min(asked, MAX_TIMEOUT_MS);
}

type Observe = (webhook: string, code: number, durationMs: number) => void;

/** With the names of controller-runtime, which dashboards of JobSet already show. */
function observer(metrics: Metrics = NO_METRICS): Observe {
  const requests = metrics.counter({
    name: 'controller_runtime_webhook_requests_total',
    help: 'Admission requests by webhook path and HTTP code',
    labels: ['webhook', 'code'],
  });
  const latency = metrics.histogram({
    name: 'controller_runtime_webhook_latency_seconds',
    help: 'Time to answer an admission request',
    labels: ['webhook'],
    buckets: LATENCY_BUCKETS_SECONDS,
  });
  return (webhook, code, durationMs) => {
    requests.add({ webhook, code: String(code) });
    latency.observe({ webhook }, durationMs / 1000);
  };
}

/** From a decision in memory to the longest time-out. */
const LATENCY_BUCKETS_SECONDS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 10, 30,
];

const JSON_TYPE = 'application/json';

function json(status: number, body: unknown): HttpResponse {
  return {
    status,
    headers: { 'content-type': JSON_TYPE },
    body: Buffer.from(JSON.stringify(body)),
  };
}
