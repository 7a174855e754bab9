/** Streams without sockets, for tests. */
import type { Clock } from '../ports/clock.ts';
import {
  type ByteStream,
  type StreamAcceptor,
  type StreamConnector,
  type StreamListener,
  StreamRefusedError,
} from '../ports/stream.ts';
import { TransportError } from '../ports/transport.ts';

/**
 * Bytes take `LATENCY_MS`, arrive in order, and in pieces of a few bytes if wanted. A network can
 * be cut: then nothing arrives and neither end notices, as when a cable is pulled.
 */
export class MemoryStreams {
  /** The server that connections reach; undefined: the port is closed. */
  acceptor: StreamAcceptor | undefined;
  /** Bytes that arrive at a time. */
  pieceBytes = Number.POSITIVE_INFINITY;
  /** Nothing gets through, in either direction. */
  isCut = false;
  readonly #clock: Clock;
  /** By the server's end, the client's. */
  readonly #open = new Map<MemoryStream, MemoryStream>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The number of open streams at the server's end. */
  get openStreams(): number {
    return this.#open.size;
  }

  /** Breaks every stream, at both ends. */
  breakAll(): void {
    for (const stream of this.#open.keys()) stream.destroy();
  }

  /** What the clients of all open streams send from now on takes this much longer to the server. */
  delayClients(ms: number): void {
    for (const client of this.#open.values()) client.delayMs = ms;
  }

  /** Breaks every stream at its client's end. The server notices it as late as all that this end sends. */
  breakClients(): void {
    for (const client of this.#open.values()) client.destroy();
  }

  /** Stops reading at this end. */
  holdBack(end: ByteStream | undefined): void {
    if (end instanceof MemoryStream) end.isHeldBack = true;
  }

  connector(token: () => string | undefined = () => undefined): StreamConnector {
    return { connect: (listener, signal) => this.#connect(token(), listener, signal) };
  }

  async #connect(
    token: string | undefined,
    listener: StreamListener,
    signal: AbortSignal,
  ): Promise<ByteStream> {
    signal.throwIfAborted();
    if (this.isCut) {
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      });
    }
    const { acceptor } = this;
    if (acceptor === undefined) throw new TransportError('refused', { code: 'ECONNREFUSED' });
    const answer = await acceptor({ token, address: 'memory' });
    if (answer.kind === 'Refuse') throw new StreamRefusedError(answer.status, answer.reason);
    signal.throwIfAborted();
    const client = new MemoryStream(this, this.#clock);
    const server = new MemoryStream(this, this.#clock);
    client.join(server, listener);
    server.join(client, answer.open(server));
    this.#open.set(server, client);
    server.whenClosed(() => this.#open.delete(server));
    return client;
  }
}

const LATENCY_MS = 1;

class MemoryStream implements ByteStream {
  readonly #network: MemoryStreams;
  readonly #clock: Clock;
  #peer: MemoryStream | undefined;
  #listener: StreamListener | undefined;
  /** Whether incoming bytes are left unread. */
  isHeldBack = false;
  /** How much longer than usual its bytes and its end take to the other end, in milliseconds. */
  delayMs = 0;
  #isClosed = false;
  #unread = 0;
  readonly #closers: (() => void)[] = [];

  constructor(network: MemoryStreams, clock: Clock) {
    this.#network = network;
    this.#clock = clock;
  }

  get unreadBytes(): number {
    return this.#unread;
  }

  join(peer: MemoryStream, listener: StreamListener): void {
    this.#peer = peer;
    this.#listener = listener;
  }

  whenClosed(call: () => void): void {
    this.#closers.push(call);
  }

  write(bytes: Uint8Array): void {
    if (this.#isClosed) return;
    this.#unread += bytes.byteLength;
    this.#clock.setTimer(LATENCY_MS + this.delayMs, () => {
      if (this.#network.isCut || this.#peer?.isHeldBack === true) return;
      this.#unread -= bytes.byteLength;
      this.#peer?.deliver(bytes);
    });
  }

  end(): void {
    if (this.#isClosed) return;
    const isCut = this.#network.isCut;
    this.#close(undefined);
    this.#clock.setTimer(LATENCY_MS + this.delayMs, () => {
      if (!isCut && !this.#network.isCut) this.#peer?.close();
    });
  }

  destroy(): void {
    this.end();
  }

  deliver(bytes: Uint8Array): void {
    const { pieceBytes } = this.#network;
    for (let at = 0; at < bytes.byteLength && !this.#isClosed; at += pieceBytes) {
      this.#listener?.received(bytes.subarray(at, at + pieceBytes));
    }
  }

  close(): void {
    this.#close(undefined);
  }

  #close(error: Error | undefined): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const call of this.#closers) call();
    this.#listener?.closed(error);
  }
}
