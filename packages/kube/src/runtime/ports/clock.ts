import { microTimeText, timeText } from '../../time.ts';

/**
 * The port of time. Production uses `adapters/node-clock.ts`; tests and the simulator use
 * `memory/virtual-clock.ts`. Nothing else in `src/` may read the time or wait for it.
 */
export interface Clock {
  /** Wall time in milliseconds since 1970-01-01T00:00:00Z. It may jump; never measure with it. */
  now(): number;
  /** Milliseconds since an arbitrary origin; never goes back. Deadlines and durations use this. */
  monotonic(): number;
  /** Calls `fire` once, after at least `delayMs`. A delay of 0 still yields to the event loop. */
  setTimer(delayMs: number, fire: () => void): Timer;
}

/** A pending call of `Clock.setTimer`. */
export interface Timer {
  /** Cancels the call. Harmless if it has fired or was cancelled before. */
  cancel(): void;
}

/** The wall time as Kubernetes writes `metav1.Time`: RFC 3339, whole seconds, UTC. */
export function timestamp(clock: Clock): string {
  return timeText(clock.now());
}

/** The wall time as Kubernetes writes `metav1.MicroTime`: RFC 3339 with six fractional digits. */
export function microTimestamp(clock: Clock): string {
  return microTimeText(clock.now());
}

/** Resolves after `delayMs`; rejects with the signal's reason as soon as `signal` aborts. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const abort = (): void => {
      timer.cancel();
      reject(signal?.reason as Error);
    };
    const timer = clock.setTimer(delayMs, () => {
      signal?.removeEventListener('abort', abort);
      resolve();
    });
    signal?.addEventListener('abort', abort, { once: true });
  });
}

/**
 * Resolves after `delayMs`, or as soon as the signal aborts or the function is called that `onStart`
 * gets. It never rejects.
 */
export function pause(
  clock: Clock,
  delayMs: number,
  signal: AbortSignal,
  onStart?: (wake: () => void) => void,
): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      timer.cancel();
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const timer = clock.setTimer(delayMs, wake);
    signal.addEventListener('abort', wake, { once: true });
    onStart?.(wake);
    if (signal.aborted) wake();
  });
}
