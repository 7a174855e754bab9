import type { Clock } from './ports/clock.ts';

/** The reason of a signal made by `withDeadline`: `work` did not end within its limit. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

/**
 * Runs `work` under a signal that aborts after `limitMs`, or together with `parent`. It settles
 * exactly as `work` does, so nothing of the work continues afterwards. It therefore also waits for
 * work that ignores its signal.
 */
export async function withDeadline<T>(
  clock: Clock,
  limitMs: number,
  parent: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = (): void => controller.abort(parent?.reason);
  if (parent?.aborted) abort();
  parent?.addEventListener('abort', abort, { once: true });
  const timer = clock.setTimer(limitMs, () =>
    controller.abort(new DeadlineError(`not done within ${Math.round(limitMs)} ms`)),
  );
  try {
    return await work(controller.signal);
  } finally {
    timer.cancel();
    parent?.removeEventListener('abort', abort);
  }
}

/**
 * Waits for `work` at most `limitMs`, and returns whether it ended by then. The work may continue.
 */
export function endsWithin(
  clock: Clock,
  limitMs: number,
  work: Promise<unknown>,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(limitMs, () => resolve(false));
    const settle = (outcome: () => void): void => {
      timer.cancel();
      outcome();
    };
    work.then(
      () => settle(() => resolve(true)),
      (error: Error) => settle(() => reject(error)),
    );
  });
}

/**
 * Settles as `work` does, but rejects with the reason of `signal` as soon as that aborts. The work
 * may continue.
 */
export async function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (signal === undefined) return work;
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
