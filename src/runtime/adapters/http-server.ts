/**
 * The server's end of the network: serves an HttpHandler over HTTPS, or plain HTTP for health and
 * metrics. What arrives is bounded in size, number and time before the handler sees it, and every
 * exchange has an end: the request's signal aborts when the peer goes or the server closes.
 */
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { type ApiStatusError, failure } from '../../kube/status.ts';
import { type Logger, SILENT } from '../ports/logger.ts';
import type { HttpHandler, HttpRequest, HttpResponse, Peer } from '../ports/transport.ts';
import { plainHeaders } from './http-headers.ts';
import { isComplete, sendResponse } from './http-response.ts';

export interface HttpServerOptions {
  readonly handler: HttpHandler;
  /** Address to listen on; all addresses would have to be asked for: `0.0.0.0` or `::`. */
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Plain HTTP without. */
  readonly tls?: ServerTlsOptions | undefined;
  readonly maxBodyBytes?: number | undefined;
  readonly maxConnections?: number | undefined;
  readonly headerTimeoutMs?: number | undefined;
  readonly logger?: Logger | undefined;
}

/** PEM texts. */
export interface ServerTlsOptions {
  readonly certificate: string;
  readonly key: string;
  /**
   * Authority of client certificates. Clients may come without one, or with one of somebody else's:
   * then `peer.certificate` is absent, and the handler decides what that means.
   */
  readonly clientAuthority?: string | undefined;
}

export interface HttpServer {
  readonly host: string;
  readonly port: number;
  /** `https://127.0.0.1:6443`, without a slash at its end. */
  readonly url: string;
  /**
   * Takes no more connections, aborts the signals of all requests and resolves when all connections
   * are closed: by themselves, or by force after `CLOSE_GRACE_MS`.
   */
  close(): Promise<void>;
}

/** What an API server accepts at most. */
export const MAX_REQUEST_BODY_BYTES = 3 * 1024 * 1024;

/** One connection per watch: some watches of some thousand agents. */
const MAX_CONNECTIONS = 16_384;

/** From the connection, or the end of the last request, to the end of the head. */
const HEADER_TIMEOUT_MS = 10_000;

/** From the first byte to the end of the body. */
const REQUEST_TIMEOUT_MS = 60_000;

const TLS_HANDSHAKE_TIMEOUT_MS = 10_000;

/** Longer than clients keep idle connections (client-go: 90 s), so that they close them, not we. */
const KEEP_ALIVE_TIMEOUT_MS = 95_000;

const TIMEOUT_CHECK_INTERVAL_MS = 1_000;

const MAX_HEAD_BYTES = 64 * 1024;

/** For streams to write their last chunk after their signals aborted. */
const CLOSE_GRACE_MS = 1_000;

