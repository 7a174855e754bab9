import type { ReplicatedJobStatus } from '../jobset-status.ts';

/**
 * When counters of Jobs are worth a write of their own. Queues decide by `active` and `suspended`
 * whether anything runs at all, so a change of these from or to 0 is written at once. Other changes
 * wait for a calm moment, or for a few seconds: every agent gets every status, and thousands of Jobs
 * may start, or a group restart, within a second or two.
 */
const COUNTERS_CALM_MS = 500;
/** Longer than a restart in place usually takes, so that it costs no write of counters. */
export const COUNTERS_LATEST_MS = 5000;

/** Counters that differ from the stored ones and are not written yet. */
export interface CountersPutOff {
  readonly counted: readonly ReplicatedJobStatus[];
  /** Since when the counters differ from the stored ones. */
  readonly sinceMs: number;
  /** Since when the counters have not changed. */
  readonly calmSinceMs: number;
}

export type CountersWrite =
  | { readonly kind: 'Same' }
  /** The counters are written even with a group restart. */
  | { readonly kind: 'Urgent' }
  | { readonly kind: 'Due' }
  | { readonly kind: 'Wait'; readonly putOff: CountersPutOff; readonly waitMs: number };

export function countersWrite(
  stored: readonly ReplicatedJobStatus[] | undefined,
  counted: readonly ReplicatedJobStatus[],
  before: CountersPutOff | undefined,
  { nowMs, isConverging }: { readonly nowMs: number; readonly isConverging: boolean },
): CountersWrite {
  if (isSame(stored, counted, COUNTERS)) return { kind: 'Same' };
  if (stored !== undefined && !isSame(stored, counted, ['active', 'suspended'], isZero)) {
    return { kind: 'Urgent' };
  }
  const sinceMs = before?.sinceMs ?? nowMs;
  const isCalm = isSame(before?.counted, counted, COUNTERS);
  const calmSinceMs = isCalm ? (before?.calmSinceMs ?? nowMs) : nowMs;
  const latestMs = sinceMs + COUNTERS_LATEST_MS;
  const dueMs = isConverging ? latestMs : Math.min(calmSinceMs + COUNTERS_CALM_MS, latestMs);
  if (dueMs <= nowMs) return { kind: 'Due' };
  return { kind: 'Wait', putOff: { counted, sinceMs, calmSinceMs }, waitMs: dueMs - nowMs };
}

const COUNTERS = [
  'ready',
  'succeeded',
  'succeededIndexes',
  'failed',
  'active',
  'suspended',
] as const;
type Counter = (typeof COUNTERS)[number];

function isSame(
  stored: readonly ReplicatedJobStatus[] | undefined,
  counted: readonly ReplicatedJobStatus[],
  counters: readonly Counter[],
  as: (value: ReplicatedJobStatus[Counter]) => unknown = (value) => value,
): boolean {
  if (stored === undefined || stored.length !== counted.length) return false;
  const byName = new Map(stored.map((status) => [status.name, status]));
  return counted.every((status) => {
    const old = byName.get(status.name);
    return old !== undefined && counters.every((each) => as(old[each]) === as(status[each]));
  });
}

function isZero(value: ReplicatedJobStatus[Counter]): boolean {
  return value === 0;
}
