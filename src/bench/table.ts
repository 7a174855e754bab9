import type { StringMap } from '@lockstep/kube/meta.ts';

/** One result; `--json` prints it as one object a line. */
export interface Row {
  readonly benchmark: string;
  readonly unit:
    | 'ms'
    | 'times'
    | 'per second'
    | 'MiB'
    | 'KiB'
    | '% of a core'
    | '%'
    | 'requests'
    | 'bytes';
  readonly median: number;
  readonly min?: number;
  readonly max?: number;
  readonly notes?: string | undefined;
}

export type Report = (row: Row) => void;

/** What a benchmark gets of the command line. Each uses what concerns it. */
export interface BenchOptions {
  /** Sizes of groups. */
  readonly agents?: readonly number[] | undefined;
  /** The kubeconfig of a running cluster. */
  readonly kubeconfig?: string | undefined;
  /** Limits the run to these of its parts. */
  readonly phases?: readonly string[] | undefined;
  /** Annotations of the JobSet. */
  readonly annotations?: StringMap | undefined;
  /** Processes that the agent of each member starts; absent: the worker is one, without a rank. */
  readonly processes?: number | undefined;
  readonly signal: AbortSignal;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

/** The text of a row for measured values. */
export function spread(values: readonly number[]): Required<Pick<Row, 'median' | 'min' | 'max'>> {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/** How long each of `rounds` runs of the work takes, after the warm-up, in ms. */
export async function timesOf(
  work: () => unknown,
  { warmUp, rounds }: { readonly warmUp: number; readonly rounds: number },
): Promise<readonly number[]> {
  const times: number[] = [];
  for (let round = 0; round < warmUp + rounds; round++) {
    const startMs = performance.now();
    await work();
    if (round >= warmUp) times.push(performance.now() - startMs);
  }
  return times;
}

/** The nearest rank; `percent` is above 0 and at most 100. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.ceil((percent / 100) * sorted.length) - 1] ?? Number.NaN;
}

/** A line of the table; rows are printed as they come. */
export function renderRow(row: Row): string {
  const range =
    row.min === undefined || row.max === undefined
      ? ''
      : `[${figure(row.min)} - ${figure(row.max)}]`;
  const median = row.unit === '%' ? row.median.toFixed(2) : figure(row.median);
  return (
    `${row.benchmark.padEnd(68)}${median.padStart(10)} ${row.unit.padEnd(11)}` +
    `${range.padEnd(22)}${row.notes ?? ''}`
  ).trimEnd();
}

function figure(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString('en-US');
  return value >= 100 ? value.toFixed(0) : value.toFixed(1);
}
