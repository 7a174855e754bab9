/** Durations as Go writes them (`1m20s`), and the ages that kubectl shows (`3d4h`). */

/** Milliseconds, or undefined for a text that is not a Go duration. */
export function parseDuration(text: string): number | undefined {
  const [, sign = '', amount = ''] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (amount === '0') return 0;
  if (!/^(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(amount))
    return undefined;
  let ms = 0;
  for (const [, value = '', unit = ''] of amount.matchAll(/([0-9.]+)([a-zµμ]+)/g)) {
    ms += Number(value) * (MS_OF_UNIT[unit] ?? 0);
  }
  if (ms > LONGEST_MS) return undefined;
  return sign === '-' ? -ms : ms;
}

/** Formats a duration such as `1h0m5.5s`, `150ms`, `0s`. */
export function formatDuration(ms: number): string {
  const sign = ms < 0 ? '-' : '';
  const magnitude = Math.abs(ms);
  if (magnitude === 0) return '0s';
  if (magnitude < 1) return `${sign}${trimmed(magnitude * 1e3)}µs`;
  if (magnitude < 1_000) return `${sign}${trimmed(magnitude)}ms`;
  const hours = Math.floor(magnitude / 3_600_000);
  const minutes = Math.floor((magnitude % 3_600_000) / 60_000);
  const seconds = `${trimmed((magnitude % 60_000) / 1_000)}s`;
  if (hours > 0) return `${sign}${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${sign}${minutes}m${seconds}` : `${sign}${seconds}`;
}

/**
 * An age in at most two units, the finer one only while it matters: `119s`, `2m5s`, `10m`, `3h5m`,
 * `10h`, `2d1h`, `9d`, `2y3d`, `9y` (`k8s.io/apimachinery/pkg/util/duration`).
 */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1_000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return twoUnits(minutes, 'm', seconds % 60, 's');
  if (minutes < 3 * 60) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return twoUnits(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (days < 8) return twoUnits(days, 'd', hours % 24, 'h');
  if (days < 2 * 365) return `${days}d`;
  const years = Math.floor(days / 365);
  return years < 8 ? twoUnits(years, 'y', days % 365, 'd') : `${years}y`;
}

const MS_OF_UNIT: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/** Go counts nanoseconds in 64 bits, which is 292 years. */
const LONGEST_MS = 2 ** 63 / 1e6;

function twoUnits(coarse: number, unit: string, fine: number, fineUnit: string): string {
  return fine === 0 ? `${coarse}${unit}` : `${coarse}${unit}${fine}${fineUnit}`;
}

/** Rounds to nanoseconds and drops trailing zeros. */
function trimmed(value: number): string {
  return String(Number(value.toFixed(9)));
}
