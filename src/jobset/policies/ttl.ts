import type { Condition } from '../../kube/meta.ts';

/**
 * When a finished JobSet is deleted by itself. The value may change after the end, so it is looked
 * at in every pass and remembered nowhere.
 */
export type Expiry =
  | { readonly kind: 'Never' }
  | { readonly kind: 'Expired' }
  | { readonly kind: 'In'; readonly delayMs: number }
  /** The end of the JobSet cannot be told from its conditions. */
  | { readonly kind: 'Unknown' };

/** Timers take no more; whoever wakes up too early looks again. */
export const LONGEST_WAIT_MS = 24 * 60 * 60_000;

export function expiryOf(
  conditions: readonly Condition[] | undefined,
  ttlSeconds: number | undefined,
  nowMs: number,
): Expiry {
  if (ttlSeconds === undefined) return { kind: 'Never' };
  const end = conditions?.find(
    ({ type, status }) => (type === 'Completed' || type === 'Failed') && status === 'True',
  );
  const endedMs = Date.parse(end?.lastTransitionTime ?? '');
  // The zero time of Go, year 1, means that there is none.
  if (Number.isNaN(endedMs) || endedMs <= 0) return { kind: 'Unknown' };
  const remainingMs = endedMs + ttlSeconds * 1000 - nowMs;
  if (remainingMs <= 0) return { kind: 'Expired' };
  return { kind: 'In', delayMs: Math.min(remainingMs, LONGEST_WAIT_MS) };
}
