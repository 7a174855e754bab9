/**
 * Two channels as one: the hub, and the API server while the hub cannot be reached. Each begins with
 * a consistent read, and what was announced last is repeated on the one that takes over; the
 * controller takes the newest epoch from either, so that an overlap does no harm.
 */
import type { Clock, Timer } from '../runtime/ports/clock.ts';
import type { Logger } from '../runtime/ports/logger.ts';
import { jitter, type Random } from '../runtime/ports/random.ts';
import type { Announcement, Channel, ChannelListener } from './channel.ts';

export interface FallbackChannelOptions {
  /** `reachable` is told whenever that changes; at first it is not. */
  readonly hub: (reachable: (isReachable: boolean) => void) => Channel;
  /** A new channel over the API server. It can only try: the agent may have no rights there. */
  readonly api: () => Channel;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** A leader that is replaced, or an operator that starts again, is back by then. */
export const FALLBACK_AFTER_MS = 10_000;
/** The members of a group do not all turn to the API server at once. */
const FALLBACK_JITTER = 0.5;

export function createFallbackChannel(options: FallbackChannelOptions): Channel {
  return new FallbackChannel(options);
}

class FallbackChannel implements Channel {
  readonly #options: FallbackChannelOptions;
  readonly #hub: Channel;
  #api: Channel | undefined;
  #isHubReachable = false;
  #listener: ChannelListener | undefined;
  #announced: Announcement | undefined;
  #timer: Timer | undefined;

  constructor(options: FallbackChannelOptions) {
    this.#options = options;
    this.#hub = options.hub((isReachable) => this.#hubIs(isReachable));
  }

  open(listener: ChannelListener): void {
    this.#listener = listener;
    this.#hub.open(listener);
    this.#waitForHub();
  }

  announce(announcement: Announcement): void {
    this.#announced = announcement;
    this.#hub.announce(announcement);
    this.#api?.announce(announcement);
  }

  async giveNotice(epoch: number): Promise<void> {
    const channel = this.#isHubReachable ? this.#hub : this.#api;
    await channel?.giveNotice(epoch);
  }

  close(): void {
    this.#timer?.cancel();
    this.#listener = undefined;
    this.#hub.close();
    this.#api?.close();
  }

  #hubIs(isReachable: boolean): void {
    this.#isHubReachable = isReachable;
    if (!isReachable) {
      this.#waitForHub();
      return;
    }
    this.#timer?.cancel();
    if (this.#api === undefined) return;
    this.#options.logger.info('the hub is back: leaves the API server');
    this.#api.close();
    this.#api = undefined;
  }

  #waitForHub(): void {
    const { clock, random } = this.#options;
    this.#timer?.cancel();
    if (this.#listener === undefined) return;
    const delayMs = jitter(random, FALLBACK_AFTER_MS, FALLBACK_JITTER);
    this.#timer = clock.setTimer(delayMs, () => this.#fallBack());
  }

  #fallBack(): void {
    const { logger, api } = this.#options;
    if (this.#listener === undefined || this.#api !== undefined) return;
    logger.warn('the hub cannot be reached: falls back to the API server');
    this.#api = api();
    this.#api.open(this.#listener);
    if (this.#announced !== undefined) this.#api.announce(this.#announced);
  }
}
