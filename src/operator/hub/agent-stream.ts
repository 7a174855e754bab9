/** The hub's end of one agent's stream: limits, parsing, last words. */

import { LineSplitter } from '@lockstep/kube/runtime/client/watch-stream.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { ByteStream, StreamListener } from '@lockstep/kube/runtime/ports/stream.ts';
import {
  type AgentMessage,
  type ByeReason,
  encodeHubMessage,
  MAX_MESSAGE_BYTES,
  parseAgentMessage,
} from '../../jobset/hub/message.ts';

/** The Pod at the other end of a stream, according to its token and its owner chain. */
export interface HubMember {
  readonly namespace: string;
  readonly podName: string;
  readonly podUid: string;
  /** `namespace/name` */
  readonly jobSet: string;
  readonly jobSetUid: string;
  /** Name of its ReplicatedJob. */
  readonly stage: string;
  /** It is being deleted. */
  readonly isEnding: boolean;
}

/** The callbacks of a stream. */
export interface StreamEvents {
  readonly said: (stream: AgentStream, message: AgentMessage) => void;
  readonly over: (stream: AgentStream, reason: CloseReason) => void;
  readonly counted: (direction: 'received' | 'sent', type: string, bytes: number) => void;
}

/** `Closed`: the agent, or the network between, closed it. */
export type CloseReason = ByeReason | 'Closed';

/**
 * How many messages, and pieces in which they arrive, an agent may send at once and per second. A
 * group that restarts as often as processes can start sends 20 messages a second.
 */
const MESSAGE_BURST = 400;
const MESSAGES_PER_SECOND = 80;
/** The limit for sent bytes that the agent has not read: hundreds of states of 200 bytes. */
const MAX_UNREAD_BYTES = 64 * 1024;
/** An agent sends something every 4 to 5 s, an older version every 8 to 10 s. */
const SILENCE_TIMEOUT_MS = 40_000;
/** From the opening of the stream to the hello. */
const HELLO_TIMEOUT_MS = 15_000;

const PONG = Buffer.from(encodeHubMessage({ type: 'pong' }));

/** Uses as little memory as possible, because there are thousands of streams. */
export class AgentStream implements StreamListener {
  readonly member: HubMember;
  /** Whether the hello has been answered, so that changes of the state are sent. */
  isGreeted = false;
  readonly #stream: ByteStream;
  readonly #clock: Clock;
  readonly #events: StreamEvents;
  readonly #lines = new LineSplitter(MAX_MESSAGE_BYTES);
  #hasHello = false;
  #isOver = false;
  #heardMs: number;
  #countedMs: number;
  #allowance = MESSAGE_BURST;

  constructor(member: HubMember, stream: ByteStream, clock: Clock, events: StreamEvents) {
    this.member = member;
    this.#stream = stream;
    this.#clock = clock;
    this.#events = events;
    this.#heardMs = clock.monotonic();
    this.#countedMs = this.#heardMs;
  }

  /** When the agent sent its last message (monotonic). */
  get heardMs(): number {
    return this.#heardMs;
  }

  /**
   * `bytes` may be shared by many streams. The hub never waits for an agent that does not read: it
   * drops the stream.
   */
  send(type: string, bytes: Uint8Array): void {
    if (this.#isOver) return;
    this.#stream.write(bytes);
    this.#events.counted('sent', type, bytes.byteLength);
    if (this.#stream.unreadBytes > MAX_UNREAD_BYTES) this.#close('TooSlow');
  }

  /** Sends the reason to the agent, and closes. */
  bye(reason: ByeReason): void {
    if (this.#isOver) return;
    this.#stream.write(Buffer.from(encodeHubMessage({ type: 'bye', reason })));
    this.#close(reason);
  }

  /** Ends a stream that has been silent for too long. */
  checkSilence(nowMs: number): void {
    const limitMs = this.#hasHello ? SILENCE_TIMEOUT_MS : HELLO_TIMEOUT_MS;
    if (nowMs - this.#heardMs >= limitMs) this.bye('Silent');
  }

  received(chunk: Uint8Array): void {
    if (this.#isOver) return;
    // Pieces count like messages: a line that comes byte by byte, or without end, is work too.
    if (!this.#isWithinRate()) {
      this.bye('TooManyMessages');
      return;
    }
    try {
      for (const text of this.#lines.push(chunk)) {
        this.#take(text);
        if (this.#isOver) return;
      }
    } catch {
      // A line that is longer than any message.
      this.bye('Malformed');
    }
  }

  closed(): void {
    this.#close('Closed');
  }

  #take(text: string): void {
    const message = parseAgentMessage(text);
    // The hello comes first, and only once.
    const isMisplaced = (message.type === 'hello') === this.#hasHello;
    if (!this.#isWithinRate()) this.bye('TooManyMessages');
    else if (message.type === 'malformed' || isMisplaced) this.bye('Malformed');
    else {
      this.#hasHello = true;
      this.#heardMs = this.#clock.monotonic();
      this.#events.counted('received', message.type, text.length + 1);
      if (message.type === 'ping') this.send('pong', PONG);
      this.#events.said(this, message);
    }
  }

  #isWithinRate(): boolean {
    const nowMs = this.#clock.monotonic();
    const earned = ((nowMs - this.#countedMs) / 1000) * MESSAGES_PER_SECOND;
    this.#allowance = Math.min(MESSAGE_BURST, this.#allowance + earned) - 1;
    this.#countedMs = nowMs;
    return this.#allowance >= 0;
  }

  #close(reason: CloseReason): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (reason === 'TooSlow') this.#stream.destroy();
    else this.#stream.end();
    this.#events.over(this, reason);
  }
}

/** Ends of streams that an administrator may have to look into. */
export function isFault(reason: CloseReason): boolean {
  switch (reason) {
    case 'OtherJobSet':
    case 'Malformed':
    case 'TooManyMessages':
    case 'TooSlow':
    case 'Silent':
    case 'Unavailable':
      return true;
    case 'Closed':
    case 'NotLeading':
    case 'PodGone':
    case 'Replaced':
      return false;
  }
}
