/** The client's end of `ports/stream.ts`, over HTTPS. */
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createSecureContext, type TLSSocket } from 'node:tls';
import type { TokenSource } from '../credentials/credential-source.ts';
import {
  type ByteStream,
  type StreamConnector,
  type StreamListener,
  StreamRefusedError,
} from '../ports/stream.ts';
import { processSessionStore, type TlsSessionStore } from '../ports/tls-session.ts';
import { TransportError } from '../ports/transport.ts';
import { dialTimer } from './http-transport.ts';
import { streamOf } from './stream-server.ts';

export interface StreamServerAddress {
  /** `https://HOST:PORT` */
  readonly server: string;
  readonly path: string;
  readonly protocol: string;
  /** PEM; by default the authorities that Node trusts. */
  readonly certificateAuthority: string | undefined;
}

/** The limit for the reason of a refusal. */
const MAX_REASON_BYTES = 1024;
const KEEP_ALIVE_PROBE_MS = 30_000;
/**
 * A running machine accepts a connection at once, however busy its server is. A dead one never
 * answers, and a Service redirects only new connections, so give up early and dial again.
 */
const DIAL_TIMEOUT_MS = 2000;

/** The client of a connector. */
export interface StreamClient {
  readonly credentials: TokenSource;
  /** By default sessions live as long as the connector. */
  readonly sessions?: TlsSessionStore | undefined;
}

export function createStreamConnector(to: StreamServerAddress & StreamClient): StreamConnector {
  return streamConnectors(to)(to);
}

/**
 * Connectors of several clients to one server, because parsing its authority takes as long as a
 * handshake.
 */
export function streamConnectors(
  to: StreamServerAddress,
): (client: StreamClient) => StreamConnector {
  let agent: https.Agent | undefined;
  return ({ credentials, sessions = processSessionStore() }) => ({
    connect: async (listener, signal) => {
      const [{ token }, session] = await Promise.all([
        credentials.current(signal),
        sessions.read(),
      ]);
      signal.throwIfAborted();
      agent ??= new https.Agent({
        keepAlive: false,
        maxCachedSessions: 0,
        secureContext: createSecureContext({
          ca: to.certificateAuthority,
          minVersion: 'TLSv1.2',
        }),
      });
      return connect(to, { agent, token, session, sessions }, listener, signal);
    },
  });
}

function connect(
  { server, path, protocol }: StreamServerAddress,
  {
    agent,
    token,
    session,
    sessions,
  }: {
    readonly agent: https.Agent;
    readonly token: string;
    readonly session: Uint8Array | undefined;
    readonly sessions: TlsSessionStore;
  },
  listener: StreamListener,
  signal: AbortSignal,
): Promise<ByteStream> {
  return new Promise((resolve, reject) => {
    const request = https.request(new URL(path, server), {
      agent,
      ...(session && { session: Buffer.from(session) }),
      headers: { authorization: `Bearer ${token}`, connection: 'Upgrade', upgrade: protocol },
    });
    const abort = (): void => {
      request.destroy();
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', abort, { once: true });
    const settled = (): void => signal.removeEventListener('abort', abort);
    request.once('socket', (socket) => {
      // A server may send several sessions; each is valid for one connection, and one is enough.
      (socket as TLSSocket).once('session', (next) => sessions.write(next));
      const timer = dialTimer(socket, request.host, DIAL_TIMEOUT_MS, (code, what) => {
        request.destroy(new TransportError(what, { code }));
      });
      const dialled = (): void => clearTimeout(timer);
      socket.once('connect', dialled);
      socket.once('close', dialled);
    });
    request.once('upgrade', (_response: IncomingMessage, socket: Duplex, head: Buffer) => {
      settled();
      // The caller has given up at this very moment.
      if (signal.aborted) socket.destroy();
      else resolve(open(socket as Socket, head, listener));
    });
    request.once('response', (response) => {
      refusalOf(response).then(reject, reject).finally(settled);
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      settled();
      // The session may be the cause of the failure.
      if (session !== undefined) sessions.write(undefined);
      const { message, code } = error;
      reject(new TransportError(message, { ...(code && { code }), cause: error }));
    });
    request.end();
  });
}

function open(socket: Socket, head: Buffer, listener: StreamListener): ByteStream {
  let failure: Error | undefined;
  socket.on('error', (error) => {
    failure = error;
  });
  socket.setNoDelay(true);
  socket.setKeepAlive(true, KEEP_ALIVE_PROBE_MS);
  socket.once('close', () => listener.closed(failure));
  socket.once('end', () => socket.end());
  // Lets the caller have the stream before the first bytes arrive.
  queueMicrotask(() => {
    if (head.byteLength > 0) listener.received(head);
    socket.on('data', (chunk: Buffer) => listener.received(chunk));
  });
  return streamOf(socket);
}

async function refusalOf(response: IncomingMessage): Promise<StreamRefusedError> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size > MAX_REASON_BYTES) break;
  }
  const reason = Buffer.concat(chunks).toString().slice(0, MAX_REASON_BYTES).trim();
  return new StreamRefusedError(response.statusCode ?? 0, reason);
}
