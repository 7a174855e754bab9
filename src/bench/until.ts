import { setTimeout as delay } from 'node:timers/promises';

export interface UntilOptions {
  readonly timeoutMs: number;
  readonly pollMs: number;
  readonly signal?: AbortSignal;
}

/** Resolves once the condition holds. Rejects after the time-out, or with the signal's reason. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  { timeoutMs, pollMs, signal }: UntilOptions,
): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs;
  while (!(await condition())) {
    signal?.throwIfAborted();
    if (performance.now() > deadlineMs) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await delay(pollMs);
  }
}
