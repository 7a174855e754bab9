/**
 * One stream between an agent and the hub, from the hello to the end: its messages, the meaning of
 * an answer, and when silence counts as loss.
 */

import { LineSplitter } from '@lockstep/kube/runtime/client/watch-stream.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { jitter, type Random } from '@lockstep/kube/runtime/ports/random.ts';
import type { ByteStream } from '@lockstep/kube/runtime/ports/stream.ts';
import {
  type AgentMessage,
  encodeAgentMessage,
  type HubMessage,
  MAX_MESSAGE_BYTES,
  parseHubMessage,
} from '../jobset/hub/message.ts';
import type { Progress } from '../jobset/progress/progress.ts';
import type { Announcement } from '../jobset/worker-end/announcement.ts';
import { shifted, type WorkerEnd } from '../jobset/worker-end/worker-end.ts';
import { type FailedTry, failedTry } from './reach/unreached.ts';

export type HubContact =
  /** A hello has been answered. */
  | 'Answered'
  /** An answered stream has been silent for so long that it may be dead. */
  | 'Silent'
  /** A message came over a doubted stream. */
  | 'Heard'
  /** An answered stream has ended. */
  | 'Lost'
  /** A try has ended without an answer: refused, not reached, or given up. */
  | 'Failed';

/** Long enough for the hub to read the JobSet before it answers. */
const HELLO_TIMEOUT_MS = 30_000;
/** The agent sends something at least this often, plus jitter, to show the hub that it lives. */
export const HEARTBEAT_MS = 4000;
export const HEARTBEAT_JITTER = 0.25;
/**
 * The hub answers each ping, so after this time an answer is late by a whole heartbeat. If thousands
 * of agents connect at once, the hub may be that late, so the stream stays open.
 */
const DOUBT_AFTER_MS = 9000;
/** After this much silence the hub, or the network to it, is gone. */
const SILENCE_TIMEOUT_MS = 20_000;
/** The most open questions of one stream. */
const MAX_OPEN_QUESTIONS = 8;

type Ping = Extract<AgentMessage, { readonly type: 'ping' }>;

export type StreamResult =
  /** `Answered`: the stream served its purpose for a while. */
  { readonly type: 'Answered' | 'NotAnswered' | 'PodGone'; readonly why: FailedTry };

export interface ConversationEvents {
  readonly contact: (contact: HubContact) => void;
  readonly message: (message: Extract<HubMessage, { readonly type: 'state' | 'ending' }>) => void;
  /** The hub has the announcement, or will get it before anything else. */
  readonly confirmed: (epoch: number) => void;
  readonly podLives: (askedMs: number) => void;
  /** The hub answered the `ping` of that time. */
  readonly answered: (askedMs: number) => void;
  /** See `ChannelListener.progress`. */
  readonly progress: () => Progress | undefined;
}

export interface ConversationOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Undefined: the hub derives it from the Pod. */
  readonly jobSetUid: string | undefined;
}

/** The messages of one stream. */
export class Conversation {
  readonly ended: Promise<StreamResult>;
  readonly #options: ConversationOptions;
  readonly #events: ConversationEvents;
  readonly #lines = new LineSplitter(MAX_MESSAGE_BYTES);
  #stream: ByteStream | undefined;
  #isAnswered = false;
  #isOver = false;
  #isDoubted = false;
  #unconfirmed: number | undefined;
  #heardMs = 0;
  /** When each open question for the Pod was asked, by its number. */
  readonly #asked = new Map<number, number>();
  #asks = 0;
  /** When each open `ping` was sent, by its number among all pings of the stream. */
  readonly #pings = new Map<number, number>();
  #sentPings = 0;
  #pongs = 0;
  #timers: { cancel(): void }[] = [];
  #finish: (result: StreamResult) => void = () => undefined;

