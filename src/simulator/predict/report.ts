/** Which groups are predicted unless the user says so, and how predictions read. */
import { MEASURED } from './costs.ts';
import type { Prediction, PredictionOptions } from './predicted-group.ts';

/** As `docs/large-groups.md` shows them, those that were measured too, and with shared streams. */
export const DOCUMENTED: readonly PredictionOptions[] = [
  ...[4, 64, 100, 1000, 2000, 5000].map((members) => ({ members, operators: 1, slower: 1 })),
  { members: 5000, operators: 1, slower: 1.25 },
  { members: 10_000, operators: 1, slower: 1.25 },
  { members: 19_000, operators: 1, slower: 1.25 },
  { members: 19_000, operators: 1, slower: 1 },
  { members: 50_000, operators: 1, slower: 1 },
  ...[1, 2, 4, 8].map((operators) => ({ members: 130_000, operators, slower: 1 })),
];

/** The share by which a prediction may be off before the report says so. */
const TOLERANCE = 0.3;

const COLUMNS = [
  'members',
  'operators',
  'slower',
  'last stop',
  'restart',
  'CPU',
  'memory',
  'pings',
] as const;

/** A line for each group, and below how it compares with what was measured. Ends with a line feed. */
export function reportOf(predictions: readonly Prediction[]): string {
  const rows = predictions.map((prediction) => [
    String(prediction.members),
    String(prediction.operators),
    String(prediction.slower),
    seconds(prediction.stoppedMs),
    seconds(prediction.restartMs),
    seconds(prediction.cpuMs),
    `${Math.round(prediction.memoryMib)} MiB`,
    percent(prediction.shareAtRest),
  ]);
  const late = predictions.some(({ shareAtRest }) => shareAtRest >= 1);
  const compared = predictions.flatMap(comparisons);
  const bars = [SCALE, ...predictions.map(barOf)];
  return [
    ...aligned([COLUMNS, ...rows]).map((line, row) => `${line}  ${bars[row]}`.trimEnd()),
    ...(late
      ? ['pings of 100 % or more: the hub does not keep up; the other columns are without pings']
      : []),
    ...(compared.length === 0
      ? []
      : ['', 'predicted / measured:', ...aligned([COMPARED, ...compared])]),
    '',
  ].join('\n');
}

/** Above the bars of restarts: ten characters for ten times as long. */
const SCALE = '|10 ms    |100 ms   |1 s      |10 s     |100 s';
const BAR_FROM_MS = 10;
const BAR_PER_DECADE = 10;

function barOf({ restartMs }: Prediction): string {
  const decades = Math.log10(restartMs / BAR_FROM_MS);
  return '#'.repeat(Math.max(1, 1 + Math.round(BAR_PER_DECADE * decades)));
}

const COMPARED = ['members', 'measured', 'slower', 'restart', 'CPU', 'memory', ''] as const;

function comparisons(prediction: Prediction): readonly (readonly string[])[] {
  const { members, slower, operators } = prediction;
  const same = MEASURED.filter(
    (measured) => measured.members === members && measured.slower === slower && operators === 1,
  );
  return same.map((measured) => {
    const ratios = [
      prediction.restartMs / measured.restartMs,
      ratio(prediction.cpuMs, measured.cpuMs),
      ratio(prediction.memoryMib, measured.memoryMib),
    ];
    const isOff = ratios.some((value = 1) => Math.abs(value - 1) > TOLERANCE);
    return [
      String(members),
      measured.where,
      String(slower),
      ...ratios.map((value) => value?.toFixed(2) ?? '-'),
      isOff ? `off by more than ${percent(TOLERANCE)}` : '',
    ];
  });
}

/** Undefined if it was not measured. */
function ratio(predicted: number, measured: number | undefined): number | undefined {
  return measured === undefined ? undefined : predicted / measured;
}

function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = rows[0]?.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padStart(widths?.[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function seconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
}
