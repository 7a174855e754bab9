/** Leader election over a `Lease`, with client-go's rules. */

import type { Stored } from '../../meta.ts';
import { LEASES, type Lease } from '../../objects/lease.ts';
import { typeMetaOf } from '../../resource.ts';
import { mayBeNewer } from '../../resource-version.ts';
import { isReason } from '../../status.ts';
import type { Client } from '../client/client.ts';
import { withDeadline } from '../deadline.ts';
import { createInformer } from '../informer/create-informer.ts';
import type { Informer } from '../informer/informer.ts';
import { microTimestamp, pause, sleep } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import { jitter } from '../ports/random.ts';
import type { RuntimePorts } from '../ports/runtime-ports.ts';

/**
 * Candidates of both implementations can contend for one lease. A candidate judges another's lease
 * by how long *it* has seen it unchanged, never by its timestamps, because clocks of machines may
 * differ. It watches the lease, so it acts as soon as the lease expires or is released.
 *
 * A leader that cannot renew in time steps down before another may take over, and can lead again
 * later. Two leaders at once are therefore unlikely, but not impossible. Decisions are protected by
 * the resourceVersion of every write, so leases may be short.
 */
export interface LeaderElectionOptions extends RuntimePorts {
  /** Its requests must not wait for other requests of the process. */
  readonly client: Client;
  readonly namespace: string;
  readonly name: string;
  /** Unique among the candidates, such as `<host>_<uuid>`. */
  readonly identity: string;
  readonly times?: LeaseTimes | undefined;
}

export interface LeaderElection {
  /**
   * Resolves when we lead; rejects with the reason of the signal. Call it again after a leadership
   * has ended and everything of it has stopped.
   */
  lead(signal: AbortSignal): Promise<Leadership>;
  /** Ends the watch of the lease. Resign first. */
  stop(): Promise<void>;
}

export interface Leadership {
  /** Aborts when the lease is lost. */
  readonly lost: AbortSignal;
  /**
   * Releases the lease, unless it is lost, so that a successor need not wait until it expires.
   * First stop everything that writes.
   */
  resign(): Promise<void>;
}

export interface LeaseTimes {
  /** How long others wait for a silent leader; a Lease stores whole seconds. */
  readonly leaseDurationMs: number;
  /** How long a leader tries to renew before it steps down; less than the lease duration. */
  readonly renewDeadlineMs: number;
  /** From one renewal to the next; less than the deadline. */
  readonly retryPeriodMs: number;
}

/** Short, because a group whose leader dies waits for the lease to expire. */
export const DEFAULT_LEASE_TIMES: LeaseTimes = {
  leaseDurationMs: 4_000,
  renewDeadlineMs: 3_500,
  retryPeriodMs: 1_000,
};

/** Candidates whose request failed spread their tries by up to this factor of the period. */
const RETRY_JITTER = 1.2;
/** A request that hangs leaves time for another, over another connection, before the deadline. */
const ATTEMPTS_PER_DEADLINE = 2;
/** How many times per period a renewal that failed at once is tried again. */
const RETRIES_PER_PERIOD = 4;
const RELEASE_TIMEOUT_MS = 1000;

export function startLeaderElection(options: LeaderElectionOptions): LeaderElection {
  return new Candidate(options);
}

class Candidate implements LeaderElection {
  readonly #options: LeaderElectionOptions;
  readonly #logger: Logger;
  readonly #times: LeaseTimes;
  readonly #leases: Informer<Lease>;
  /** The lease as last seen, and when (monotonic) its content was first seen. */
  #seen: { readonly lease: Stored<Lease>; readonly sinceMs: number } | undefined;
  /** Ends the wait for a change of the lease. */
  #changed: () => void = () => undefined;

