/**
 * CrashLoopBackOff: how long a container that ended waits for its next start. The first end costs
 * nothing; then it waits 10 s, doubled up to 300 s, counted from the end. A run of more than ten
 * minutes starts over. No jitter, as in a kubelet.
 */
export interface Backoff {
  readonly delayMs: number;
  /** When the container was last started after a crash; wall time. */
  readonly updatedMs: number;
}

/** The first delay of a crash loop and the longest one. */
export interface BackoffLimits {
  readonly initialMs: number;
  readonly maxMs: number;
}

/** The settings of a kubelet's configuration. */
export interface BackoffSettings {
  /** `crashLoopBackOff.maxContainerRestartPeriod`: 1 s to 300 s. */
  readonly maxContainerRestartPeriodMs?: number | undefined;
  /** The feature gate `ReduceDefaultCrashLoopBackOffDecay`. */
  readonly reduceDefaultDecay?: boolean | undefined;
}

const DEFAULT_LIMITS: BackoffLimits = { initialMs: 10_000, maxMs: 300_000 };
const REDUCED_LIMITS: BackoffLimits = { initialMs: 1_000, maxMs: 60_000 };
const LEAST_MAX_MS = 1_000;
/** After a longer run a container is not in a crash loop any more, however short its delays are. */
export const BACKOFF_RESET_MS = 600_000;

/** A node's own maximum wins over both defaults, and no first delay is longer than the maximum. */
export function backoffLimits(settings: BackoffSettings = {}): BackoffLimits {
  const { maxContainerRestartPeriodMs: ownMaxMs, reduceDefaultDecay = false } = settings;
  const limits = reduceDefaultDecay ? REDUCED_LIMITS : DEFAULT_LIMITS;
  if (ownMaxMs === undefined) return limits;
  if (!isRestartPeriod(ownMaxMs)) {
    throw new RangeError(
      `maxContainerRestartPeriod must be between 1s and 300s, and is ${ownMaxMs / 1000}s`,
    );
  }
  return { initialMs: Math.min(limits.initialMs, ownMaxMs), maxMs: ownMaxMs };
}

/** Whether a maximum of this length is allowed. */
export function isRestartPeriod(maxMs: number): boolean {
  return maxMs >= LEAST_MAX_MS && maxMs <= DEFAULT_LIMITS.maxMs;
}

/** When a container that ended at `finishedMs` may start again. */
export function earliestStartMs(backoff: Backoff | undefined, finishedMs: number): number {
  return isOver(backoff, finishedMs) ? finishedMs : finishedMs + backoff.delayMs;
}

/** The back-off after a start at `nowMs` that followed an end at `finishedMs`. */
export function nextBackoff(
  backoff: Backoff | undefined,
  finishedMs: number,
  nowMs: number,
  { initialMs, maxMs }: BackoffLimits,
): Backoff {
  const delayMs = isOver(backoff, finishedMs) ? initialMs : Math.min(2 * backoff.delayMs, maxMs);
  return { delayMs, updatedMs: nowMs };
}

function isOver(backoff: Backoff | undefined, finishedMs: number): backoff is undefined {
  return backoff === undefined || finishedMs - backoff.updatedMs > BACKOFF_RESET_MS;
}
