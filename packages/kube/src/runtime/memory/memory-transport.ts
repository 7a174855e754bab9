/** A transport without a socket: requests go straight to a handler. */
import {
  type HttpHandler,
  type HttpRequest,
  type HttpResponse,
  type Peer,
  type Transport,
  TransportError,
} from '../ports/transport.ts';

/**
 * The effects of a network are kept. A client that aborts, or stops reading a body, aborts the
 * handler's signal. A handler or a body that throws is a broken connection.
 */
export function handlerTransport(
  handler: HttpHandler,
  peer: Peer = { address: '127.0.0.1' },
): Transport {
  return {
    async send(request: HttpRequest): Promise<HttpResponse> {
      request.signal.throwIfAborted();
      const exchange = new Exchange(request.signal);
      try {
        const answer = handler({ ...request, signal: exchange.signal, peer });
        const response = await exchange.orAborted(answer);
        if (!(response.body instanceof Uint8Array)) {
          return { ...response, body: streamed(response.body, exchange) };
        }
        exchange.end();
        return response;
      } catch (error) {
        throw exchange.broken(error);
      }
    },
  };
}

function streamed(body: AsyncIterable<Uint8Array>, exchange: Exchange): AsyncIterable<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  const done = { done: true, value: undefined } as const;
  const iterator: AsyncIterator<Uint8Array, undefined> = {
    async next() {
      if (exchange.hasEnded) return done;
      try {
        const next = await exchange.orAborted(chunks.next());
        if (next.done !== true) return next;
        exchange.end();
        return done;
      } catch (error) {
        stop(chunks);
        throw exchange.broken(error);
      }
    },
    async return() {
      if (!exchange.hasEnded) {
        exchange.abandon();
        stop(chunks);
      }
      return done;
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

/**
 * Ends a body whose reader has left, without waiting: a body that waits itself would not answer.
 */
function stop(chunks: AsyncIterator<Uint8Array>): void {
  chunks.return?.().catch(() => undefined);
}

/**
 * One request and its answer, until the last byte: which side gave it up, and who has to learn of
 * it.
 */
class Exchange {
  readonly #client: AbortSignal;
  readonly #server = new AbortController();
  readonly #whenAborted: Promise<never>;
  readonly #onAbort: () => void;
  #hasEnded = false;

  constructor(client: AbortSignal) {
    this.#client = client;
    let reject: (reason: unknown) => void = () => undefined;
    this.#whenAborted = new Promise<never>((_, no) => {
      reject = no;
    });
    this.#whenAborted.catch(() => undefined);
    this.#onAbort = () => {
      this.#server.abort(client.reason);
      reject(client.reason);
    };
    client.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** The signal that the handler sees. */
  get signal(): AbortSignal {
    return this.#server.signal;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  orAborted<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#whenAborted]);
  }

  /** The answer was read to its end. */
  end(): void {
    this.#hasEnded = true;
    this.#client.removeEventListener('abort', this.#onAbort);
  }

  /** The client stops reading. */
  abandon(): void {
    this.#hasEnded = true;
    this.#client.removeEventListener('abort', this.#onAbort);
    this.#server.abort(new TransportError('the client closed the connection'));
  }

  /** What the client sees when the exchange fails with `error`. */
  broken(error: unknown): unknown {
    this.abandon();
    if (this.#client.aborted) return this.#client.reason;
    const why = error instanceof Error ? error.message : String(error);
    return new TransportError(`the connection broke: ${why}`, { code: 'ECONNRESET', cause: error });
  }
}
