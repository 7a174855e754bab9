import { LEASES, type Lease } from '../kube/lease.ts';
import type { Stored } from '../kube/meta.ts';
import { apiVersionOf } from '../kube/resource.ts';
import { isReason } from '../kube/status.ts';
import type { Client } from './client.ts';
import { withDeadline } from './deadline.ts';
import { type Clock, microTimestamp, sleep } from './ports/clock.ts';
import type { Logger } from './ports/logger.ts';
import { jitter, type Random } from './ports/random.ts';

/**
 * Leader election over a `Lease`, with client-go's rules, so that both implementations can contend
 * for one lease. Another's lease is judged by how long *we* have seen it unchanged, never by its
 * timestamps: clocks of two machines need not agree. A leader that cannot renew in time gives up
 * before anybody else may take over. It makes two leaders unlikely, not impossible: decisions are
 * protected by the resourceVersion of every write (design, H10).
 */
export interface LeaderElectionOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly namespace: string;
  readonly name: string;
  /** Unique among the candidates, such as `<host>_<uuid>`. */
  readonly identity: string;
  readonly times?: LeaseTimes | undefined;
  /** Called once. The signal aborts when leadership is lost or given up. */
  readonly onStartedLeading: (signal: AbortSignal) => void;
  /** Called once, if leadership was lost against our will: the process should end at once. */
  readonly onLost: () => void;
}

export interface LeaderElection {
  isLeader(): boolean;
  /**
   * Withdraws, and releases the lease if it is held, so that a successor need not wait for it to
   * expire. Stop everything that writes before.
   */
  stop(): Promise<void>;
}

export interface LeaseTimes {
  /** How long others wait for a silent leader; a Lease has it in whole seconds. */
  readonly leaseDurationMs: number;
  /** How long a leader tries to renew before it gives up; less than the lease lasts. */
  readonly renewDeadlineMs: number;
  /** Pause between tries; less than the deadline. */
  readonly retryPeriodMs: number;
}

/** Those of Kubernetes' own components. */
export const DEFAULT_LEASE_TIMES: LeaseTimes = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
};

/** Candidates spread their tries by up to this factor of the period. */
const RETRY_JITTER = 1.2;
const RELEASE_TIMEOUT_MS = 1000;

export function startLeaderElection(options: LeaderElectionOptions): LeaderElection {
  return new Candidate(options);
}

class Candidate implements LeaderElection {
  readonly #options: LeaderElectionOptions;
  readonly #logger: Logger;
  readonly #times: LeaseTimes;
  readonly #stopping = new AbortController();
  readonly #leading = new AbortController();
  readonly #ended: Promise<void>;
  /** The lease as last seen, and when (monotonic) its content was first seen so. */
  #seen: { readonly lease: Stored<Lease>; readonly sinceMs: number } | undefined;
  #isLeader = false;

