/**
 * The channel over the hub (`docs/reference/hub-protocol.md`): one stream to the operator's leader,
 * opened again whenever it is lost. What was announced last is repeated in each hello, because the
 * hub keeps announcements in memory only; each hello is answered from a state read after it.
 */
import {
  encodeAgentMessage,
  type HubMessage,
  MAX_MESSAGE_BYTES,
  parseHubMessage,
} from '../jobset/hub/message.ts';
import { Backoff } from '../runtime/backoff.ts';
import { withDeadline } from '../runtime/deadline.ts';
import { type Clock, sleep } from '../runtime/ports/clock.ts';
import type { Logger } from '../runtime/ports/logger.ts';
import { jitter, type Random } from '../runtime/ports/random.ts';
import {
  type ByteStream,
  type StreamConnector,
  StreamRefusedError,
} from '../runtime/ports/stream.ts';
import { LineSplitter } from '../runtime/watch-stream.ts';
import type { Announcement, Channel, ChannelListener } from './channel.ts';

export interface HubChannelOptions {
  readonly connector: StreamConnector;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Undefined: as the hub knows from the Pod. */
  readonly jobSetUid: string | undefined;
  /** Told how each try for a stream goes. */
  readonly contact?: (contact: HubContact) => void;
}

export type HubContact =
  /** A hello has been answered. */
  | 'Answered'
  /** The stream on which one was answered has brought nothing for so long that it may be dead. */
  | 'Silent'
  /** It has brought something again. */
  | 'Heard'
  /** The stream on which one was answered has ended. */
  | 'Lost'
  /** A try has ended without an answer: refused, not reached, or given up. */
  | 'Failed';

/**
 * From the first packet to the upgraded connection. A hub to which thousands come at once gets through
 * with them if they wait; those that give up early come again, and it never does.
 */
const CONNECT_TIMEOUT_MS = 60_000;
/** The hub reads the JobSet before it answers. */
const HELLO_TIMEOUT_MS = 30_000;
/** Something is sent at least this often, plus jitter, so that the hub knows that we live. */
export const HEARTBEAT_MS = 4000;
const HEARTBEAT_JITTER = 0.25;
/**
 * The hub answers each ping, so it is late by a whole heartbeat then, or packets are dropped on the way.
 * One to which thousands come at once may be: the stream stays.
 */
const DOUBT_AFTER_MS = 9000;
/** After so long a silence the hub is gone, or the way to it. */
const SILENCE_TIMEOUT_MS = 20_000;
/**
 * Another leader is there within seconds, and a group that restarts waits for its last member: while that
 * can be, tries are at most a second apart.
 */
const EAGER_FOR_MS = 15_000;
const EAGER_DELAY_MS = 125;
const EAGER_JITTER = 1;
/** The members of a group do not all come back at once; a small one need not wait for that. */
const SPREAD_PER_MEMBER_MS = 0.1;
const MAX_SPREAD_MS = 750;
const PATIENT_BACKOFF = { baseMs: 1000, maxMs: 5000, jitterFactor: 1 } as const;
const GONE = 410;
/** Of one stream. */
const MAX_OPEN_QUESTIONS = 8;

export function createHubChannel(options: HubChannelOptions): Channel {
  return new HubChannel(options);
}

class HubChannel implements Channel {
  readonly #options: HubChannelOptions;
  readonly #end = new AbortController();
  #listener: ChannelListener | undefined;
  /** The newest announcement, to be repeated on every stream. */
  #announced: Announcement | undefined;
  #conversation: Conversation | undefined;
  #members = 0;
  /** Nobody has answered the last question for the Pod yet. */
  #isPodWanted = false;

