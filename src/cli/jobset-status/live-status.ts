/** Shows a JobSet, or a list of them, live. */

import { DeadlineError, withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import { type Clock, sleep } from '@lockstep/kube/runtime/ports/clock.ts';

export interface LiveStatusOptions<View> {
  readonly clock: Clock;
  /** Undefined: what is shown is gone. */
  readonly look: (signal: AbortSignal) => Promise<View | undefined>;
  readonly show: (view: View) => void;
  /** Aborts when the user stops looking. */
  readonly signal: AbortSignal;
}

/** Announcements over a hub have no watch, so they are polled; people do not read faster. */
const LOOK_INTERVAL_MS = 1000;
const LOOK_TIMEOUT_MS = 8000;

/**
 * Shows it until it is gone (then it resolves with true) or the signal aborts. Failures are
 * shown and retried; only a failure of the first look rejects.
 */
export async function followStatus<View extends { readonly problem?: string }>(
  options: LiveStatusOptions<View>,
): Promise<boolean> {
  const { clock, look, show, signal } = options;
  let last: View | undefined;
  while (!signal.aborted) {
    try {
      const view = await withDeadline(clock, LOOK_TIMEOUT_MS, signal, look);
      if (view === undefined) return true;
      last = view;
      show(view);
    } catch (error) {
      if (signal.aborted) break;
      if (last === undefined) throw error;
      show({ ...last, problem: `not up to date: ${reasonOf(error)}` });
    }
    await sleep(clock, LOOK_INTERVAL_MS, signal).catch(() => undefined);
  }
  return false;
}

function reasonOf(error: unknown): string {
  if (error instanceof DeadlineError) {
    const why = error.cause instanceof Error ? `: ${error.cause.message}` : '';
    return `the cluster has not answered for ${LOOK_TIMEOUT_MS / 1000} s${why}`;
  }
  return error instanceof Error ? error.message : String(error);
}
