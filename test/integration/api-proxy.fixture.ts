/**
 * A proxy between one client and an API server, in which a test can cause faults. It speaks plain
 * HTTP to the client and adds the client's credentials.
 */

import { type HttpServer, startHttpServer } from '@lockstep/kube/runtime/adapters/http-server.ts';
import type {
  HttpRequest,
  HttpResponse,
  Transport,
} from '@lockstep/kube/runtime/ports/transport.ts';
import type { ApiStatusError } from '@lockstep/kube/status.ts';

/** Answers in place of the API server, or lets it answer by `forward`. */
export type Weather = (
  request: HttpRequest,
  forward: () => Promise<HttpResponse>,
) => Promise<HttpResponse>;

export const FAIR: Weather = (_request, forward) => forward();

/** Refuses a request as an API server does. */
export function refusal({ code, status }: ApiStatusError): HttpResponse {
  const seconds = status.details?.retryAfterSeconds;
  return {
    status: code,
    headers: {
      'content-type': 'application/json',
      ...(seconds === undefined ? {} : { 'retry-after': `${seconds}` }),
    },
    body: Buffer.from(JSON.stringify(status)),
  };
}

export class ApiProxy {
  weather: Weather = FAIR;
  /** Status codes of the answers, in order; for an error event, the code of its Status. */
  readonly codes: number[] = [];
  readonly #upstream: Transport;
  readonly #token: string;
  readonly #exchanges = new Set<Exchange>();
  #server: HttpServer | undefined;

  private constructor(upstream: Transport, token: string) {
    this.#upstream = upstream;
    this.#token = token;
  }

  static async start(upstream: Transport, token: string): Promise<ApiProxy> {
    const proxy = new ApiProxy(upstream, token);
    const handler = (request: HttpRequest): Promise<HttpResponse> => proxy.#serve(request);
    proxy.#server = await startHttpServer({ handler, host: '127.0.0.1', port: 0 });
    return proxy;
  }

  get url(): string {
    return this.#server?.url ?? '';
  }

  count(code: number): number {
    return this.codes.filter((each) => each === code).length;
  }

  /** Breaks every busy connection, watches included. */
  cut(): void {
    for (const { end } of this.#exchanges) end.abort(new Error('the connection was cut'));
  }

  /** From now on nothing comes through open watches, although they stay open. */
  silence(): void {
    for (const exchange of this.#exchanges) exchange.isSilent = true;
  }

  async close(): Promise<void> {
    this.cut();
    await this.#server?.close();
  }

  async #serve(request: HttpRequest): Promise<HttpResponse> {
    const exchange: Exchange = { end: new AbortController(), isSilent: false };
    try {
      const response = await this.weather(request, () => this.#forward(request, exchange));
      this.codes.push(response.status);
      return response;
    } catch (error) {
      return broken(error);
    }
  }

  async #forward(request: HttpRequest, exchange: Exchange): Promise<HttpResponse> {
    this.#exchanges.add(exchange);
    const signal = AbortSignal.any([request.signal, exchange.end.signal]);
    signal.addEventListener('abort', () => this.#exchanges.delete(exchange), { once: true });
    const response = await this.#upstream.send({
      method: request.method,
      path: request.path,
      headers: { ...passedOn(request.headers), authorization: `Bearer ${this.#token}` },
      body: request.body,
      signal,
    });
    const { status, headers, body } = response;
    const isWhole = body instanceof Uint8Array;
    return {
      status,
      headers: passedOn(headers),
      body: isWhole ? body : this.#audible(body, exchange),
    };
  }

  async *#audible(
    chunks: AsyncIterable<Uint8Array>,
    exchange: Exchange,
  ): AsyncGenerator<Uint8Array, void> {
    try {
      for await (const chunk of chunks) {
        if (exchange.isSilent) continue;
        const code = ERROR_EVENT.exec(Buffer.from(chunk).toString())?.[1];
        if (code !== undefined) this.codes.push(Number(code));
        yield chunk;
      }
    } finally {
      this.#exchanges.delete(exchange);
    }
  }
}

interface Exchange {
  readonly end: AbortController;
  isSilent: boolean;
}

const ERROR_EVENT = /"type":"ERROR".*"code":(\d+)/;

/** Headers about the connection or the encoding, which differ on each side. */
const OF_ONE_CONNECTION: ReadonlySet<string> = new Set([
  'authorization',
  'connection',
  'content-length',
  'host',
  'keep-alive',
  'transfer-encoding',
]);

export function passedOn(headers: HttpRequest['headers']): HttpRequest['headers'] {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !OF_ONE_CONNECTION.has(name)),
  );
}

/** An answer whose connection breaks before its end. */
function broken(cause: unknown): HttpResponse {
  const body = {
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(cause) }),
  };
  return { status: 200, headers: {}, body };
}