  constructor(options: LeaderElectionOptions) {
    this.#options = options;
    this.#times = options.times ?? DEFAULT_LEASE_TIMES;
    this.#logger = options.logger.with({ lease: `${options.namespace}/${options.name}` });
    this.#ended = this.#run().catch((error: unknown) => {
      if (!this.#stopping.signal.aborted) throw error;
    });
  }

  isLeader(): boolean {
    return this.#isLeader;
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('leader election stops'));
    await this.#ended;
    if (!this.#isLeader) return;
    this.#stepDown('stopped');
    const { clock } = this.#options;
    try {
      await withDeadline(clock, RELEASE_TIMEOUT_MS, undefined, (signal) => this.#release(signal));
    } catch (error) {
      this.#logger.warn('lease not released, it will expire', { err: error });
    }
  }

  async #run(): Promise<void> {
    const { clock, random, identity } = this.#options;
    const { signal } = this.#stopping;
    const { renewDeadlineMs, retryPeriodMs } = this.#times;
    while (!(await this.#attempt(renewDeadlineMs))) {
      await sleep(clock, jitter(random, retryPeriodMs, RETRY_JITTER), signal);
    }
    this.#isLeader = true;
    this.#logger.info('became leader', { identity });
    this.#options.onStartedLeading(this.#leading.signal);
    let renewedMs = clock.monotonic();
    for (;;) {
      await sleep(clock, retryPeriodMs, signal);
      const remainingMs = renewedMs + renewDeadlineMs - clock.monotonic();
      if (remainingMs > 0 && (await this.#attempt(remainingMs))) renewedMs = clock.monotonic();
      else if (signal.aborted) return;
      else if (clock.monotonic() - renewedMs >= renewDeadlineMs || this.#isTakenOver()) break;
    }
    this.#stepDown('lost');
    this.#options.onLost();
  }

  #stepDown(why: string): void {
    this.#isLeader = false;
    this.#logger.info('no longer leader', { why });
    this.#leading.abort(new Error(`leadership ${why}`));
  }

  /** Acquires or renews; false if another holds the lease or the API does not let us. */
  async #attempt(limitMs: number): Promise<boolean> {
    const { clock } = this.#options;
    try {
      return await withDeadline(clock, limitMs, this.#stopping.signal, (signal) =>
        this.#acquireOrRenew(signal),
      );
    } catch (error) {
      if (!this.#stopping.signal.aborted && !isReason(error, 'Conflict', 'AlreadyExists')) {
        this.#logger.warn('lease not written', { err: error });
      }
      return false;
    }
  }

  async #acquireOrRenew(signal: AbortSignal): Promise<boolean> {
    const { client, namespace, name } = this.#options;
    let lease: Stored<Lease>;
    try {
      lease = await client.get(LEASES, { namespace, name }, { signal });
    } catch (error) {
      if (!isReason(error, 'NotFound')) throw error;
      const metadata = { namespace, name };
      const fresh: Lease = { apiVersion: apiVersionOf(LEASES), kind: LEASES.kind, metadata };
      this.#see(
        await client.create(LEASES, { ...fresh, spec: this.#claim(undefined) }, { signal }),
      );
      return true;
    }
    this.#see(lease);
    if (this.#isHeldByAnother(lease)) return false;
    const claimed = { ...lease, spec: { ...lease.spec, ...this.#claim(lease) } };
    this.#see(await client.update(LEASES, claimed, { signal }));
    return true;
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

  async #release(signal: AbortSignal): Promise<void> {
    const { client, clock, namespace, name, identity } = this.#options;
    // Read again: a renewal that was given up may have been carried out.
    const lease = await client.get(LEASES, { namespace, name }, { signal });
    if (lease.spec?.holderIdentity !== identity) return;
    const renewTime = microTimestamp(clock);
    const spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime };
    await client.update(LEASES, { ...lease, spec }, { signal });
  }

  #durationSeconds(): number {
    return Math.ceil(this.#times.leaseDurationMs / 1000);
  }

  #see(lease: Stored<Lease>): void {
    const isUnchanged =
      this.#seen?.lease.metadata.resourceVersion === lease.metadata.resourceVersion;
    if (isUnchanged) return;
    this.#seen = { lease, sinceMs: this.#options.clock.monotonic() };
  }

  #isHeldByAnother(lease: Lease): boolean {
    const holder = lease.spec?.holderIdentity ?? '';
    if (holder === '' || holder === this.#options.identity) return false;
    const durationMs = (lease.spec?.leaseDurationSeconds ?? this.#durationSeconds()) * 1000;
    const sinceMs = this.#seen?.sinceMs ?? this.#options.clock.monotonic();
    return this.#options.clock.monotonic() < sinceMs + durationMs;
  }

  #isTakenOver(): boolean {
    const holder = this.#seen?.lease.spec?.holderIdentity ?? '';
    return holder !== '' && holder !== this.#options.identity;
  }
}
