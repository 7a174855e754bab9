/**
 * The server's end of `ports/stream.ts`: HTTPS with one path, where `GET` with `Upgrade` becomes a
 * stream once the acceptor has agreed; everything else is refused. A client that does not get that
 * far within seconds is cut off. If too many are on their way, silent ones go first: honest clients
 * speak at once, and their handshakes have already cost work.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Logger, SILENT } from '../ports/logger.ts';
import type {
  ByteStream,
  ConnectionDrop,
  PageAnswer,
  StreamAcceptor,
  StreamAnswer,
  StreamRefusal,
  StreamRequest,
} from '../ports/stream.ts';
import { hasBody } from './request-body.ts';
import { StreamConnections } from './stream-connections.ts';

export interface StreamServerOptions {
  readonly acceptor: StreamAcceptor;
  readonly path: string;
  /** Handlers of other paths. */
  readonly pages?: ReadonlyMap<string, (request: StreamRequest) => Promise<PageAnswer>>;
  /** The token of the `Upgrade` header. */
  readonly protocol: string;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** PEM. */
  readonly tls: { readonly certificate: string; readonly key: string };
  readonly maxStreams: number;
  /** How many connections may be without a stream yet. */
  readonly maxPending?: number;
  readonly handshakeTimeoutMs?: number;
  readonly logger?: Logger | undefined;
  /** Called for connections that end before they ask for anything. */
  readonly dropped?: ((why: ConnectionDrop, address: string) => void) | undefined;
}

export interface StreamServer {
  readonly host: string;
  readonly port: number;
  /** `https://127.0.0.1:9445` */
  readonly url: string;
  /**
   * Sets the certificate for new connections. Throws for an unusable pair; then nothing changes.
   */
  useCertificate(pair: StreamServerOptions['tls']): void;
  /** Closes all streams and resolves when the port is free. */
  close(): Promise<void>;
}

/** When all streams are taken, how many clients at a time get that answer. */
const MAX_BEYOND_STREAMS = 1024;
/** A group of 5,000 may connect at once. */
const MAX_PENDING = 8192;
/**
 * From the connection to the end of TLS's handshake, and from there to the end of the request.
 * Thousands that connect at once wait for each other, and one that is cut off for that comes again.
 */
const HANDSHAKE_TIMEOUT_MS = 30_000;
const HEADER_TIMEOUT_MS = 10_000;
const TIMEOUT_CHECK_INTERVAL_MS = 1000;
/** The limit for a request; a token has 1 to 2 KiB. */
const MAX_HEAD_BYTES = 8 * 1024;
/**
 * How long a returning client can resume its session in place of a full handshake. Groups run for
 * hours before one fails. A returning client still agrees on new keys, and shows its token.
 */
const SESSION_SECONDS = 24 * 3600;
/** How many connections may wait in the kernel to be accepted. */
const BACKLOG = 4096;
/** Only a fallback: a machine that vanished is noticed by its silence long before. */
const KEEP_ALIVE_PROBE_MS = 30_000;
/** From the request to the end of its answer, which may be 3 MB. */
const PAGE_TIMEOUT_MS = 10_000;
/** Each holds a page in memory until its reader has taken it. */
const MAX_PAGES_UNDER_WAY = 64;
const TOO_MANY_PAGES: StreamRefusal = {
  kind: 'Refuse',
  status: 503,
  reason: 'too many pages are being read',
  retryAfterSeconds: 1,
};
/** For streams to send their last words. */
const CLOSE_GRACE_MS = 500;

