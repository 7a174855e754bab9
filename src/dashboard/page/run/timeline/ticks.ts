/** The marks of a time axis, at round local times. */
import type { Span } from './window.ts';

export interface Tick {
  readonly atMs: number;
  readonly label: string;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const STEPS_MS: readonly number[] = [
  ...[1, 10, 100].flatMap((ms) => [ms, 2 * ms, 5 * ms]),
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR),
  ...[1, 2, 7, 14, 28, 91, 182, 364, 1820].map((days) => days * DAY),
];

/** Pixels that one label needs with some room around it. */
const LABEL_PX = 84;
/** A guard: rounding cannot make more of them on the widest screen. */
const MAX_TICKS = 200;

/** `offsetMinutes` counts as in `Date`: local time is UTC minus it. */
export function ticksOf(span: Span, widthPx: number, offsetMinutes: number): readonly Tick[] {
  const room = Math.max(1, Math.floor(widthPx / LABEL_PX));
  const leastMs = (span.toMs - span.fromMs) / room;
  const stepMs = STEPS_MS.find((step) => step >= leastMs) ?? STEPS_MS.at(-1) ?? DAY;
  const offsetMs = offsetMinutes * MINUTE;
  const ticks: Tick[] = [];
  let atMs = Math.ceil((span.fromMs - offsetMs) / stepMs) * stepMs + offsetMs;
  for (; atMs <= span.toMs && ticks.length < MAX_TICKS; atMs += stepMs) {
    ticks.push({ atMs, label: labelOf(atMs - offsetMs, stepMs) });
  }
  return ticks;
}

function labelOf(localMs: number, stepMs: number): string {
  const text = new Date(localMs).toISOString();
  if (stepMs >= DAY || localMs % DAY === 0) return dayText(text);
  if (stepMs >= MINUTE) return text.slice(11, 16);
  return stepMs >= SECOND ? text.slice(11, 19) : text.slice(14, 23);
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

function dayText(iso: string): string {
  return `${Number(iso.slice(8, 10))} ${MONTHS[Number(iso.slice(5, 7)) - 1]}`;
}

/** `23 Nov 02:39:16.123`, in local time. */
export function momentText(ms: number, offsetMinutes: number, digits: 0 | 3 = 0): string {
  if (!Number.isFinite(ms)) return 'unknown';
  const iso = new Date(ms - offsetMinutes * MINUTE).toISOString();
  return `${dayText(iso)} ${iso.slice(11, digits === 0 ? 19 : 23)}`;
}
