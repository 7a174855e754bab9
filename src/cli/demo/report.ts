import { seconds, timelineRows } from '../restart-timeline.ts';
import type { DemoMode, DemoStandby, DemoStrategy } from './options.ts';

/** The result of `lockstep demo`; `--json` prints it as it is. */
export interface DemoReport {
  /** Share of the 10,000 test images that the trained model recognises. */
  readonly accuracy: number;
  readonly durationMs: number;
  readonly workers: number;
  readonly steps: number;
  /** In the order of the failures. Comparisons come last: `Recreate`, and a warm standby. */
  readonly restarts: readonly MeasuredRestart[];
}

export interface MeasuredRestart {
  readonly strategy: DemoStrategy;
  /** Null if no agent takes part. */
  readonly mode: DemoMode | null;
  /** `Warm` if standbys became the workers, in every Pod. */
  readonly standby: DemoStandby;
  /** The epoch that the failure ended; null if there are no epochs. */
  readonly epoch: number | null;
  readonly witness: {
    readonly pod: string;
    readonly container: string | null;
    /** Exit code or name of the signal; both null if unknown. */
    readonly exitCode: number | null;
    readonly signal: string | null;
    readonly reason: string;
  };
  readonly podsRecreated: number;
  /** Steps since the checkpoint from which training continued, which were lost. */
  readonly stepsLost: number;
  /** How long each phase took, in their order; they add up to `totalMs`. */
  readonly phasesMs: Readonly<Record<string, number>>;
  /** From the death of the worker to the first step after it. */
  readonly totalMs: number;
}

const WIDTH = 80;

/** The report for people: lines of at most 80 columns, without colour. */
export function renderReport(report: DemoReport): string {
  const lines = [
    `Trained by ${report.workers} workers in ${report.steps} steps (${seconds(report.durationMs)} in all):` +
      ` ${(100 * report.accuracy).toFixed(2)} % accuracy`,
  ];
  const longest = Math.max(0, ...report.restarts.map((restart) => restart.totalMs));
  for (const restart of report.restarts) lines.push('', ...renderRestart(restart, longest));
  lines.push(...renderComparison(report.restarts));
  return `${lines.map((line) => line.slice(0, WIDTH).trimEnd()).join('\n')}\n`;
}

function renderRestart(restart: MeasuredRestart, longestMs: number): readonly string[] {
  const how = [
    restart.strategy,
    ...(restart.mode === null ? [] : [restart.mode]),
    ...(restart.standby === null ? [] : ['warm standby']),
  ].join(', ');
  const epoch = restart.epoch === null ? '' : `: epoch ${restart.epoch} ended`;
  const { pod, container, exitCode, signal, reason } = restart.witness;
  const end = signal ?? (exitCode === null ? 'exit code unknown' : `exit code ${exitCode}`);
  const lines = [
    `${how}${epoch}`,
    `  failed: ${pod}${container === null ? '' : `/${container}`}`,
    `  why:    ${end} (${reason})`,
  ];
  lines.push(...timelineRows('failure', restart.phasesMs, { longestMs, width: WIDTH }));
  lines.push(`  Pods recreated: ${restart.podsRecreated}, steps lost: ${restart.stepsLost}`);
  return lines;
}

function renderComparison(restarts: readonly MeasuredRestart[]): readonly string[] {
  const inPlace = restarts.filter(
    ({ strategy, standby }) => strategy === 'InPlaceRestart' && standby === null,
  );
  const warm = restarts.find(({ standby }) => standby === 'Warm');
  const recreated = restarts.find((restart) => restart.strategy === 'Recreate');
  if (inPlace.length === 0 || recreated === undefined) return [];
  const fastest = median(inPlace.map((restart) => restart.totalMs));
  return [
    '',
    `Down for ${seconds(fastest)} in place, ${seconds(recreated.totalMs)} with Recreate:` +
      ` ${(recreated.totalMs / fastest).toFixed(1)} times as long.`,
    ...(warm === undefined
      ? []
      : [`With a warm standby beside each worker, down for ${seconds(warm.totalMs)}.`]),
  ];
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
