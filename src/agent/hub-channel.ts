/**
 * The channel over the hub (`docs/reference/hub-protocol.md`): one stream to the operator's leader,
 * opened again whenever it is lost. Each hello repeats the last announcement, because the hub keeps
 * announcements in memory only. Its answer comes from a state that was read afterwards.
 */

import { Backoff } from '@lockstep/kube/runtime/backoff.ts';
import { withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import { type Clock, sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import { jitter, type Random } from '@lockstep/kube/runtime/ports/random.ts';
import type { StreamConnector } from '@lockstep/kube/runtime/ports/stream.ts';
import type { HubMessage } from '../jobset/hub/message.ts';
import type { Announcement } from '../jobset/worker-end/announcement.ts';
import type { WorkerEnd } from '../jobset/worker-end/worker-end.ts';
import type { Channel, ChannelListener } from './channel.ts';
import { Conversation, type HubContact, type StreamResult } from './hub-conversation.ts';
import { ReachLog } from './reach/reach-log.ts';
import { failedTry, unreached } from './reach/unreached.ts';

export interface HubChannelOptions {
  readonly connector: StreamConnector;
  readonly clock: Clock;
  readonly random: Random;
  /** Its lines have the hub's address. */
  readonly logger: Logger;
  /** Undefined: the hub derives it from the Pod. */
  readonly jobSetUid: string | undefined;
  /** Called with the result of each try for a stream. */
  readonly contact?: (contact: HubContact) => void;
}

/**
 * Limits the time from the first packet to the upgraded connection. If thousands of agents connect
 * at once, they have to wait for the hub: an agent that gives up early starts over.
 */
const CONNECT_TIMEOUT_MS = 60_000;
/**
 * Another leader appears within seconds, and a restarting group waits for its last member. During
 * this time tries are at most a second apart.
 */
const EAGER_FOR_MS = 15_000;
const EAGER_DELAY_MS = 125;
const EAGER_JITTER = 1;
/** Spreads the members of a group, which come back together. A small group need not wait. */
const SPREAD_PER_MEMBER_MS = 0.1;
const MAX_SPREAD_MS = 750;
const PATIENT_BACKOFF = { baseMs: 1000, maxMs: 5000, jitterFactor: 1 } as const;
const GONE = 410;

export function createHubChannel(options: HubChannelOptions): Channel {
  return new HubChannel(options);
}

class HubChannel implements Channel {
  readonly #options: HubChannelOptions;
  readonly #end = new AbortController();
  readonly #reach: ReachLog;
  #listener: ChannelListener | undefined;
  /** The newest announcement, to be repeated on every stream. */
  #announced: Announcement | undefined;
  #conversation: Conversation | undefined;
  #members = 0;
  /** The last question for the Pod has not been answered yet. */
  #isPodWanted = false;

  constructor(options: HubChannelOptions) {
    this.#options = options;
    this.#reach = new ReachLog(options.clock, options.logger);
  }

  open(listener: ChannelListener): void {
    this.#listener = listener;
    this.#run().catch((error: unknown) => {
      // Only the end of the channel gets here.
      if (!this.#end.signal.aborted) throw error;
    });
  }

  announce(announcement: Announcement): void {
    this.#announced = announcement;
    this.#conversation?.announce(announcement);
  }

  askForPod(): void {
    this.#isPodWanted = true;
    this.#conversation?.askForPod();
  }

  ping(): void {
    this.#conversation?.ping();
  }

  giveNotice(epoch: number): Promise<void> {
    this.#conversation?.notice(epoch);
    return Promise.resolve();
  }

  tellSuccess(end: WorkerEnd): void {
    this.#conversation?.tellSuccess(end);
  }

  close(): void {
    this.#conversation?.end();
    this.#listener = undefined;
    this.#end.abort(new Error('the channel was closed'));
  }

  async #run(): Promise<void> {
    const { clock, random, logger } = this.#options;
    const { signal } = this.#end;
    const patient = new Backoff(random, PATIENT_BACKOFF);
    let lostMs = clock.monotonic();
    while (!signal.aborted) {
      const result = await this.#converse();
      if (result.type === 'PodGone') {
        this.#listener?.podEnding();
        return;
      }
      if (result.type === 'NotAnswered' && !signal.aborted) this.#reach.failed(result.why);
      if (result.type === 'Answered') {
        if (!signal.aborted) {
          logger.info('the stream to the hub ended', { why: unreached(result.why).saw });
        }
        patient.reset();
        lostMs = clock.monotonic();
      }
      const isEager = clock.monotonic() - lostMs < EAGER_FOR_MS;
      const spreadMs = Math.min(this.#members * SPREAD_PER_MEMBER_MS, MAX_SPREAD_MS);
      const delayMs = isEager ? jitter(random, EAGER_DELAY_MS, EAGER_JITTER) : patient.next();
      await sleep(clock, delayMs + random.next() * spreadMs, signal);
    }
  }

  /** One stream, from its opening to its end. */
  async #converse(): Promise<StreamResult> {
    const { clock, connector, contact } = this.#options;
    const { signal } = this.#end;
    const conversation = new Conversation(this.#options, {
      contact: (change) => {
        if (change === 'Answered') this.#reach.answered();
        contact?.(change);
      },
      message: (message) => this.#take(message),
      confirmed: (epoch) => this.#listener?.announced(epoch),
      podLives: (askedMs) => {
        this.#isPodWanted = false;
        this.#listener?.podLives(askedMs);
      },
      answered: (askedMs) => this.#listener?.answered(askedMs),
      progress: () => this.#listener?.progress(),
    });
    try {
      const stream = await withDeadline(clock, CONNECT_TIMEOUT_MS, signal, (within) =>
        connector.connect(conversation, within),
      );
      this.#conversation = conversation;
      conversation.begin(stream, this.#announced);
      if (this.#isPodWanted) conversation.askForPod();
      const result = await conversation.ended;
      if (result.type !== 'PodGone') contact?.(result.type === 'Answered' ? 'Lost' : 'Failed');
      return result;
    } catch (error) {
      signal.throwIfAborted();
      const why = failedTry(error);
      const isGone = why.status === GONE;
      if (!isGone) contact?.('Failed');
      return { type: isGone ? 'PodGone' : 'NotAnswered', why };
    } finally {
      this.#conversation = undefined;
      conversation.end();
    }
  }

  #take(message: Extract<HubMessage, { readonly type: 'state' | 'ending' }>): void {
    if (message.type === 'ending') {
      this.#listener?.podEnding();
      return;
    }
    const { state, isFresh, members } = message;
    this.#members = members;
    this.#listener?.snapshot({ ...state, isFresh, members });
  }
}
