/**
 * The server's end of the network: serves an HttpHandler over HTTPS, or over plain HTTP for health
 * and metrics. Requests are bounded in size, number and time before the handler sees them. Every
 * exchange has an end: its signal aborts when the peer goes or the server closes.
 */

import http from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { defined } from '../../json/defined.ts';
import { type Logger, SILENT } from '../ports/logger.ts';
import type { HttpHandler } from '../ports/transport.ts';
import { HttpConnections } from './http-connections.ts';
import { Exchanges } from './http-exchanges.ts';
import type { BodyLimits } from './request-body.ts';

export interface HttpServerOptions {
  readonly handler: HttpHandler;
  /** The address to listen on; use `0.0.0.0` or `::` for all addresses. */
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Absent: plain HTTP. */
  readonly tls?: ServerTlsOptions | undefined;
  readonly bodies?: Partial<BodyLimits> | undefined;
  readonly maxHeadBytes?: number | undefined;
  readonly maxConnections?: number | undefined;
  readonly headerTimeoutMs?: number | undefined;
  readonly logger?: Logger | undefined;
}

/** PEM texts. */
export interface ServerTlsOptions {
  readonly certificate: string;
  readonly key: string;
  /**
   * The authority of client certificates. A client may come without a certificate or with one of
   * another authority. Then `peer.certificate` is absent, and the handler decides what that means.
   */
  readonly clientAuthority?: string | undefined;
  /** TLS 1.2 by default. */
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3' | undefined;
  /** OpenSSL's names, separated by colons; by default Node's. */
  readonly ciphers?: string | undefined;
}

export interface HttpServer {
  readonly host: string;
  readonly port: number;
  /** `https://127.0.0.1:6443`, without a trailing slash. */
  readonly url: string;
  /**
   * Sets the certificate for new connections; open ones stay as they are. Throws for an unusable
   * pair, and then nothing changes. Has no effect without TLS.
   */
  useCertificate(pair: Pick<ServerTlsOptions, 'certificate' | 'key'>): void;
  /**
   * Accepts no more connections and aborts the signals of all requests. Resolves when all
   * connections are closed: by themselves, or by force after `CLOSE_GRACE_MS`.
   */
  close(): Promise<void>;
}

/** Bodies as large as an API server accepts. */
const DEFAULT_BODY_LIMITS: BodyLimits = { maxBytes: 3 * 1024 * 1024, timeoutMs: 60_000 };

/** One connection per watch: enough for a few watches of some thousand agents. */
const MAX_CONNECTIONS = 16_384;

/** From the connection, or the end of the last request, to the end of the head. */
const HEADER_TIMEOUT_MS = 10_000;

/** From the first byte to the end of the body. */
const REQUEST_TIMEOUT_MS = 60_000;

/** First probe of TCP keep-alive, which notices a watcher that vanished silently. */
const KEEP_ALIVE_PROBE_MS = 30_000;

const TLS_HANDSHAKE_TIMEOUT_MS = 10_000;

/** Longer than clients keep idle connections (client-go: 90 s), so that they close them, not we. */
const KEEP_ALIVE_TIMEOUT_MS = 95_000;

const TIMEOUT_CHECK_INTERVAL_MS = 1_000;

const MAX_HEAD_BYTES = 64 * 1024;

/** For streams to write their last chunk after their signals aborted. */
const CLOSE_GRACE_MS = 1_000;

/** Rejects with the system's error (`EADDRINUSE`, `EACCES`, ...) when it cannot listen. */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const connections = new HttpConnections(options.maxConnections ?? MAX_CONNECTIONS);
  const exchanges = new Exchanges({
    connections,
    handler: options.handler,
    bodies: { ...DEFAULT_BODY_LIMITS, ...options.bodies },
    logger: options.logger ?? SILENT,
  });
  const server = serverOf(options, (request, response) => {
    void exchanges.serve(request, response);
  });
  server.on('upgrade', (request: http.IncomingMessage, socket: Socket, head: Buffer) => {
    void exchanges.upgrade(request, socket, head);
  });
  server.on('connection', (socket: Socket) => connections.came(socket));
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
    useCertificate: (pair) => {
      if (options.tls === undefined || !(server instanceof https.Server)) return;
      server.setSecureContext(secureContext({ ...options.tls, ...pair }));
    },
    close: once(async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      exchanges.end();
      server.closeIdleConnections();
      const force = setTimeout(() => connections.destroyAll(), CLOSE_GRACE_MS);
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
    maxHeaderSize: options.maxHeadBytes ?? MAX_HEAD_BYTES,
    headersTimeout: options.headerTimeoutMs ?? HEADER_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
  };
  const { tls } = options;
  if (tls === undefined) return http.createServer(limits, listener);
  return https.createServer(
    {
      ...limits,
      ...secureContext(tls),
      handshakeTimeout: TLS_HANDSHAKE_TIMEOUT_MS,
      ...(tls.clientAuthority === undefined
        ? {}
        : { requestCert: true, rejectUnauthorized: false }),
    },
    listener,
  );
}

function secureContext(tls: ServerTlsOptions) {
  const { certificate, key, clientAuthority, minVersion = 'TLSv1.2', ciphers } = tls;
  const ca = clientAuthority === undefined ? {} : { ca: clientAuthority };
  return {
    cert: certificate,
    key,
    minVersion,
    ...ca,
    ...defined({ ciphers }),
  };
}
