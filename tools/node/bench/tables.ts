/** The results as tables in Markdown, as the pages of the documentation have them. */
import { median } from '../../../src/bench/table.ts';
import type { Kind } from './kinds.ts';

export interface GroupResult {
  readonly kind: Kind;
  readonly size: number;
  /** Milliseconds of each restart. */
  readonly times: readonly number[];
  /** The machine's load before each restart. */
  readonly loads: readonly number[];
  /** From the creation of the JobSet to the last start. */
  readonly firstStartMs: number;
  /** What one Pod costs while nothing happens; measured for one size. */
  readonly idle: { readonly memoryMib: number; readonly cpuMsPerMinute: number } | undefined;
  /** What one Pod takes, if it lasts. */
  readonly cpuMsPerRestart: number | undefined;
  /** What all processes of the run take. */
  readonly memoryMib: number;
  readonly backOffs: number;
}

export function tablesOf(results: readonly GroupResult[]): string {
  const sizes = [...new Set(results.map(({ size }) => size))];
  const kinds = [...new Set(results.map(({ kind }) => kind))];
  const rowsOf = (cell: (result: GroupResult) => string): readonly (readonly string[])[] =>
    kinds.map((kind) => [
      kind.title,
      ...sizes.map((size) => {
        const result = results.find((one) => one.kind === kind && one.size === size);
        return result === undefined ? '' : cell(result);
      }),
    ]);
  const titles = sizes.map((size) => `${size} Pods`);
  const loads = results.flatMap((each) => each.loads);
  const costs = results
    .filter(({ idle }) => idle !== undefined)
    .map(({ kind, idle, cpuMsPerRestart }) => [
      kind.title,
      `${(idle?.memoryMib ?? 0).toFixed(1)} MiB`,
      `${(idle?.cpuMsPerMinute ?? 0).toFixed(0)} ms`,
      cpuMsPerRestart === undefined ? '' : `${cpuMsPerRestart.toFixed(0)} ms`,
    ]);
  return [
    `load ${Math.min(...loads)} to ${Math.max(...loads)}, at most ` +
      `${Math.max(...results.map(({ memoryMib }) => memoryMib)).toFixed(0)} MiB in all\n`,
    table(
      ['restart', ...titles],
      rowsOf(({ times }) => spreadOf(times)),
    ),
    table(
      ['first start', ...titles],
      rowsOf(({ firstStartMs }) => seconds(firstStartMs)),
    ),
    table(['a Pod', 'memory', 'CPU a minute while idle', 'CPU a restart'], costs),
  ].join('\n');
}

function spreadOf(times: readonly number[]): string {
  return `${seconds(median(times))} [${figure(Math.min(...times))} - ${figure(Math.max(...times))}]`;
}

function seconds(ms: number): string {
  return `${figure(ms)} s`;
}

function figure(ms: number): string {
  return (ms / 1000).toFixed(ms < 1000 ? 2 : 1);
}

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;
  return [titles, titles.map(() => '---'), ...rows].map(line).join('');
}