/** Rejects with the system's error (`EADDRINUSE`, `EACCES`, ...) when it cannot listen. */
export async function startStreamServer(options: StreamServerOptions): Promise<StreamServer> {
  const server = https.createServer({
    ...secureContext(options.tls),
    handshakeTimeout: options.handshakeTimeoutMs ?? HANDSHAKE_TIMEOUT_MS,
    headersTimeout: HEADER_TIMEOUT_MS,
    requestTimeout: HEADER_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
    maxHeaderSize: MAX_HEAD_BYTES,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
    noDelay: true,
  });
  const { maxStreams, maxPending = MAX_PENDING } = options;
  server.maxConnections = maxStreams + Math.min(maxPending, MAX_BEYOND_STREAMS);
  const connections = new StreamConnections(maxPending, options.dropped);
  const logger = options.logger ?? SILENT;
  server.on('connection', (socket: Socket) => connections.came(socket));
  server.on('secureConnection', (socket) => connections.shookHands(socket));
  const pages = new PageAnswers(options);
  server.on('request', (request, response) => {
    if (!isFirst(request)) return;
    response.setHeader('connection', 'close');
    // The bytes already read are parsed to their end first, and a parsed request makes Node read
    // on.
    setImmediate(() => request.socket.pause());
    connections.asked(request.socket);
    void pages.answer(request, response).catch((error: unknown) => {
      logger.error('a page could not be served', { err: error });
      response.destroy();
    });
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (!isFirst(request)) {
      socket.destroy();
      return;
    }
    connections.asked(request.socket);
    void upgrade(options, connections, request, socket as Socket, head).catch((error: unknown) => {
      logger.error('a stream could not be opened', { err: error });
      socket.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: options.host, port: options.port, backlog: BACKLOG }, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
  server.on('error', (error) => logger.error('the stream server failed', { err: error }));
  const { address, port, family } = server.address() as AddressInfo;
  let closing: Promise<void> | undefined;
  return {
    host: address,
    port,
    url: `https://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    useCertificate: (pair) => server.setSecureContext(secureContext(pair)),
    close: () => {
      closing ??= closed(server, connections);
      return closing;
    },
  };
}

const NO_BODIES = 'requests with a body are not taken here';

const asked = new WeakSet<Socket>();

/**
 * A connection is for one request. Later ones are not read, so a client that sends thousands
 * without waiting costs nothing.
 */
function isFirst({ socket }: IncomingMessage): boolean {
  if (asked.has(socket)) return false;
  asked.add(socket);
  return true;
}

class PageAnswers {
  readonly #options: StreamServerOptions;
  #underWay = 0;

  constructor(options: StreamServerOptions) {
    this.#options = options;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    const timer = setTimeout(() => socket.destroy(), PAGE_TIMEOUT_MS);
    response.once('close', () => clearTimeout(timer));
    const { pages, path, protocol } = this.#options;
    const page = request.method === 'GET' ? pages?.get(request.url ?? '') : undefined;
    if (page === undefined) {
      response.writeHead(426, { upgrade: protocol });
      response.end(`expected GET ${path} with "Upgrade: ${protocol}"\n`);
      return;
    }
    const answer: PageAnswer = await page(streamRequest(request));
    const isTooMany = this.#underWay >= MAX_PAGES_UNDER_WAY;
    if (answer.kind === 'Page' && (isTooMany || socket.destroyed)) answer.over();
    else if (answer.kind === 'Page') {
      this.#underWay++;
      response.once('close', () => {
        this.#underWay--;
        answer.over();
      });
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(answer.json);
      return;
    }
    const { status, reason, retryAfterSeconds } = answer.kind === 'Page' ? TOO_MANY_PAGES : answer;
    if (retryAfterSeconds !== undefined) response.setHeader('retry-after', retryAfterSeconds);
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' });
    response.end(`${reason}\n`);
  }
}

async function closed(server: https.Server, connections: StreamConnections): Promise<void> {
  const done = new Promise<void>((resolve) => server.close(() => resolve()));
  const force = setTimeout(() => connections.destroyAll(), CLOSE_GRACE_MS);
  connections.endStreams();
  await done;
  clearTimeout(force);
}

function secureContext({ certificate, key }: StreamServerOptions['tls']) {
  return {
    cert: certificate,
    key,
    minVersion: 'TLSv1.2',
    sessionTimeout: SESSION_SECONDS,
  } as const;
}

async function upgrade(
  options: StreamServerOptions,
  connections: StreamConnections,
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
): Promise<void> {
  // A broken stream is reported by `closed`; without a listener the error would end the process.
  let failure: Error | undefined;
  socket.on('error', (error) => {
    failure = error;
  });
  const answer = await answerTo(options, request);
  if (socket.destroyed) return;
  if (answer.kind === 'Refuse') return refuse(socket, answer);
  connections.opened(socket);
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${options.protocol}\r\n\r\n`,
    'latin1',
  );
  const listener = answer.open(streamOf(socket));
  socket.on('data', (chunk: Buffer) => listener.received(chunk));
  socket.once('close', () => listener.closed(failure));
  // When one side has ended, the other ends too.
  socket.once('end', () => socket.end());
  if (head.byteLength > 0) listener.received(head);
  socket.resume();
}

function answerTo(
  { acceptor, path, protocol }: StreamServerOptions,
  request: IncomingMessage,
): Promise<StreamAnswer> | StreamAnswer {
  const refusal = (status: number, reason: string): StreamRefusal => {
    return { kind: 'Refuse', status, reason };
  };
  if (request.method !== 'GET') return refusal(405, 'only GET is allowed');
  if (hasBody(request)) return refusal(413, NO_BODIES);
  if (request.url !== path) return refusal(404, `only ${path} is served here`);
  if (request.headers.upgrade !== protocol) return refusal(426, `only ${protocol} is spoken here`);
  return acceptor(streamRequest(request));
}

function streamRequest({ headers, socket }: IncomingMessage): StreamRequest {
  const [scheme = '', token] = (headers.authorization ?? '').split(' ', 2);
  return {
    token: scheme.toLowerCase() === 'bearer' ? token : undefined,
    address: socket.remoteAddress ?? '',
  };
}

function refuse(socket: Socket, { status, reason, retryAfterSeconds }: StreamRefusal): void {
  const body = Buffer.from(`${reason}\n`);
  const retry = retryAfterSeconds === undefined ? '' : `Retry-After: ${retryAfterSeconds}\r\n`;
  socket.end(
    `HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n` +
      `${retry}Content-Length: ${body.byteLength}\r\n\r\n${body.toString()}`,
  );
}

/** Either end of an upgraded connection. */
export function streamOf(socket: Socket): ByteStream {
  return {
    write: (bytes) => {
      if (!socket.destroyed && !socket.writableEnded) socket.write(bytes);
    },
    get unreadBytes() {
      return socket.writableLength;
    },
    end: () => {
      // Ending an ended socket makes Node build an error that has no reader.
      if (!socket.destroyed && !socket.writableEnded) socket.end();
    },
    destroy: () => void socket.destroy(),
  };
}
