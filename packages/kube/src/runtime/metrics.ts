/** Metrics, and their page for Prometheus. */

import prometheus from 'prom-client';
import type { HttpHandler } from './ports/transport.ts';
import { textResponse } from './text-response.ts';

/**
 * A registry. Asking twice for one name returns the same metric, so controllers of a process share
 * families such as `workqueue_depth` and differ by label. Nothing is global: parts that are to be
 * scraped receive the registry.
 */
export interface Metrics {
  counter<L extends string = never>(of: MetricOptions<L>): Counter<L>;
  gauge<L extends string = never>(of: MetricOptions<L>): Gauge<L>;
  histogram<L extends string = never>(of: HistogramOptions<L>): Histogram<L>;
  /**
   * Calls `measure` before each page until the returned function is called, so that nothing is
   * measured that nobody reads. It has to be synchronous and quick.
   */
  beforePage(measure: () => void): () => void;
  /** Serves `GET /metrics` in the text format; 404 for anything else. */
  readonly handler: HttpHandler;
}

interface MetricOptions<L extends string> {
  /** The name for Prometheus: `jobset_completed_total`. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly L[];
}

interface HistogramOptions<L extends string> extends MetricOptions<L> {
  /** Upper bounds, ascending, in the metric's unit. */
  readonly buckets: readonly number[];
}

export type Labels<L extends string> = Readonly<Record<L, string>>;

interface Counter<L extends string> {
  add(labels: Labels<L>, value?: number): void;
  /** Removes the series with these labels, if there is one. */
  remove(labels: Labels<L>): void;
}

export interface Gauge<L extends string> {
  set(labels: Labels<L>, value: number): void;
  /** Removes all series of a gauge with labels, and sets one without labels to 0. */
  clear(): void;
}

interface Histogram<L extends string> {
  observe(labels: Labels<L>, value: number): void;
}

export function createMetrics(): Metrics {
  const registry = new prometheus.Registry();
  const measures = new Set<() => void>();
  return {
    counter(of) {
      const counter = reuse(registry, of.name, prometheus.Counter, () => {
        return new prometheus.Counter({ ...settings(of), registers: [registry] });
      });
      return {
        add: (labels, value = 1) => counter.inc(labels, value),
        remove: (labels) => counter.remove(labels),
      };
    },
    gauge(of) {
      const gauge = reuse(registry, of.name, prometheus.Gauge, () => {
        return new prometheus.Gauge({ ...settings(of), registers: [registry] });
      });
      return {
        set: (labels, value) => gauge.set(labels, value),
        clear: () => gauge.reset(),
      };
    },
    histogram(of) {
      const histogram = reuse(registry, of.name, prometheus.Histogram, () => {
        const buckets = [...of.buckets];
        return new prometheus.Histogram({ ...settings(of), buckets, registers: [registry] });
      });
      return { observe: (labels, value) => histogram.observe(labels, value) };
    },
    beforePage(measure) {
      measures.add(measure);
      return () => void measures.delete(measure);
    },
    handler: async ({ method, path }) => {
      if (path.split('?', 1)[0] !== '/metrics') return textResponse(404, '404 page not found\n');
      if (method !== 'GET' && method !== 'HEAD') return textResponse(405, 'method not allowed\n');
      const headers = { 'content-type': registry.contentType };
      if (method === 'HEAD') return { ...textResponse(200, ''), headers };
      for (const measure of measures) measure();
      return { ...textResponse(200, await registry.metrics()), headers };
    },
  };
}

function settings(of: MetricOptions<string>): { name: string; help: string; labelNames: string[] } {
  return { name: of.name, help: of.help, labelNames: [...(of.labels ?? [])] };
}

/**
 * The metric of that name if the registry has it, otherwise a new one. Throws if the types differ.
 */
function reuse<M extends prometheus.Metric>(
  registry: prometheus.Registry,
  name: string,
  type: abstract new (...options: never[]) => M,
  create: () => M,
): M {
  const existing = registry.getSingleMetric(name);
  if (existing === undefined) return create();
  if (existing instanceof type) return existing;
  throw new TypeError(`metric ${name} is registered with another type`);
}
