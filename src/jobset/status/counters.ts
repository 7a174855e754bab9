import type { ReplicatedJobStatus } from '../jobset.ts';

/**
 * When counters of Jobs are worth a write of their own. Every status is sent to every agent, and a
 * restart in place makes Jobs unready and ready again within a second or two, so counters wait for
 * a calm moment unless something else is written anyway.
 */
export const COUNTERS_DELAY_MS = 2000;

export interface CountersWrite {
  readonly differ: boolean;
  /** How long a write of the counters alone has to wait; undefined: until something else happens. */
  readonly waitMs: number | undefined;
}

export function countersWrite(
  stored: readonly ReplicatedJobStatus[] | undefined,
  counted: readonly ReplicatedJobStatus[],
  since: { readonly differMs: number | undefined; readonly nowMs: number },
  isConverging: boolean,
): CountersWrite {
  if (sameCounters(stored, counted)) return { differ: false, waitMs: undefined };
  if (isConverging) return { differ: true, waitMs: undefined };
  const { differMs = since.nowMs, nowMs } = since;
  return { differ: true, waitMs: Math.max(0, differMs + COUNTERS_DELAY_MS - nowMs) };
}

function sameCounters(
  stored: readonly ReplicatedJobStatus[] | undefined,
  counted: readonly ReplicatedJobStatus[],
): boolean {
  if (stored === undefined || stored.length !== counted.length) return false;
  const byName = new Map(stored.map((status) => [status.name, status]));
  return counted.every((status) => {
    const old = byName.get(status.name);
    return old !== undefined && COUNTERS.every((counter) => old[counter] === status[counter]);
  });
}

const COUNTERS = [
  'ready',
  'succeeded',
  'succeededIndexes',
  'failed',
  'active',
  'suspended',
] as const;
