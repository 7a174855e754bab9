/**
 * How a test waits in real time for what no event of its own reports: files, processes, the other ends of
 * connections. On a virtual clock `VirtualClock.runUntil` waits, and for one object of an API server `waitFor`.
 */
import { setTimeout } from 'node:timers/promises';

/** Far above what a busy machine needs, and below the timeouts of tests, which do not say what was missing. */
const PATIENCE_MS = 50_000;
const MIN_PAUSE_MS = 5;

/**
 * Looks again and again until `look` neither throws nor gives false, and resolves with what it gave.
 * Rejects after `timeoutMs`, and says what was seen last: let an assertion in `look` say it.
 */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  timeoutMs = PATIENCE_MS,
): Promise<Exclude<T, false>> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    const startMs = performance.now();
    let last: unknown = 'false';
    try {
      const seen = await look();
      if (seen !== false) return seen as Exclude<T, false>;
    } catch (error) {
      last = error;
    }
    const nowMs = performance.now();
    if (nowMs >= deadlineMs) {
      const text = last instanceof Error ? last.message : String(last);
      throw new Error(`not within ${timeoutMs} ms: ${what}; seen last: ${text}`, { cause: last });
    }
    // A look that is costly, such as a command, takes half of the time at most.
    await setTimeout(Math.max(MIN_PAUSE_MS, nowMs - startMs));
  }
}
