/**
 * CrashLoopBackOff: how long a container that ended waits for its next start. The first end costs
 * nothing, then 10 s, doubled up to 300 s, counted from the end; a run of more than ten minutes
 * begins anew. No jitter, as in a kubelet (spec of container restarts, section 2.5).
 */
export interface Backoff {
  readonly delayMs: number;
  /** When the container was last started after a crash; wall time. */
  readonly updatedMs: number;
}

export const INITIAL_BACKOFF_MS = 10_000;
export const MAX_BACKOFF_MS = 300_000;
/** A container that ran longer than this is no crash loop any more. */
export const BACKOFF_RESET_MS = 600_000;

/** When a container that ended at `finishedMs` may start again. */
export function earliestStartMs(backoff: Backoff | undefined, finishedMs: number): number {
  return isOver(backoff, finishedMs) ? finishedMs : finishedMs + backoff.delayMs;
}

/** The back-off after a start at `nowMs` that followed an end at `finishedMs`. */
export function nextBackoff(
  backoff: Backoff | undefined,
  finishedMs: number,
  nowMs: number,
): Backoff {
  const delayMs = isOver(backoff, finishedMs)
    ? INITIAL_BACKOFF_MS
    : Math.min(2 * backoff.delayMs, MAX_BACKOFF_MS);
  return { delayMs, updatedMs: nowMs };
}

function isOver(backoff: Backoff | undefined, finishedMs: number): backoff is undefined {
  return backoff === undefined || finishedMs - backoff.updatedMs > BACKOFF_RESET_MS;
}