/** Rejects with the system's error (`EADDRINUSE`, `EACCES`, ...) when it cannot listen. */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const exchanges = new Exchanges(options);
  const server = serverOf(options, (request, response) => {
    void exchanges.serve(request, response);
  });
  server.maxConnections = options.maxConnections ?? MAX_CONNECTIONS;
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: options.host, port: options.port }, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
  server.on('error', (error) => options.logger?.error('the HTTP server failed', { err: error }));
  const { address, port, family } = server.address() as AddressInfo;
  const scheme = options.tls === undefined ? 'http' : 'https';
  return {
    host: address,
    port,
    url: `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    close: once(async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      exchanges.end();
      server.closeIdleConnections();
      const force = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, CLOSE_GRACE_MS);
      await closed;
      clearTimeout(force);
    }),
  };
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}

function serverOf(
  options: HttpServerOptions,
  listener: (request: http.IncomingMessage, response: http.ServerResponse) => void,
): http.Server {
  const limits: http.ServerOptions = {
    maxHeaderSize: MAX_HEAD_BYTES,
    headersTimeout: options.headerTimeoutMs ?? HEADER_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
  };
  const { tls } = options;
  if (tls === undefined) return http.createServer(limits, listener);
  return https.createServer(
    {
      ...limits,
      cert: tls.certificate,
      key: tls.key,
      minVersion: 'TLSv1.2',
      handshakeTimeout: TLS_HANDSHAKE_TIMEOUT_MS,
      ...(tls.clientAuthority === undefined
        ? {}
        : { ca: tls.clientAuthority, requestCert: true, rejectUnauthorized: false }),
    },
    listener,
  );
}

/** The requests that are being answered. */
class Exchanges {
  readonly #handler: HttpHandler;
  readonly #maxBodyBytes: number;
  readonly #logger: Logger;
  readonly #open = new Set<AbortController>();
  readonly #peers = new WeakMap<Socket, Peer>();
  #isEnding = false;

  constructor(options: HttpServerOptions) {
    this.#handler = options.handler;
    this.#maxBodyBytes = options.maxBodyBytes ?? MAX_REQUEST_BODY_BYTES;
    this.#logger = options.logger ?? SILENT;
  }

  end(): void {
    this.#isEnding = true;
    for (const controller of this.#open) controller.abort(new Error('the server is closing'));
  }

  async serve(incoming: http.IncomingMessage, outgoing: http.ServerResponse): Promise<void> {
    const controller = new AbortController();
    this.#open.add(controller);
    outgoing.once('close', () => {
      this.#open.delete(controller);
      if (!isComplete(outgoing)) controller.abort(new Error('the client closed the connection'));
      else if (this.#isEnding) incoming.socket.destroySoon();
    });
    // A peer that resets the connection is no news beyond that `close`.
    incoming.on('error', () => undefined);
    outgoing.on('error', () => undefined);
    try {
      const request = await this.#requestOf(incoming, controller.signal);
      if (request === undefined) return;
      const response = await this.#answerTo(request);
      await sendResponse(outgoing, response, {
        isHead: incoming.method === 'HEAD',
        closeConnection: this.#isEnding || !incoming.complete,
      });
    } catch (error) {
      // The body failed after its head was sent: only a broken connection can tell the client.
      this.#logger.warn('a response broke off', { path: incoming.url, err: error });
      outgoing.destroy();
    }
  }

  async #answerTo(request: HttpRequest | ApiStatusError): Promise<HttpResponse> {
    if (request instanceof Error) return statusResponse(request);
    try {
      return await this.#handler(request);
    } catch (error) {
      this.#logger.error('a handler failed', { path: request.path, err: error });
      return statusResponse(
        failure('InternalError', 'Internal error occurred: the handler failed'),
      );
    }
  }

  /** The request with its whole body, why it is refused, or undefined when the peer has gone. */
  async #requestOf(
    incoming: http.IncomingMessage,
    signal: AbortSignal,
  ): Promise<HttpRequest | ApiStatusError | undefined> {
    const method = METHODS.find((known) => known === incoming.method);
    if (method === undefined) {
      return failure('MethodNotAllowed', `the server does not know the method ${incoming.method}`);
    }
    const path = pathOf(incoming.url ?? '');
    if (path === undefined) {
      return failure(
        'BadRequest',
        `the request target ${incoming.url} is neither a path nor a URL`,
      );
    }
    const body = await bodyOf(incoming, this.#maxBodyBytes);
    if (body === 'gone') return undefined;
    if (body === 'too large') {
      const limit = `limit is ${this.#maxBodyBytes}`;
      return failure('RequestEntityTooLarge', `Request entity too large: ${limit}`);
    }
    return {
      method,
      path,
      headers: plainHeaders(incoming.headers),
      ...(body.byteLength === 0 ? {} : { body }),
      signal,
      peer: this.#peerOf(incoming.socket),
    };
  }

  /** Kept per connection: reading a certificate takes longer than answering many a request. */
  #peerOf(socket: Socket): Peer {
    const known = this.#peers.get(socket);
    if (known !== undefined) return known;
    const peer = { address: socket.remoteAddress ?? '', ...certificateOf(socket) };
    this.#peers.set(socket, peer);
    return peer;
  }
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const;

/** Path and query of either form of a request target (RFC 9112, 3.2). */
function pathOf(target: string): string | undefined {
  if (target.startsWith('/')) return target;
  if (!URL.canParse(target)) return undefined;
  const url = new URL(target);
  return url.pathname + url.search;
}

async function bodyOf(
  incoming: http.IncomingMessage,
  maxBytes: number,
): Promise<Uint8Array | 'too large' | 'gone'> {
  if (Number(incoming.headers['content-length'] ?? 0) > maxBytes) return 'too large';
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.byteLength;
      if (size <= maxBytes) chunks.push(chunk);
      else {
        incoming.pause();
        resolve('too large');
      }
    });
    incoming.once('end', () => resolve(Buffer.concat(chunks)));
    incoming.once('close', () => resolve('gone'));
  });
}

function certificateOf(socket: Socket): Pick<Peer, 'certificate'> {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return {};
  const { subject } = socket.getPeerCertificate();
  // Node gives a list where a name part occurs more than once, whatever the types say.
  const { CN, O } = (subject ?? {}) as Readonly<Record<string, string | string[] | undefined>>;
  const commonName = [CN ?? []].flat().at(-1);
  if (commonName === undefined) return {};
  return { certificate: { commonName, organizations: [O ?? []].flat() } };
}

function statusResponse(error: ApiStatusError): HttpResponse {
  return {
    status: error.code,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(error.status)),
  };
}
