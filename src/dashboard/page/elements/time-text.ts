/** Times, durations and shares as the page writes them. */
import { humanDuration } from '@lockstep/kube/duration.ts';

/**
 * `UTC`, `UTC+2`, `UTC+5:30`, `UTC−3`. `offsetMinutes` counts as in `Date`: local time is UTC minus
 * it.
 */
export function zoneText(offsetMinutes: number): string {
  if (!(Math.abs(offsetMinutes) > 0)) return 'UTC';
  const minutes = Math.abs(offsetMinutes);
  const rest = minutes % 60 === 0 ? '' : `:${twoDigits(minutes % 60)}`;
  return `UTC${offsetMinutes < 0 ? '+' : '−'}${Math.floor(minutes / 60)}${rest}`;
}

/** `14:03:07`, in the reader's time zone. */
export function clockText(ms: number): string {
  const date = new Date(ms);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(':');
}

/** `2026-11-23 14:03:07 UTC+2`, in the reader's time zone. */
export function dateText(ms: number): string {
  if (!Number.isFinite(ms)) return 'unknown';
  const date = new Date(ms);
  const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(twoDigits).join('-');
  return `${day} ${clockText(ms)} ${zoneText(date.getTimezoneOffset())}`;
}

/** As kubectl shows it, `2d1h`. A clock that lags behind shows 0 s. */
export function ageText(sinceMs: number, nowMs: number): string {
  if (!Number.isFinite(sinceMs)) return 'unknown';
  return humanDuration(Math.max(0, nowMs - sinceMs));
}

/** `93.4 %`; all of it only if nothing is missing. */
export function shareText(share: number): string {
  const percent = share * 100;
  const text = (percent < 100 ? Math.min(percent, 99.9) : 100).toFixed(1);
  return `${text.replace(/\.0$/, '')} %`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
