/**
 * Single requests to an API server: credentials, time-outs, JSON, refusals, and the few retries
 * that are safe. Only 429, and 503 with Retry-After, are retried for every verb, because with them
 * the server says that it did nothing. A broken connection is retried only for GET. Retry-After is
 * honoured, but capped and spread, so that clients that were refused together do not return at
 * once.
 */
import { defined } from '../../json/defined.ts';
import { ApiStatusError } from '../../status.ts';
import { Backoff } from '../backoff.ts';
import type { CredentialSource, Credentials } from '../credentials/credential-source.ts';
import { DeadlineError, withDeadline } from '../deadline.ts';
import { type Clock, sleep } from '../ports/clock.ts';
import { jitter, type Random } from '../ports/random.ts';
import {
  type HttpRequest,
  type HttpResponse,
  type Transport,
  TransportError,
} from '../ports/transport.ts';
import { isTooLong } from './pages.ts';
import { wholeBody } from './response-body.ts';
import { refusalOf } from './status-response.ts';

export interface ApiRequestsOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  /** Names the program in the server's audit log: `lockstep-operator/0.1.0`. */
  readonly userAgent: string;
  /** Absent: the connection's client certificate identifies the client. */
  readonly credentials?: CredentialSource | undefined;
  readonly requestTimeoutMs?: number | undefined;
}

export interface ApiCall {
  readonly method: HttpRequest['method'];
  /** Path and query. */
  readonly path: string;
  readonly accept?: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly contentType?: string;
  /** The longest answer. */
  readonly maxBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Limits one try with its answer; for streams, until the head. Servers give up after 60 s. */
const REQUEST_TIMEOUT_MS = 65_000;

/** As in client-go: enough for a server that sheds load for a minute. */
const MAX_RETRIES = 10;

const RETRY_BACKOFF = { baseMs: 250, maxMs: 8_000, jitterFactor: 1 } as const;

/** A busy server asks for up to 32 s, although its queue needs less. */
const MAX_RETRY_AFTER_MS = 8_000;

/** Waits are stretched by a random share of up to this. */
const RETRY_AFTER_JITTER = 1;

const JSON_TYPE = 'application/json';
const UNAUTHORIZED = 401;

export class ApiRequests {
  readonly #options: ApiRequestsOptions;
  readonly #timeoutMs: number;

  constructor(options: ApiRequestsOptions) {
    this.#options = options;
    this.#timeoutMs = options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
  }

