/**
 * The server's side of a WebSocket (RFC 6455) over a ByteChannel: the handshake, messages both ways,
 * answers to pings and the closing. A connection that is silent for too long is closed.
 */

import { channelPair } from '../byte-channel.ts';
import type { Clock, Timer } from '../ports/clock.ts';
import type { ByteChannel, HttpRequest, HttpResponse } from '../ports/transport.ts';
import {
  BINARY,
  CLOSE,
  CONTINUATION,
  encodeFrame,
  FrameReader,
  MESSAGE_TOO_BIG,
  NORMAL_CLOSURE,
  PING,
  PONG,
  PROTOCOL_ERROR,
  WebSocketError,
} from './frames.ts';

export interface ServerConnectionOptions {
  readonly clock: Clock;
  /** Nothing came and nothing went for so long: it is closed. */
  readonly idleTimeoutMs: number;
  /** Of one message that arrives. */
  readonly maxMessageBytes: number;
}

export interface AcceptedWebSocket {
  /** Completed by the server adapter with the proof that only a WebSocket server gives. */
  readonly response: HttpResponse;
  readonly connection: ServerConnection;
  /** The one of `protocols` that the client prefers. */
  readonly protocol: string;
}

/** Whether the request asks for a WebSocket. */
export function asksForWebSocket({ headers }: HttpRequest): boolean {
  return headers['upgrade']?.toLowerCase() === 'websocket';
}

/** Undefined if the client knows none of `protocols`. */
export function acceptWebSocket(
  request: HttpRequest,
  protocols: readonly string[],
  options: ServerConnectionOptions,
): AcceptedWebSocket | undefined {
  const wanted = (request.headers['sec-websocket-protocol'] ?? '').split(',');
  const protocol = wanted.map((name) => name.trim()).find((name) => protocols.includes(name));
  if (protocol === undefined) return undefined;
  const [far, near] = channelPair();
  request.signal.addEventListener('abort', () => near.destroy(), { once: true });
  return {
    response: {
      status: 101,
      headers: { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-protocol': protocol },
      body: new Uint8Array(),
      channel: far,
    },
    connection: new ServerConnection(near, options),
    protocol,
  };
}

export class ServerConnection {
  readonly #channel: ByteChannel;
  readonly #options: ServerConnectionOptions;
  #idle: Timer | undefined;
  #isClosed = false;

  constructor(channel: ByteChannel, options: ServerConnectionOptions) {
    this.#channel = channel;
    this.#options = options;
    this.#touch();
  }

  /** What the client sends, whole; ends when it goes, in whatever way. Never throws. */
  async *messages(): AsyncGenerator<Uint8Array, void> {
    const { maxMessageBytes } = this.#options;
    const reader = new FrameReader({ maxPayloadBytes: maxMessageBytes, from: 'client' });
    const message = new MessageParts(maxMessageBytes);
    try {
      for await (const chunk of this.#channel.incoming) {
        this.#touch();
        for (const frame of reader.push(chunk)) {
          if (frame.opcode === CLOSE) {
            await this.close();
            return;
          }
          if (frame.opcode === PING) await this.#write(PONG, frame.payload);
          if (frame.opcode >= CLOSE) continue;
          const whole = message.add(frame.opcode, frame.isFinal, frame.payload);
          if (whole !== undefined) yield whole;
        }
      }
    } catch (error) {
      // A connection that broke needs no word; one that speaks nonsense is told why.
      if (error instanceof WebSocketError) await this.close(error.code, error.message);
    } finally {
      // After a close the other side still has to read it.
      if (!this.#isClosed) this.#channel.destroy();
      this.#isClosed = true;
      this.#idle?.cancel();
    }
  }

  /** A binary message. Resolves once the next may be sent; of no effect once it is closed. */
  async send(message: Uint8Array): Promise<void> {
    if (this.#isClosed) return;
    this.#touch();
    await this.#write(BINARY, message);
  }

  /** Says that all is said, and why. */
  async close(code = NORMAL_CLOSURE, reason = ''): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const text = Buffer.from(reason).subarray(0, MAX_REASON_BYTES);
    const payload = Buffer.alloc(2 + text.length);
    payload.writeUInt16BE(code, 0);
    payload.set(text, 2);
    await this.#write(CLOSE, payload);
    this.#channel.end();
    // The client closes in its turn; one that does not is not waited for.
    this.#idle?.cancel();
    this.#idle = this.#options.clock.setTimer(CLOSE_TIMEOUT_MS, () => this.#channel.destroy());
  }

  #write(opcode: number, payload: Uint8Array): Promise<void> {
    return this.#channel.write(encodeFrame(opcode, payload));
  }

  #touch(): void {
    if (this.#isClosed) return;
    this.#idle?.cancel();
    this.#idle = this.#options.clock.setTimer(this.#options.idleTimeoutMs, () => {
      void this.close(NORMAL_CLOSURE, 'the connection was idle for too long');
    });
  }
}

/** A stream of bytes that is carried in binary messages, cut wherever the sender liked. */
export function webSocketChannel(connection: ServerConnection): ByteChannel {
  return {
    incoming: connection.messages(),
    write: (chunk) => connection.send(chunk),
    end: () => void connection.close(),
    destroy: () => void connection.close(),
  };
}

/** A control frame has room for 125 bytes, two of them for the code. */
const MAX_REASON_BYTES = 123;
const CLOSE_TIMEOUT_MS = 2_000;

/** A message that comes in fragments. */
class MessageParts {
  readonly #maxBytes: number;
  #parts: Uint8Array[] = [];
  #size = 0;
  #isOpen = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The message if this was its last part. */
  add(opcode: number, isFinal: boolean, payload: Uint8Array): Uint8Array | undefined {
    if ((opcode === CONTINUATION) !== this.#isOpen) {
      throw new WebSocketError(PROTOCOL_ERROR, 'a fragment out of order');
    }
    this.#size += payload.byteLength;
    if (this.#size > this.#maxBytes) {
      const why = `${this.#size} bytes in a message, ${this.#maxBytes} allowed`;
      throw new WebSocketError(MESSAGE_TOO_BIG, why);
    }
    this.#parts.push(payload);
    this.#isOpen = !isFinal;
    if (!isFinal) return undefined;
    const whole = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#size = 0;
    return whole;
  }
}
