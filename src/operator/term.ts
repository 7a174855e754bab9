import type { Client } from '../runtime/client.ts';
import { type LeaseTimes, startLeaderElection } from '../runtime/leader-election.ts';
import type { Clock } from '../runtime/ports/clock.ts';
import type { Logger } from '../runtime/ports/logger.ts';
import type { Random } from '../runtime/ports/random.ts';

/** Our time as the one operator that acts. */
export interface Term {
  /** Aborts when it is over, or the process is to end. */
  readonly signal: AbortSignal;
  end(): Promise<void>;
}

export interface TermOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Of the process. */
  readonly signal: AbortSignal;
  /** Undefined: nobody else acts, and there is nothing to wait for. */
  readonly lease: Lease | undefined;
}

export interface Lease {
  readonly namespace: string;
  readonly name: string;
  /** Unique among the replicas. */
  readonly identity: string;
  readonly times?: LeaseTimes | undefined;
}

/** Resolves when we lead, or the process is to end. */
export async function beginTerm({ lease, signal, ...runtime }: TermOptions): Promise<Term> {
  if (lease === undefined) return { signal, end: () => Promise.resolve() };
  const lost = new AbortController();
  let started = (): void => undefined;
  const leading = new Promise<void>((resolve) => {
    started = resolve;
  });
  const election = startLeaderElection({
    ...runtime,
    ...lease,
    onStartedLeading: () => started(),
    onLost: () => lost.abort(new Error('leadership was lost')),
  });
  await Promise.race([leading, aborted(signal)]);
  return {
    signal: AbortSignal.any([signal, lost.signal]),
    end: () => election.stop(),
  };
}

export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  );
}
