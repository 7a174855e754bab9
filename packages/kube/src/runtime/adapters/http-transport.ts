/**
 * The client's end of the network: a Transport on node:http and node:https, and nothing else,
 * because it is part of the agent's bundle too.
 */

import http from 'node:http';
import https from 'node:https';
import { isIP, type Socket } from 'node:net';
import { defined } from '../../json/defined.ts';
import type { ClientTls } from '../credentials/cluster-access.ts';
import {
  type ByteChannel,
  type HttpRequest,
  type HttpResponse,
  type Transport,
  TransportError,
} from '../ports/transport.ts';
import { ConnectionPools, type Endpoint } from './connection-pools.ts';
import { plainHeaders } from './http-headers.ts';
import { socketChannel } from './socket-channel.ts';

export interface HttpTransportOptions {
  /** `http://` or `https://` URL. Its path is a prefix of every request's path. */
  readonly server: string;
  readonly tls?: ClientTls | undefined;
  /** Until a connection, TLS included, is established. */
  readonly connectTimeoutMs?: number | undefined;
  /** From the call until the head of the response, including the wait for a free connection. */
  readonly headTimeoutMs?: number | undefined;
  /** Longest silence within the body of a response. No limit by default: a watch may be quiet. */
  readonly idleTimeoutMs?: number | undefined;
  /** Connections for short requests. */
  readonly maxConnections?: number | undefined;
}

export interface HttpTransport extends Transport {
  /** Ends all connections, including busy ones. Later requests are refused. */
  close(): void;
}

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Longer than the 60 s after which an API server ends ordinary requests, so that its answer is
 * seen.
 */
const HEAD_TIMEOUT_MS = 70_000;

/** Twice what client-go's default rate lets be in flight; enough for 50 writes beside all reads. */
const MAX_CONNECTIONS = 64;

/** How many requests may wait for a connection; with more, the caller has a fault. */
const MAX_WAITING_REQUESTS = 10_000;

/** First probe of TCP keep-alive, which notices a peer that vanished silently. */
const KEEP_ALIVE_PROBE_MS = 30_000;

const MAX_HEAD_BYTES = 64 * 1024;

export function createHttpTransport(options: HttpTransportOptions): HttpTransport {
  const { endpoint, host, prefix } = baseOf(options.server);
  const requestOver = endpoint.isSecure ? https.request : http.request;
  const maxConnections = options.maxConnections ?? MAX_CONNECTIONS;
  const pools = new ConnectionPools(endpoint, options.tls ?? {}, maxConnections);
  const limits: Limits = {
    connectMs: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    headMs: options.headTimeoutMs ?? HEAD_TIMEOUT_MS,
    idleMs: options.idleTimeoutMs,
  };
  let waitingForHead = 0;
  let isClosed = false;
  return {
    async send(request: HttpRequest): Promise<HttpResponse> {
      request.signal.throwIfAborted();
      if (isClosed) throw new TransportError('the transport is closed', { code: 'ECLOSED' });
      if (waitingForHead >= maxConnections + MAX_WAITING_REQUESTS) {
        throw new TransportError(`${waitingForHead} requests are waiting already`, {
          code: 'EBUSY',
        });
      }
      waitingForHead++;
      try {
        const { short, longRunning } = pools.of(request.clientCertificate);
        const message = requestOver({
          host: endpoint.host,
          port: endpoint.port,
          method: request.method,
          path: prefix + request.path,
          headers: headersOf(request),
          agent: isLongRunning(request) ? longRunning : short,
          maxHeaderSize: MAX_HEAD_BYTES,
        });
        const { response, channel } = await headOf(message, request, limits, host);
        const status = response.statusCode ?? 0;
        const headers = plainHeaders(response.headers);
        if (channel !== undefined) return { status, headers, body: new Uint8Array(), channel };
        return {
          status,
          headers,
          body: bodyOf(response, message, request.signal, limits, host),
        };
      } finally {
        waitingForHead--;
      }
    },
    close(): void {
      isClosed = true;
      pools.destroy();
    },
  };
}

/**
 * Long-running requests, by the API server's `--long-running-request` expression: watches, followed
 * logs, and connections that leave HTTP.
 */
function isLongRunning({ path, headers }: HttpRequest): boolean {
  return /[?&](watch|follow)=(true|1)(&|$)/.test(path) || headers['upgrade'] !== undefined;
}

interface Base {
  readonly endpoint: Endpoint;
  /** With its port, for errors. */
  readonly host: string;
  readonly prefix: string;
}

function baseOf(server: string): Base {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new TypeError(`server: ${JSON.stringify(server)}: must be an http:// or https:// URL`);
  }
  const isSecure = url.protocol === 'https:';
  const endpoint = {
    isSecure,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
  };
  return { endpoint, host: url.host, prefix: url.pathname.replace(/\/+$/, '') };
}

