/** Whether the cluster answers, for as long as someone wants to know. */
import { firstAnswer } from '@lockstep/kube/runtime/client/first-answer.ts';
import { withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import { type Clock, pause } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Transport } from '@lockstep/kube/runtime/ports/transport.ts';

export interface HealthFollower {
  /** Called when the cluster stops answering, and when it answers again. */
  readonly changed?: () => void;
  /** It answers again, so connections that broke can be made again at once. */
  readonly recovered?: () => void;
}

const CHECK_INTERVAL_MS = 5000;
const RECHECK_INTERVAL_MS = 1000;
const CHECK_TIMEOUT_MS = 4000;
const MAX_WHY_LENGTH = 300;

export class ClusterHealth {
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #followers = new Set<HealthFollower>();
  #stopping = new AbortController();
  #hurry: () => void = () => undefined;
  #problem: string | undefined;
  #sinceMs = 0;

  constructor(transport: Transport, clock: Clock) {
    this.#transport = transport;
    this.#clock = clock;
  }

  /** A sentence; undefined: it answers, as far as is known. */
  get problem(): string | undefined {
    if (this.#problem === undefined) return undefined;
    const since = new Date(this.#sinceMs).toISOString().slice(11, 19);
    return `The cluster has not answered since ${since} UTC: ${this.#problem}.`;
  }

  /** Returns what ends it. */
  follow(follower: HealthFollower): () => void {
    this.#followers.add(follower);
    if (this.#followers.size === 1) {
      this.#stopping = new AbortController();
      void this.#run(this.#stopping.signal);
    }
    return () => {
      if (!this.#followers.delete(follower) || this.#followers.size > 0) return;
      this.#stopping.abort(new Error('nobody looks any more'));
    };
  }

  /** Something failed that may be the cluster's fault. */
  checkNow(): void {
    this.#hurry();
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const before = this.#problem;
      const problem = await this.#check(signal);
      if (signal.aborted) return;
      this.#problem = problem;
      if (before === undefined) this.#sinceMs = this.#clock.now();
      if (before !== problem) this.#tell((each) => each.changed?.());
      if (before !== undefined && problem === undefined) this.#tell((each) => each.recovered?.());
      const waitMs = problem === undefined ? CHECK_INTERVAL_MS : RECHECK_INTERVAL_MS;
      await pause(this.#clock, waitMs, signal, (wake) => {
        // While it does not answer, it is asked often enough.
        this.#hurry = problem === undefined ? wake : () => undefined;
      });
      this.#hurry = () => undefined;
    }
  }

  async #check(signal: AbortSignal): Promise<string | undefined> {
    try {
      const { status } = await withDeadline(this.#clock, CHECK_TIMEOUT_MS, signal, (within) =>
        firstAnswer(this.#transport, this.#clock, within),
      );
      return status < 500 ? undefined : `it answers ${status}`;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return why.slice(0, MAX_WHY_LENGTH).replace(/\.$/, '');
    }
  }

  #tell(what: (follower: HealthFollower) => void): void {
    for (const follower of this.#followers) what(follower);
  }
}