  constructor(options: LeaderElectionOptions) {
    const { namespace, name } = options;
    this.#options = options;
    this.#times = options.times ?? DEFAULT_LEASE_TIMES;
    this.#logger = options.logger.with({ lease: `${namespace}/${name}` });
    const fieldSelector = `metadata.name=${name}`;
    this.#leases = createInformer<Lease>({
      ...options,
      logger: this.#logger,
      resource: LEASES,
      fieldSelector,
    });
    this.#leases.subscribe({
      added: (lease) => this.#see(lease),
      updated: (lease) => this.#see(lease),
      deleted: (lease) => this.#forget(lease),
    });
  }

  async lead(signal: AbortSignal): Promise<Leadership> {
    const { clock, identity } = this.#options;
    let sentMs = clock.monotonic();
    while (!(await this.#attempt(this.#times.renewDeadlineMs, signal))) {
      signal.throwIfAborted();
      await this.#untilWorthATry(signal);
      sentMs = clock.monotonic();
    }
    this.#logger.info('became leader', { identity });
    const lost = new AbortController();
    const resigning = new AbortController();
    const renewing = this.#renew(sentMs, resigning.signal).then(
      (why) => {
        this.#logger.warn('no longer leader', { why });
        lost.abort(new Error(`leadership was lost: ${why}`));
      },
      (error: unknown) => {
        if (!resigning.signal.aborted) throw error;
      },
    );
    return {
      lost: lost.signal,
      resign: async () => {
        resigning.abort(new Error('the leader resigns'));
        await renewing;
        if (!lost.signal.aborted) await this.#resign();
      },
    };
  }

  async stop(): Promise<void> {
    await this.#leases.stop();
  }

  /** Waits until another's lease may have expired; for some time if something else failed. */
  async #untilWorthATry(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    if (this.#expiryMs() <= clock.monotonic()) {
      await sleep(clock, jitter(random, this.#times.retryPeriodMs, RETRY_JITTER), signal);
    }
    for (;;) {
      const remainingMs = this.#expiryMs() - clock.monotonic();
      if (remainingMs <= 0) return;
      await this.#changeWithin(remainingMs, signal);
    }
  }

  /** Resolves with the reason for the loss of the lease. */
  async #renew(acquiredMs: number, signal: AbortSignal): Promise<string> {
    const { clock } = this.#options;
    const { renewDeadlineMs, retryPeriodMs } = this.#times;
    let renewedMs = acquiredMs;
    let nextMs = renewedMs + retryPeriodMs;
    for (;;) {
      const deadlineMs = renewedMs + renewDeadlineMs;
      while (clock.monotonic() < Math.min(nextMs, deadlineMs) && !this.#isHeldByAnother()) {
        await this.#changeWithin(Math.min(nextMs, deadlineMs) - clock.monotonic(), signal);
      }
      if (this.#isHeldByAnother()) return 'another has taken it';
      const sentMs = clock.monotonic();
      const limitMs = Math.min(deadlineMs - sentMs, renewDeadlineMs / ATTEMPTS_PER_DEADLINE);
      if (limitMs <= 0) return `not renewed for ${renewDeadlineMs} ms`;
      const isRenewed = await this.#attempt(limitMs, signal);
      signal.throwIfAborted();
      if (isRenewed) {
        renewedMs = sentMs;
        nextMs = sentMs + retryPeriodMs;
      } else nextMs = clock.monotonic() + retryPeriodMs / RETRIES_PER_PERIOD;
    }
  }

  /** Acquires or renews; false if another holds the lease or the API does not let us. */
  async #attempt(limitMs: number, signal: AbortSignal): Promise<boolean> {
    try {
      return await withDeadline(this.#options.clock, limitMs, signal, (within) =>
        this.#acquireOrRenew(within),
      );
    } catch (error) {
      if (!signal.aborted) this.#logger.warn('lease not written', { err: error });
      return false;
    }
  }

  /**
   * Writes once, under the version that was seen last. If that is not the newest, reads the lease.
   */
  async #acquireOrRenew(signal: AbortSignal): Promise<boolean> {
    const { client, clock, namespace, name } = this.#options;
    const known = this.#seen?.lease ?? (await this.#read(signal));
    if (this.#expiryMs() > clock.monotonic()) return false;
    const head = typeMetaOf(LEASES);
    const spec = { ...known?.spec, ...this.#claim(known) };
    try {
      const written =
        known === undefined
          ? await client.create(
              LEASES,
              { ...head, metadata: { namespace, name }, spec },
              { signal },
            )
          : await client.update(LEASES, { ...known, spec }, { signal });
      this.#see(written);
      return true;
    } catch (error) {
      if (!isReason(error, 'Conflict', 'AlreadyExists', 'NotFound')) throw error;
      await this.#read(signal);
      return false;
    }
  }

  async #read(signal: AbortSignal): Promise<Stored<Lease> | undefined> {
    const { client, namespace, name } = this.#options;
    try {
      const lease = await client.get(LEASES, { namespace, name }, { signal });
      this.#see(lease);
      return lease;
    } catch (error) {
      if (!isReason(error, 'NotFound')) throw error;
      this.#seen = undefined;
      return undefined;
    }
  }

  #claim(lease: Lease | undefined): NonNullable<Lease['spec']> {
    const now = microTimestamp(this.#options.clock);
    const isOurs = lease?.spec?.holderIdentity === this.#options.identity;
    const transitions = lease?.spec?.leaseTransitions ?? 0;
    return {
      holderIdentity: this.#options.identity,
      leaseDurationSeconds: this.#durationSeconds(),
      acquireTime: isOurs ? (lease.spec?.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: lease === undefined || isOurs ? transitions : transitions + 1,
    };
  }

  async #resign(): Promise<void> {
    this.#logger.info('no longer leader', { why: 'resigned' });
    const { clock } = this.#options;
    try {
      await withDeadline(clock, RELEASE_TIMEOUT_MS, undefined, (signal) => this.#release(signal));
    } catch (error) {
      this.#logger.warn('lease not released, it will expire', { err: error });
    }
  }

  async #release(signal: AbortSignal): Promise<void> {
    const { client, clock, namespace, name, identity } = this.#options;
    // Read again: a renewal that was given up may have been carried out.
    const lease = await client.get(LEASES, { namespace, name }, { signal });
    if (lease.spec?.holderIdentity !== identity) return;
    const renewTime = microTimestamp(clock);
    const spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime };
    this.#see(await client.update(LEASES, { ...lease, spec }, { signal }));
  }

  #durationSeconds(): number {
    return Math.ceil(this.#times.leaseDurationMs / 1000);
  }

  /** Ignores older states: the watch may be behind what was read or written. */
  #see(lease: Stored<Lease>): void {
    const known = this.#seen?.lease.metadata.resourceVersion;
    if (known !== undefined && !mayBeNewer(lease.metadata.resourceVersion, known)) return;
    this.#seen = { lease, sinceMs: this.#options.clock.monotonic() };
    this.#changed();
  }

  #forget({ metadata }: Stored<Lease>): void {
    if (this.#seen?.lease.metadata.uid !== metadata.uid) return;
    this.#seen = undefined;
    this.#changed();
  }

  /** Resolves when the lease has changed, or the time has passed. */
  async #changeWithin(limitMs: number, signal: AbortSignal): Promise<void> {
    await pause(this.#options.clock, limitMs, signal, (wake) => {
      this.#changed = wake;
    });
    signal.throwIfAborted();
  }

  /** When (monotonic) the lease may be taken, as far as we know. */
  #expiryMs(): number {
    if (this.#seen === undefined || !this.#isHeldByAnother()) return Number.NEGATIVE_INFINITY;
    const { lease, sinceMs } = this.#seen;
    return sinceMs + (lease.spec?.leaseDurationSeconds ?? this.#durationSeconds()) * 1000;
  }

  #isHeldByAnother(): boolean {
    const holder = this.#seen?.lease.spec?.holderIdentity ?? '';
    return holder !== '' && holder !== this.#options.identity;
  }
}
