/**
 * Points in time in expressions, from RFC 3339, to the nanosecond, in years 1 to 9999, and their
 * parts.
 */
import { SECOND } from './duration.ts';
import { CelError, type CelResult, Timestamp } from './value.ts';

/** Undefined for a text that is no RFC 3339 time. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const match = RFC3339.exec(text);
  if (match === null) return undefined;
  const [, day = '', time = '', fraction = '', zone = ''] = match;
  const ms = Date.parse(`${day}T${time}${zone.toUpperCase()}`);
  const local = Date.parse(`${day}T00:00:00Z`);
  // JavaScript takes 30 February for 2 March.
  const isDay = !Number.isNaN(local) && new Date(local).toISOString().startsWith(day);
  if (Number.isNaN(ms) || !isDay) return undefined;
  const nanoseconds = BigInt(ms) * MILLISECOND + BigInt(fraction.slice(0, 9).padEnd(9, '0'));
  return isInRange(nanoseconds) ? new Timestamp(nanoseconds) : undefined;
}

export function timestampOf(nanoseconds: bigint): CelResult {
  return isInRange(nanoseconds) ? new Timestamp(nanoseconds) : new CelError('timestamp overflow');
}

/** Formats in UTC, with as many decimals as needed. */
export function timestampText(timestamp: Timestamp): string {
  const { seconds, nanos } = split(timestamp);
  const text = new Date(Number(seconds) * 1_000).toISOString().replace(/\.\d+Z$/, '');
  const fraction = nanos.toString().padStart(9, '0').replace(/0+$/, '');
  return `${text}${fraction === '' ? '' : `.${fraction}`}Z`;
}

export type TimePart =
  | 'getFullYear'
  | 'getMonth'
  | 'getDayOfYear'
  | 'getDayOfMonth'
  | 'getDate'
  | 'getDayOfWeek'
  | 'getHours'
  | 'getMinutes'
  | 'getSeconds'
  | 'getMilliseconds';

/** A part of a time in a zone, `UTC`, `+02:00` or `Europe/Berlin`. Months and days count from 0. */
export function timePart(timestamp: Timestamp, part: TimePart, zone: string): CelResult {
  const shift = zoneShiftMs(timestamp, zone);
  if (shift === undefined) return new CelError(`unknown time zone ${zone}`);
  const { seconds, nanos } = split(timestamp);
  const date = new Date(Number(seconds) * 1_000 + shift);
  switch (part) {
    case 'getFullYear':
      return BigInt(date.getUTCFullYear());
    case 'getMonth':
      return BigInt(date.getUTCMonth());
    case 'getDayOfYear':
      return BigInt(Math.floor((date.getTime() - yearStart(date)) / DAY_MS));
    case 'getDayOfMonth':
      return BigInt(date.getUTCDate() - 1);
    case 'getDate':
      return BigInt(date.getUTCDate());
    case 'getDayOfWeek':
      return BigInt(date.getUTCDay());
    case 'getHours':
      return BigInt(date.getUTCHours());
    case 'getMinutes':
      return BigInt(date.getUTCMinutes());
    case 'getSeconds':
      return BigInt(date.getUTCSeconds());
    case 'getMilliseconds':
      return nanos / MILLISECOND;
  }
}

const RFC3339 = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(?:\.(\d+))?([Zz]|[+-]\d{2}:\d{2})$/;
const MILLISECOND = 1_000_000n;
const DAY_MS = 86_400_000;

const EARLIEST = BigInt(Date.parse('0001-01-01T00:00:00Z')) * MILLISECOND;
const LATEST = BigInt(Date.parse('9999-12-31T23:59:59Z')) * MILLISECOND + SECOND - 1n;

function isInRange(nanoseconds: bigint): boolean {
  return nanoseconds >= EARLIEST && nanoseconds <= LATEST;
}

/** Whole seconds, rounded down, and the remainder. */
function split({ nanoseconds }: Timestamp): { readonly seconds: bigint; readonly nanos: bigint } {
  const nanos = ((nanoseconds % SECOND) + SECOND) % SECOND;
  return { seconds: (nanoseconds - nanos) / SECOND, nanos };
}

/** Sets the year separately, because `Date.UTC` takes years below 100 as 19xx. */
function yearStart(date: Date): number {
  const start = new Date(date.getTime());
  start.setUTCMonth(0, 1);
  start.setUTCHours(0, 0, 0, 0);
  return start.getTime();
}

function zoneShiftMs(timestamp: Timestamp, zone: string): number | undefined {
  if (zone === 'UTC' || zone === '') return 0;
  const offset = /^([+-]?)(\d{1,2}):(\d{2})$/.exec(zone);
  if (offset !== null) {
    const [, sign, hours = '0', minutes = '0'] = offset;
    const ms = (Number(hours) * 60 + Number(minutes)) * 60_000;
    return sign === '-' ? -ms : ms;
  }
  return namedZoneShiftMs(Number(split(timestamp).seconds) * 1_000, zone);
}

function namedZoneShiftMs(ms: number, timeZone: string): number | undefined {
  const format = zoneFormat(timeZone);
  if (format === undefined) return undefined;
  const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  const local = new Date(0);
  local.setUTCFullYear(part('year'), part('month') - 1, part('day'));
  local.setUTCHours(part('hour'), part('minute'), part('second'));
  return local.getTime() - ms;
}

function zoneFormat(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
