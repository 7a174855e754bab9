/**
 * Combines two channels: the hub, and the API server while the hub cannot be reached. Each begins
 * with a consistent read, and a channel that takes over repeats the last announcement. An overlap
 * does no harm: the controller uses the newest epoch of both, and the barrier ignores lower epochs.
 * An agent that has just started has no worker to lose, so it asks the API server much sooner.
 */

import type { Timer } from '@lockstep/kube/runtime/ports/clock.ts';
import { jitter } from '@lockstep/kube/runtime/ports/random.ts';
import type { RuntimePorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import type { Announcement } from '../jobset/worker-end/announcement.ts';
import type { WorkerEnd } from '../jobset/worker-end/worker-end.ts';
import type { Channel, ChannelListener } from './channel.ts';
import type { HubContact } from './hub-conversation.ts';

export interface FallbackChannelOptions extends RuntimePorts {
  readonly hub: (contact: (contact: HubContact) => void) => Channel;
  /** A new channel over the API server. It may fail, because the agent may have no rights there. */
  readonly api: () => Channel;
}

/** Long enough for a replaced leader or a restarted operator to be back. */
export const FALLBACK_AFTER_MS = 10_000;
/** Spreads the members of a group, so that they do not all turn to the API server at once. */
const FALLBACK_JITTER = 0.5;
/** Counts from the first doubt about a stream, whose time differs for each member. */
const FALLBACK_AFTER_DOUBT_MS = 500;
const FALLBACK_AFTER_DOUBT_JITTER = 1;
/**
 * Counts from the first failed try at the start. After a mere change of the leader, the hub may be
 * back by then.
 */
export const START_AFTER_FAILURE_MS = 1000;
const START_AFTER_FAILURE_JITTER = 1;
/**
 * Counts from the start, while the first try is under way. A hub that thousands of agents reach at
 * once keeps them waiting; the same requests would hit the API server harder.
 */
export const START_UNANSWERED_MS = 5000;
const START_UNANSWERED_JITTER = 0.5;
/**
 * How many unanswered questions for the Pod show that the hub is of an older version without them.
 */
const MAX_OPEN_QUESTIONS = 3;

export function createFallbackChannel(options: FallbackChannelOptions): Channel {
  return new FallbackChannel(options);
}

class FallbackChannel implements Channel {
  readonly #options: FallbackChannelOptions;
  readonly #hub: Channel;
  #api: Channel | undefined;
  #isHubReachable = false;
  /** Questions for the Pod since the hub last answered one. */
  #questions = 0;
  #listener: ChannelListener | undefined;
  #announced: Announcement | undefined;
  /** True until a channel is reached or the first try for the hub fails. */
  #isStart = true;
  #timer: Timer | undefined;
  /** When the timer fires, monotonic. */
  #dueMs = Number.POSITIVE_INFINITY;

  constructor(options: FallbackChannelOptions) {
    this.#options = options;
    this.#hub = options.hub((contact) => this.#hubTold(contact));
  }

  open(listener: ChannelListener): void {
    this.#listener = listener;
    this.#askApiWithin(START_UNANSWERED_MS, START_UNANSWERED_JITTER);
    this.#hub.open({
      snapshot: (snapshot) => listener.snapshot(snapshot),
      announced: (epoch) => listener.announced(epoch),
      podEnding: () => listener.podEnding(),
      podLives: (askedMs) => {
        this.#questions = 0;
        this.#leaveApi();
        listener.podLives(askedMs);
      },
      answered: (askedMs) => listener.answered(askedMs),
      progress: () => listener.progress(),
    });
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

  tellSuccess(end: WorkerEnd): void {
    this.#hub.tellSuccess(end);
  }

  askForPod(): void {
    this.#questions++;
    if (this.#questions > MAX_OPEN_QUESTIONS) this.#askApi();
    this.#hub.askForPod();
    this.#api?.askForPod();
  }

  ping(): void {
    this.#hub.ping();
    this.#api?.ping();
  }

  close(): void {
    this.#ceaseWaiting();
    this.#listener = undefined;
    this.#hub.close();
    this.#api?.close();
  }

  #hubTold(contact: HubContact): void {
    switch (contact) {
      case 'Answered':
      case 'Heard':
        this.#isHubReachable = true;
        this.#isStart = false;
        this.#ceaseWaiting();
        this.#leaveApi();
        break;
      case 'Silent':
        this.#isHubReachable = false;
        this.#askApiWithin(FALLBACK_AFTER_DOUBT_MS, FALLBACK_AFTER_DOUBT_JITTER);
        break;
      case 'Lost':
        this.#isHubReachable = false;
        this.#askApiWithin(FALLBACK_AFTER_MS, FALLBACK_JITTER);
        break;
      case 'Failed':
        if (this.#isStart) this.#askApiWithin(START_AFTER_FAILURE_MS, START_AFTER_FAILURE_JITTER);
        this.#isStart = false;
        break;
    }
  }

  #leaveApi(): void {
    if (this.#api === undefined) return;
    this.#options.logger.info('the hub answers: leaves the API server');
    this.#api.close();
    this.#api = undefined;
  }

  /** Sets the timer, unless it already fires sooner. */
  #askApiWithin(ms: number, factor: number): void {
    const { clock, random } = this.#options;
    const delayMs = jitter(random, ms, factor);
    const dueMs = clock.monotonic() + delayMs;
    if (this.#listener === undefined || dueMs >= this.#dueMs) return;
    this.#ceaseWaiting();
    this.#dueMs = dueMs;
    this.#timer = clock.setTimer(delayMs, () => this.#askApi());
  }

  #ceaseWaiting(): void {
    this.#timer?.cancel();
    this.#dueMs = Number.POSITIVE_INFINITY;
  }

  #askApi(): void {
    const { logger, api } = this.#options;
    this.#ceaseWaiting();
    this.#isStart = false;
    if (this.#listener === undefined || this.#api !== undefined) return;
    logger.warn('the hub does not answer: asks the API server');
    this.#api = api();
    this.#api.open(this.#listener);
    if (this.#announced !== undefined) this.#api.announce(this.#announced);
  }
}
