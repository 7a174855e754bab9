/** Patience with an API server that cannot answer for a while, for what a start cannot do without. */
import { ApiStatusError, isReason } from '../../status.ts';
import { Backoff } from '../backoff.ts';
import { DeadlineError, withDeadline } from '../deadline.ts';
import { sleep } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { RuntimePorts } from '../ports/runtime-ports.ts';
import { TransportError } from '../ports/transport.ts';

/** A control plane that is upgraded, or elects a leader of etcd, answers again within this. */
export const API_PATIENCE_MS = 120_000;

const RETRY_BACKOFF = { baseMs: 500, maxMs: 8_000, jitterFactor: 1 } as const;

/**
 * Repeats `work` while it fails for reasons that pass. A lost answer does not say whether the server
 * has acted, so `work` must cope with what it has done before. Rejects with any other failure at
 * once, with the signal's reason, and with `DeadlineError` when the patience is over. The log says
 * once what it waits for: `what` completes "waits for the API server to".
 */
export async function throughPassingFailures<T>(
  what: string,
  work: (signal: AbortSignal) => Promise<T>,
  options: RuntimePorts & { readonly signal: AbortSignal },
): Promise<T> {
  const { clock, random, logger, signal } = options;
  const backoff = new Backoff(random, RETRY_BACKOFF);
  let failure: unknown;
  const repeated = async (within: AbortSignal): Promise<T> => {
    for (;;) {
      try {
        return await work(within);
      } catch (error) {
        if (!isPassing(error)) throw error;
        if (failure === undefined) tellOfWait(logger, what, error);
        failure = error;
      }
      await sleep(clock, backoff.next(), within);
    }
  };
  try {
    return await withDeadline(clock, API_PATIENCE_MS, signal, repeated);
  } catch (error) {
    if (signal.aborted || !(error instanceof DeadlineError)) throw error;
    const seconds = API_PATIENCE_MS / 1000;
    const last = failure instanceof Error ? failure.message : 'no answer';
    const message = `waited ${seconds} s for the API server to ${what}; last: ${last}`;
    throw new DeadlineError(message, { cause: failure ?? error.cause });
  }
}

/** Whether a failure says nothing about the request, so that the same may succeed a moment later. */
export function isPassing(error: unknown): boolean {
  if (error instanceof TransportError || isReason(error, 'Conflict')) return true;
  return error instanceof ApiStatusError && (error.code === 429 || error.code >= 500);
}

export function tellOfWait(logger: Logger, what: string, error: unknown): void {
  logger.warn(`waits for the API server to ${what}`, {
    forMs: API_PATIENCE_MS,
    err: String(error),
  });
}