  /** The JSON of a 2xx answer. */
  json(call: ApiCall): Promise<unknown> {
    const isRepeatable = call.method === 'GET';
    return this.#withRetries(call.signal, isRepeatable, () =>
      this.#withCredentials(call, (credentials) =>
        this.#inTime(call, async (signal) => {
          const response = await this.#send(credentials, call, signal);
          const body = (await wholeBody(response.body, call.maxBytes)).toString();
          if (!isSuccess(response)) throw refusalOf(response.status, response.headers, body);
          return parsed(body, call);
        }),
      ),
    );
  }

  /**
   * The chunks of a 2xx answer that may last for hours. Only the wait for the head is limited; the
   * reader decides how long silence may last. A broken connection is not opened again.
   */
  async *stream(call: ApiCall): AsyncGenerator<Uint8Array, void> {
    const opened = await this.#withRetries(call.signal, false, () =>
      this.#withCredentials(call, (credentials) => this.#open(call, credentials)),
    );
    try {
      if (opened.body instanceof Uint8Array) yield opened.body;
      else for await (const chunk of opened.body) yield chunk;
    } finally {
      opened.close();
    }
  }

  async #open(
    call: ApiCall,
    credentials: Credentials | undefined,
  ): Promise<{ body: HttpResponse['body']; close: () => void }> {
    const exchange = new AbortController();
    const abort = (): void => exchange.abort(call.signal?.reason);
    const close = (): void => {
      call.signal?.removeEventListener('abort', abort);
      exchange.abort(new Error('the reader is done'));
    };
    call.signal?.addEventListener('abort', abort, { once: true });
    try {
      call.signal?.throwIfAborted();
      const response = await this.#inTime(call, async (head) => {
        const giveUp = (): void => exchange.abort(head.reason);
        head.addEventListener('abort', giveUp, { once: true });
        const answer = await this.#send(credentials, call, exchange.signal);
        if (isSuccess(answer)) return answer;
        const body = (await wholeBody(answer.body)).toString();
        throw refusalOf(answer.status, answer.headers, body);
      });
      return { body: response.body, close };
    } catch (error) {
      close();
      throw error;
    }
  }

  async #inTime<T>(call: ApiCall, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    try {
      return await withDeadline(this.#options.clock, this.#timeoutMs, call.signal, work);
    } catch (error) {
      // The caller's signal may be a deadline too, and its error says which.
      if (!(error instanceof DeadlineError) || error === call.signal?.reason) throw error;
      const what = `${call.method} ${call.path}: no answer within ${this.#timeoutMs} ms`;
      throw new TransportError(what, { code: 'ETIMEDOUT', cause: error });
    }
  }

  /**
   * Credentials may need a login first, so time-outs of the request begin when they are there. If
   * they are refused they may have been replaced since, and the server did nothing: the call is
   * repeated once with other credentials, if there are any.
   */
  async #withCredentials<T>(
    call: ApiCall,
    attempt: (credentials: Credentials | undefined) => Promise<T>,
  ): Promise<T> {
    const source = this.#options.credentials;
    const credentials = await source?.current(call.signal);
    try {
      return await attempt(credentials);
    } catch (error) {
      const isRefusal = error instanceof ApiStatusError && error.code === UNAUTHORIZED;
      if (!isRefusal || source === undefined || credentials === undefined) throw error;
      source.refused?.(credentials);
      const others = await source.current(call.signal);
      if (isSame(others, credentials)) throw error;
      return attempt(others);
    }
  }

  async #send(
    credentials: Credentials | undefined,
    call: ApiCall,
    signal: AbortSignal,
  ): Promise<HttpResponse> {
    const { transport, userAgent } = this.#options;
    const { token, clientCertificate } = credentials ?? {};
    return transport.send({
      method: call.method,
      path: call.path,
      headers: {
        'user-agent': userAgent,
        accept: call.accept ?? JSON_TYPE,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(call.body === undefined ? {} : { 'content-type': call.contentType ?? JSON_TYPE }),
      },
      ...(call.body === undefined ? {} : { body: Buffer.from(JSON.stringify(call.body)) }),
      ...defined({ clientCertificate }),
      signal,
    });
  }

  async #withRetries<T>(
    signal: AbortSignal | undefined,
    isRepeatable: boolean,
    attempt: () => Promise<T>,
  ): Promise<T> {
    const { clock, random } = this.#options;
    const backoff = new Backoff(random, RETRY_BACKOFF);
    let failure: unknown;
    try {
      for (let retries = 0; ; retries++) {
        try {
          return await attempt();
        } catch (error) {
          const wanted = this.#retryAfterMs(error, isRepeatable);
          if (wanted === undefined || retries === MAX_RETRIES) throw error;
          failure = error;
          await sleep(clock, Math.max(wanted, backoff.next()), signal);
        }
      }
    } catch (error) {
      throw explained(error, failure);
    }
  }

  /** The least time that the server wants us to wait; undefined for errors that are not retried. */
  #retryAfterMs(error: unknown, isRepeatable: boolean): number | undefined {
    if (isTooLong(error)) return undefined;
    if (error instanceof TransportError) return isRepeatable ? 0 : undefined;
    if (!(error instanceof ApiStatusError)) return undefined;
    const seconds = error.status.details?.retryAfterSeconds;
    if (error.code !== 429 && (error.code !== 503 || seconds === undefined)) return undefined;
    const capped = Math.min((seconds ?? 0) * 1000, MAX_RETRY_AFTER_MS);
    return jitter(this.#options.random, capped, RETRY_AFTER_JITTER);
  }
}

/** A time-out is reported with the failure of the last try as its cause. */
function explained(error: unknown, failure: unknown): unknown {
  return error instanceof DeadlineError && failure !== undefined
    ? new DeadlineError(error.message, { cause: failure })
    : error;
}

function isSame(one: Credentials, other: Credentials): boolean {
  return (
    one.token === other.token &&
    one.clientCertificate?.certificate === other.clientCertificate?.certificate
  );
}

function isSuccess(response: HttpResponse): boolean {
  return response.status >= 200 && response.status < 300;
}

function parsed(body: string, call: ApiCall): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    const what = `${call.method} ${call.path}: the answer is not JSON`;
    throw new TransportError(what, { code: 'EBADMSG', cause: error });
  }
}
