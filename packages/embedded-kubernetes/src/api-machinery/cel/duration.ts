/** Durations in expressions, to the nanosecond, as `google.protobuf.Duration` and Go write them. */
import { CelError, type CelResult, Duration } from './value.ts';

/** Undefined for a text that is no Go duration (`1h30m`, `-1.5s`). */
export function parseDuration(text: string): Duration | undefined {
  const [, sign = '', amount = ''] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (amount === '0') return new Duration(0n);
  if (!DURATION.test(amount)) return undefined;
  let nanoseconds = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of amount.matchAll(PART)) {
    const scale = NANOSECONDS[unit] ?? 0n;
    const digits = fraction.slice(0, FRACTION_DIGITS);
    nanoseconds += BigInt(whole === '' ? '0' : whole) * scale;
    if (digits !== '') nanoseconds += (BigInt(digits) * scale) / 10n ** BigInt(digits.length);
  }
  const signed = sign === '-' ? -nanoseconds : nanoseconds;
  return isInRange(signed) ? new Duration(signed) : undefined;
}

export function durationOf(nanoseconds: bigint): CelResult {
  return isInRange(nanoseconds) ? new Duration(nanoseconds) : new CelError('duration overflow');
}

/** Writes seconds with as many decimals as needed, such as `90s` or `0.5s`. */
export function durationText({ nanoseconds }: Duration): string {
  const magnitude = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  const fraction = (magnitude % SECOND).toString().padStart(9, '0').replace(/0+$/, '');
  const sign = nanoseconds < 0n ? '-' : '';
  return `${sign}${magnitude / SECOND}${fraction === '' ? '' : `.${fraction}`}s`;
}

export const SECOND = 1_000_000_000n;

/** The amount is bounded, so that no text makes an unbounded number. */
const DURATION = /^(?:(?:[0-9]{1,20}(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+$/;
const PART = /([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)/g;
const FRACTION_DIGITS = 20;

const NANOSECONDS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: SECOND,
  m: 60n * SECOND,
  h: 3_600n * SECOND,
};

/** Go counts nanoseconds in 64 bits. */
function isInRange(nanoseconds: bigint): boolean {
  return nanoseconds >= -(2n ** 63n) && nanoseconds < 2n ** 63n;
}
