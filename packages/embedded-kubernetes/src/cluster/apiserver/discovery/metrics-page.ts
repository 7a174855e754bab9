/** The page `/metrics`: what the parts of this cluster count, and what a program beside it does. */
import { unlessAborted, withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import type { Metrics } from '@lockstep/kube/runtime/metrics.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type { HttpRequest, HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';

/**
 * The page of another program, in the text format of Prometheus. It must not have families of this
 * server's page.
 */
export type MoreMetrics = (signal: AbortSignal) => Promise<string>;

export interface MetricsPageOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly moreMetrics?: MoreMetrics | undefined;
}

/** Scrapers wait 10 s, and are to have our own metrics by then. */
const MORE_TIMEOUT_MS = 5000;
const MORE_LIMIT_BYTES = 16 * 1024 * 1024;

/** If the other program does not answer, a comment says why, and the rest is shown. */
export async function metricsPage(
  metrics: Metrics,
  request: HttpRequest,
  options: MetricsPageOptions,
): Promise<HttpResponse> {
  const own = await metrics.handler(request);
  const isPage = request.method === 'GET' && own.status === 200 && own.body instanceof Uint8Array;
  if (options.moreMetrics === undefined || !isPage) return own;
  const more = await morePage(options.moreMetrics, request.signal, options);
  return { ...own, body: Buffer.concat([own.body, Buffer.from(more)]) };
}

async function morePage(
  moreMetrics: MoreMetrics,
  signal: AbortSignal,
  { clock, logger }: MetricsPageOptions,
): Promise<string> {
  try {
    const page = await withDeadline(clock, MORE_TIMEOUT_MS, signal, (within) =>
      unlessAborted(moreMetrics(within), within),
    );
    const bytes = Buffer.byteLength(page);
    if (bytes <= MORE_LIMIT_BYTES) return page;
    throw new Error(`they have ${bytes} bytes, expected at most ${MORE_LIMIT_BYTES}`);
  } catch (error) {
    if (signal.aborted) throw error;
    const why = error instanceof Error ? error.message : String(error);
    logger.warn('a page of metrics lacks a part', { err: error });
    return `# The metrics of another program are missing: ${why.replaceAll(/\s+/g, ' ')}\n`;
  }
}