function headersOf(request: HttpRequest): Record<string, string> {
  const length = request.body?.byteLength;
  return {
    ...request.headers,
    ...(length === undefined ? {} : { 'content-length': String(length) }),
  };
}

interface Limits {
  readonly connectMs: number;
  readonly headMs: number;
  readonly idleMs: number | undefined;
}

interface ResponseHead {
  readonly response: http.IncomingMessage;
  /** The connection has left HTTP. */
  readonly channel?: ByteChannel;
}

/** Sends the message and waits for the head of the answer. */
function headOf(
  message: http.ClientRequest,
  request: HttpRequest,
  limits: Limits,
  host: string,
): Promise<ResponseHead> {
  return new Promise((resolve, reject) => {
    const fail = (code: string, what: string) => (): void => {
      message.destroy(new TransportError(`${host}: ${what}`, { code }));
    };
    const timers = [
      setTimeout(fail('ETIMEDOUT', `no answer within ${limits.headMs} ms`), limits.headMs),
    ];
    const abort = (): void => void message.destroy();
    const settle = (): void => {
      for (const timer of timers) clearTimeout(timer);
      request.signal.removeEventListener('abort', abort);
    };
    request.signal.addEventListener('abort', abort, { once: true });
    message.once('socket', (socket) => {
      if (!socket.connecting) return;
      socket.setKeepAlive(true, KEEP_ALIVE_PROBE_MS);
      const timer = dialTimer(socket, message.host, limits.connectMs, (code, what) =>
        fail(code, what)(),
      );
      timers.push(timer);
      socket.once(isTls(socket) ? 'secureConnect' : 'connect', () => clearTimeout(timer));
    });
    message.once('response', (response) => {
      settle();
      resolve({ response });
    });
    message.once('upgrade', (response, socket, head) => {
      settle();
      const channel = socketChannel(socket, head);
      request.signal.addEventListener('abort', () => channel.destroy(), { once: true });
      if (request.signal.aborted) channel.destroy();
      resolve({ response, channel });
    });
    // The listener stays, because an error after the head has to reach the body's reader.
    message.on('error', (error) => {
      settle();
      reject(translated(error, request.signal, host));
    });
    message.end(request.body);
  });
}

/**
 * Limits the time until a socket is connected; the caller clears it. The code tells a silent name
 * service from a silent server: a system's own resolver gives up later than most callers.
 */
export function dialTimer(
  socket: Socket,
  host: string,
  limitMs: number,
  fail: (code: string, what: string) => void,
): NodeJS.Timeout {
  let isResolved = isIP(host.replace(/^\[|\]$/g, '')) !== 0;
  socket.once('lookup', () => {
    isResolved = true;
  });
  return setTimeout(() => {
    if (isResolved) fail('ETIMEDOUT', `no connection within ${limitMs} ms`);
    else fail('EAI_AGAIN', `no address within ${limitMs} ms`);
  }, limitMs);
}

function isTls(socket: Socket): boolean {
  return 'encrypted' in socket;
}

/**
 * The body, read as fast as the caller takes it. A caller that stops reading closes the connection;
 * if it never begins, an abort of the signal does.
 */
function bodyOf(
  response: http.IncomingMessage,
  message: http.ClientRequest,
  signal: AbortSignal,
  limits: Limits,
  host: string,
): AsyncIterable<Uint8Array> {
  const abort = (): void => void message.destroy();
  signal.addEventListener('abort', abort, { once: true });
  response.once('close', () => signal.removeEventListener('abort', abort));
  // Without a listener, a connection that breaks before the body is read would end the process.
  let failure: Error | undefined;
  response.once('error', (error) => {
    failure = error;
  });
  if (signal.aborted) abort();
  const { idleMs } = limits;
  if (idleMs !== undefined) {
    response.setTimeout(idleMs, () => {
      const silent = `${host}: no data for ${idleMs} ms`;
      response.destroy(new TransportError(silent, { code: 'ETIMEDOUT' }));
    });
  }
  return {
    async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
      try {
        if (failure !== undefined) throw failure;
        for await (const chunk of response) yield chunk as Uint8Array;
        // A destroyed response ends its iteration silently, so check that it is complete.
        if (!response.complete) throw new Error('the connection was closed within the response');
      } catch (error) {
        throw translated(error, signal, host);
      }
    },
  };
}

function translated(error: unknown, signal: AbortSignal, host: string): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof TransportError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  return new TransportError(`${host}: ${message || code}`, {
    cause: error,
    ...defined({ code }),
  });
}
