/** `ports/web-socket.ts` by the library ws, over a channel in memory. */
import { on } from 'node:events';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { channelPair } from '@lockstep/kube/runtime/byte-channel.ts';
import type { Timer } from '@lockstep/kube/runtime/ports/clock.ts';
import type { ByteChannel, HttpRequest } from '@lockstep/kube/runtime/ports/transport.ts';
import { WebSocket, WebSocketServer } from 'ws';
import type {
  WebSocketAcceptor,
  WebSocketConnection,
  WebSocketLimits,
} from '../ports/web-socket.ts';

const CLOSE_TIMEOUT_MS = 2_000;
const NORMAL_CLOSURE = 1000;
/** Messages that wait to be read, beside the messages of one piece that has arrived. */
const MAX_WAITING_MESSAGES = 1;

export const acceptWebSocket: WebSocketAcceptor = (request, protocol, limits) => {
  const [far, near] = channelPair();
  const stream = new ChannelStream(near);
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: limits.maxMessageBytes,
    handleProtocols: () => protocol,
  });
  let socket: WebSocket | undefined;
  server.handleUpgrade(incomingOf(request), stream, Buffer.alloc(0), (accepted) => {
    socket = accepted;
  });
  const { headers, body } = stream.takeHead();
  if (socket === undefined) return body;
  request.signal.addEventListener('abort', () => near.destroy(), { once: true });
  return {
    response: { status: 101, headers, body: new Uint8Array(), channel: far },
    connection: new Connection(socket, stream, limits),
  };
};

/** The request as ws expects it; it reads the method and the headers, and not the socket. */
function incomingOf({ method, path, headers }: HttpRequest): IncomingMessage {
  const incoming = new IncomingMessage(new Socket());
  return Object.assign(incoming, { method, url: path, headers: { ...headers } });
}

class Connection implements WebSocketConnection {
  readonly #socket: WebSocket;
  readonly #limits: WebSocketLimits;
  readonly #incoming: AsyncIterable<readonly [Buffer]>;
  #timer: Timer | undefined;

  constructor(socket: WebSocket, stream: Duplex, limits: WebSocketLimits) {
    this.#socket = socket;
    this.#limits = limits;
    // ws pauses the stream while messages wait.
    this.#incoming = on(socket, 'message', {
      close: ['close'],
      highWaterMark: MAX_WAITING_MESSAGES,
      lowWaterMark: MAX_WAITING_MESSAGES,
    }) as AsyncIterable<readonly [Buffer]>;
    // ws has sent the reason to a client that speaks nonsense, and waits for its close.
    socket.on('error', () => this.#awaitClose());
    socket.once('close', () => this.#timer?.cancel());
    stream.on('data', () => this.#touch());
    this.#touch();
  }

  async *messages(): AsyncGenerator<Uint8Array, void> {
    try {
      for await (const [message] of this.#incoming) yield message;
    } catch {
      // The client spoke nonsense; for the reader that is an end as any other.
    } finally {
      // After a close the other side still has to read it.
      if (this.#socket.readyState === WebSocket.OPEN) this.#socket.terminate();
    }
  }

  send(message: Uint8Array): Promise<void> {
    this.#touch();
    return new Promise((resolve) => this.#socket.send(message, () => resolve()));
  }

  close(reason = ''): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    this.#socket.close(NORMAL_CLOSURE, reason);
    this.#awaitClose();
  }

  #touch(): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    this.#arm(this.#limits.idleTimeoutMs, () => this.close('the connection was idle for too long'));
  }

  #awaitClose(): void {
    this.#arm(CLOSE_TIMEOUT_MS, () => this.#socket.terminate());
  }

  #arm(delayMs: number, fire: () => void): void {
    this.#timer?.cancel();
    this.#timer = this.#limits.clock.setTimer(delayMs, fire);
  }
}

/**
 * A channel as the stream that ws takes for a socket. First ws writes the head of its answer to the
 * request, in one piece: it is kept, since the answer is given elsewhere.
 */
class ChannelStream extends Duplex {
  readonly #channel: ByteChannel;
  readonly #chunks: AsyncIterator<Uint8Array>;
  #head: string | undefined;
  #isOpen = false;

  constructor(channel: ByteChannel) {
    super();
    this.#channel = channel;
    this.#chunks = channel.incoming[Symbol.asyncIterator]();
  }

  /** What ws has answered: a body only where it refused. From now on all goes to the channel. */
  takeHead(): { readonly headers: Record<string, string>; readonly body: string } {
    this.#isOpen = true;
    const [head = '', body = ''] = (this.#head ?? '').split('\r\n\r\n', 2);
    const lines = head.split('\r\n').slice(1);
    const headers = lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    });
    return { headers: Object.fromEntries(headers), body };
  }

  override _read(): void {
    this.#chunks.next().then(
      ({ done, value }) => this.push(done === true ? null : value),
      (error: Error) => this.destroy(error),
    );
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.#isOpen) {
      void this.#channel.write(chunk).then(done);
      return;
    }
    this.#head = `${this.#head ?? ''}${chunk.toString('latin1')}`;
    done();
  }

  /** The head and the content of a frame, in one piece. */
  override _writev(chunks: { readonly chunk: Buffer }[], done: () => void): void {
    void this.#channel.write(Buffer.concat(chunks.map(({ chunk }) => chunk))).then(done);
  }

  override _final(done: () => void): void {
    this.#channel.end();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#channel.destroy();
    done(error);
  }
}