  constructor(options: HubChannelOptions) {
    this.#options = options;
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

  giveNotice(epoch: number): Promise<void> {
    this.#conversation?.notice(epoch);
    return Promise.resolve();
  }

  close(): void {
    this.#listener = undefined;
    this.#end.abort(new Error('the channel was closed'));
    this.#conversation?.end();
  }

  async #run(): Promise<void> {
    const { clock, random, logger } = this.#options;
    const { signal } = this.#end;
    const patient = new Backoff(random, PATIENT_BACKOFF);
    let lostMs = clock.monotonic();
    while (!signal.aborted) {
      const outcome = await this.#converse();
      if (outcome.type === 'PodGone') {
        this.#listener?.podEnding();
        return;
      }
      if (!signal.aborted) logger.info('the stream to the hub ended', { why: outcome.why });
      if (outcome.type === 'Answered') {
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
  async #converse(): Promise<Outcome> {
    const { clock, connector, contact } = this.#options;
    const { signal } = this.#end;
    const conversation = new Conversation(this.#options, {
      contact: (change) => contact?.(change),
      message: (message) => this.#take(message),
      confirmed: (epoch) => this.#listener?.announced(epoch),
      podLives: (askedMs) => {
        this.#isPodWanted = false;
        this.#listener?.podLives(askedMs);
      },
    });
    try {
      const stream = await withDeadline(clock, CONNECT_TIMEOUT_MS, signal, (within) =>
        connector.connect(conversation, within),
      );
      this.#conversation = conversation;
      conversation.begin(stream, this.#announced);
      if (this.#isPodWanted) conversation.askForPod();
      const outcome = await conversation.ended;
      if (outcome.type !== 'PodGone') contact?.(outcome.type === 'Answered' ? 'Lost' : 'Failed');
      return outcome;
    } catch (error) {
      signal.throwIfAborted();
      const why = error instanceof Error ? error.message : String(error);
      const isGone = error instanceof StreamRefusedError && error.status === GONE;
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
    this.#members = message.members;
    this.#listener?.snapshot({ ...message.state, isFresh: message.isFresh });
  }
}

type Outcome =
  /** `Answered`: the stream served its purpose for a while. */
  { readonly type: 'Answered' | 'NotAnswered' | 'PodGone'; readonly why: string };

interface ConversationEvents {
  readonly contact: (contact: HubContact) => void;
  readonly message: (message: Extract<HubMessage, { readonly type: 'state' | 'ending' }>) => void;
  /** The hub has it, or will get it before anything else. */
  readonly confirmed: (epoch: number) => void;
  readonly podLives: (askedMs: number) => void;
}

/** What is said over one stream. */
class Conversation {
  readonly ended: Promise<Outcome>;
  readonly #options: HubChannelOptions;
  readonly #events: ConversationEvents;
  readonly #lines = new LineSplitter(MAX_MESSAGE_BYTES);
  #stream: ByteStream | undefined;
  #isAnswered = false;
  #isOver = false;
  #isDoubted = false;
  #unconfirmed: number | undefined;
  #heardMs = 0;
  /** When each question for the Pod was asked that may still be answered, by its number. */
  readonly #asked = new Map<number, number>();
  #asks = 0;
  #timers: { cancel(): void }[] = [];
  #finish: (outcome: Outcome) => void = () => undefined;

  constructor(options: HubChannelOptions, events: ConversationEvents) {
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
    this.#say({ type: 'hello', jobSetUid, announcement });
    this.#timers = [
      clock.setTimer(HELLO_TIMEOUT_MS, () => {
        if (!this.#isAnswered) this.#over('NotAnswered', 'the hello was not answered in time');
      }),
    ];
    this.#scheduleHeartbeat();
  }

  announce(announcement: Announcement): void {
    this.#say({ type: 'announce', announcement });
    if (this.#isAnswered) this.#events.confirmed(announcement.epoch);
    else this.#unconfirmed = announcement.epoch;
  }

  /** An answer to an older question than the last one is an answer, too. */
  askForPod(): void {
    const ask = ++this.#asks;
    this.#asked.delete(ask - MAX_OPEN_QUESTIONS);
    this.#asked.set(ask, this.#options.clock.monotonic());
    this.#say({ type: 'ping', ask });
  }

  notice(epoch: number): void {
    this.#say({ type: 'notice', epoch });
  }

  /** The agent has nothing more to say; what it said is still sent. */
  end(): void {
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
      this.#over('NotAnswered', error instanceof Error ? error.message : String(error));
    }
  }

  closed(error: Error | undefined): void {
    this.#over('NotAnswered', error?.message ?? 'the hub closed it');
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

  /** Before the answer to the hello nothing counts: it may be older than what we know. */
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
      this.#say({ type: 'ping' });
      this.#scheduleHeartbeat();
    });
    this.#timers = [...this.#timers.slice(0, 1), timer];
  }

  #say(message: Parameters<typeof encodeAgentMessage>[0]): void {
    if (!this.#isOver) this.#stream?.write(new TextEncoder().encode(encodeAgentMessage(message)));
  }

  #over(type: Outcome['type'], why: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const timer of this.#timers) timer.cancel();
    this.#stream?.end();
    this.#finish({ type: type === 'NotAnswered' && this.#isAnswered ? 'Answered' : type, why });
  }
}