  constructor(options: ConversationOptions, events: ConversationEvents) {
    this.#options = options;
    this.#events = events;
    this.ended = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  begin(stream: ByteStream, announcement: Announcement | undefined): void {
    if (this.#isOver) {
      stream.destroy();
      return;
    }
    this.#stream = stream;
    const { clock, jobSetUid } = this.#options;
    this.#heardMs = clock.monotonic();
    this.#unconfirmed = announcement?.epoch;
    const told = announcement && sentNow(announcement, this.#heardMs);
    const progress = this.#events.progress();
    this.#say({ type: 'hello', jobSetUid, announcement: told, progress });
    this.#timers = [
      clock.setTimer(HELLO_TIMEOUT_MS, () => {
        if (!this.#isAnswered) this.#over('NotAnswered', 'the hello was not answered in time');
      }),
    ];
    this.#scheduleHeartbeat();
  }

  announce(announcement: Announcement): void {
    const told = sentNow(announcement, this.#options.clock.monotonic());
    this.#say({ type: 'announce', announcement: told, progress: this.#events.progress() });
    if (this.#isAnswered) this.#events.confirmed(announcement.epoch);
    else this.#unconfirmed = announcement.epoch;
  }

  /** Keeps the last few questions open, because an answer to an earlier one counts as well. */
  askForPod(): void {
    const ask = ++this.#asks;
    this.#asked.delete(ask - MAX_OPEN_QUESTIONS);
    this.#asked.set(ask, this.#options.clock.monotonic());
    this.#sayPing({ ask });
  }

  ping(): void {
    this.#sayPing({});
    this.#pings.set(this.#sentPings, this.#options.clock.monotonic());
    const [oldest] = this.#pings.keys();
    if (this.#pings.size > MAX_OPEN_QUESTIONS && oldest !== undefined) this.#pings.delete(oldest);
  }

  /** In a `ping`, because an older hub ends a stream at a type that it does not know. */
  tellSuccess(end: WorkerEnd): void {
    this.#sayPing({ success: shifted(end, -this.#options.clock.monotonic()) });
  }

  notice(epoch: number): void {
    this.#say({ type: 'notice', epoch });
  }

  /**
   * Sends the worker's last progress, because it may have saved its work when it was told to end.
   * Messages under way are still sent.
   */
  end(): void {
    if (this.#isAnswered && this.#events.progress() !== undefined) this.#sayPing({});
    this.#over('NotAnswered', 'the channel was closed');
  }

  received(chunk: Uint8Array): void {
    if (this.#isOver) return;
    this.#heardMs = this.#options.clock.monotonic();
    if (this.#isDoubted) {
      this.#isDoubted = false;
      this.#events.contact('Heard');
    }
    try {
      for (const text of this.#lines.push(chunk)) {
        this.#take(text);
        if (this.#isOver) return;
      }
    } catch (error) {
      this.#over('NotAnswered', failedTry(error));
    }
  }

  closed(error: Error | undefined): void {
    this.#over('NotAnswered', error === undefined ? 'the hub closed it' : failedTry(error));
  }

  #take(text: string): void {
    const message = parseHubMessage(text);
    switch (message.type) {
      case 'state':
        this.#takeState(message);
        break;
      case 'ending':
        this.#events.message(message);
        break;
      case 'pong':
        this.#takePong();
        break;
      case 'podLives': {
        const askedMs = this.#asked.get(message.ask);
        if (askedMs !== undefined) this.#events.podLives(askedMs);
        break;
      }
      case 'bye':
        this.#over(message.reason === 'PodGone' ? 'PodGone' : 'NotAnswered', message.reason);
        break;
      case 'malformed':
        this.#over('NotAnswered', `the hub sent ${message.problem}`);
        break;
    }
  }

  /** Ignores states before the answer to the hello: they may be older than what we know. */
  #takeState(message: Extract<HubMessage, { readonly type: 'state' }>): void {
    const isAnswer = message.isFresh && !this.#isAnswered;
    if (!isAnswer && !this.#isAnswered) return;
    if (isAnswer) {
      this.#isAnswered = true;
      this.#events.contact('Answered');
    }
    this.#events.message(message);
    const epoch = this.#unconfirmed;
    this.#unconfirmed = undefined;
    if (epoch !== undefined) this.#events.confirmed(epoch);
  }

  #scheduleHeartbeat(): void {
    const { clock, random } = this.#options;
    const timer = clock.setTimer(jitter(random, HEARTBEAT_MS, HEARTBEAT_JITTER), () => {
      const silentMs = clock.monotonic() - this.#heardMs;
      if (silentMs >= SILENCE_TIMEOUT_MS) {
        this.#over('NotAnswered', 'the hub is silent');
        return;
      }
      if (silentMs >= DOUBT_AFTER_MS && this.#isAnswered && !this.#isDoubted) {
        this.#isDoubted = true;
        this.#events.contact('Silent');
      }
      this.#sayPing({});
      this.#scheduleHeartbeat();
    });
    this.#timers = [...this.#timers.slice(0, 1), timer];
  }

  #sayPing(asked: Pick<Ping, 'ask' | 'success'>): void {
    this.#sentPings++;
    this.#say({ type: 'ping', ...asked, progress: this.#events.progress() });
  }

  /** The hub answers pings one by one, in their order. */
  #takePong(): void {
    const askedMs = this.#pings.get(++this.#pongs);
    this.#pings.delete(this.#pongs);
    if (askedMs !== undefined) this.#events.answered(askedMs);
  }

  #say(message: Parameters<typeof encodeAgentMessage>[0]): void {
    if (!this.#isOver) this.#stream?.write(new TextEncoder().encode(encodeAgentMessage(message)));
  }

  #over(type: StreamResult['type'], ended: string | FailedTry): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const timer of this.#timers) timer.cancel();
    this.#stream?.end();
    const why = typeof ended === 'string' ? { message: ended } : ended;
    this.#finish({ type: type === 'NotAnswered' && this.#isAnswered ? 'Answered' : type, why });
  }
}

/** The announcement as it is to be sent now. */
function sentNow({ end, ...announcement }: Announcement, nowMs: number): Announcement {
  return end === undefined ? announcement : { ...announcement, end: shifted(end, -nowMs) };
}
