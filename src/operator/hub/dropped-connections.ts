/** Counts connections to the hub's port that end before they identify themselves. */
import type { Metrics } from '@lockstep/kube/runtime/metrics.ts';
import type { Clock, Timer } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type { ConnectionDrop } from '@lockstep/kube/runtime/ports/stream.ts';

/** There may be tens of thousands a second, so the log has only sums. */
export class DroppedConnections {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #count: (reason: ConnectionDrop) => void;
  #unsaid = new Map<ConnectionDrop, number>();
  #timer: Timer | undefined;

  constructor(clock: Clock, logger: Logger, metrics: Metrics | undefined) {
    this.#clock = clock;
    this.#logger = logger;
    const counter = metrics?.counter({
      name: 'lockstep_hub_connections_dropped_total',
      help: 'Connections that ended before they asked for a stream, by the reason',
      labels: ['reason'],
    });
    this.#count = (reason) => counter?.add({ reason });
  }

  add(reason: ConnectionDrop, address: string): void {
    this.#count(reason);
    this.#unsaid.set(reason, (this.#unsaid.get(reason) ?? 0) + 1);
    this.#timer ??= this.#clock.setTimer(LOG_INTERVAL_MS, () => this.#say(address));
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** `address` is the address of one of them. */
  #say(address: string): void {
    const counts = Object.fromEntries(this.#unsaid);
    this.#logger.warn('connections ended before they asked for a stream', { ...counts, address });
    this.#unsaid = new Map();
    this.#timer = undefined;
  }
}

const LOG_INTERVAL_MS = 5000;
