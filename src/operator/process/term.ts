/** The terms during which this operator acts. */

import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import {
  type LeaseTimes,
  startLeaderElection,
} from '@lockstep/kube/runtime/controller/leader-election.ts';
import type { RuntimePorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';

/** A period in which this operator is the only one that acts. */
export interface Term {
  /**
   * Aborts when the lease is lost: no request may write any more, not even one under way.
   */
  readonly lost: AbortSignal;
  /** Aborts when the lease is lost, and when the process is to end. */
  readonly over: AbortSignal;
}

export interface TermOptions extends RuntimePorts {
  /** For the lease. */
  readonly client: Client;
  /** Ends with the process. */
  readonly signal: AbortSignal;
  /** Undefined: no other operator acts, and there is nothing to wait for. */
  readonly lease: Lease | undefined;
}

export interface Lease {
  readonly namespace: string;
  readonly name: string;
  /** Unique among the replicas. */
  readonly identity: string;
  readonly times?: LeaseTimes | undefined;
}

/**
 * Acts whenever this process holds the lease, until the process is to end. `act` resolves when its
 * term is over and all its work has stopped. If it fails before, this rejects with the reason.
 */
export async function actInTerms(
  { lease, signal, ...runtime }: TermOptions,
  act: (term: Term) => Promise<void>,
): Promise<void> {
  if (lease === undefined) return act({ lost: new AbortController().signal, over: signal });
  const election = startLeaderElection({ ...runtime, ...lease });
  try {
    while (!signal.aborted) {
      const { lost, resign } = await election.lead(signal);
      try {
        await act({ lost, over: AbortSignal.any([signal, lost]) });
      } catch (error) {
        if (!lost.aborted) throw error;
      } finally {
        await resign();
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await election.stop();
  }
}

export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  );
}
