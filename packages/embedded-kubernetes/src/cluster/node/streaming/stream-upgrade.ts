/**
 * How a client's connection leaves HTTP: a WebSocket whose messages are the streams, SPDY, or SPDY
 * inside a WebSocket. The request decides which of them a client may use.
 */
import { channelPair } from '@lockstep/kube/runtime/byte-channel.ts';
import type {
  ByteChannel,
  HttpRequest,
  HttpResponse,
} from '@lockstep/kube/runtime/ports/transport.ts';
import type { NodeContext } from '../ports/node-context.ts';
import type { AcceptedWebSocket, WebSocketConnection } from '../ports/web-socket.ts';
import type { RemoteStreams, StreamOptions } from './remote-streams.ts';
import { ServerSession, type SpdyStream } from './spdy/server-session.ts';
import { SPDY_PROTOCOL, SpdyStreams } from './spdy-streams.ts';
import { CHANNEL_PROTOCOLS, webSocketStreams } from './web-socket-streams.ts';

/** A kubelet's `streamingConnectionIdleTimeout`. */
const IDLE_TIMEOUT_MS = 4 * 3600 * 1000;
/** Clients send pieces of 32 KiB. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
/** Two for each connection that a client has open at a time. */
const MAX_STREAMS = 512;

const SPDY = 'SPDY/3.1';
const PORT_PROTOCOL = 'portforward.k8s.io';

/** The streams of a command, or a text that says why there are none. */
export function openCommandStreams(
  context: NodeContext,
  request: HttpRequest,
  options: StreamOptions,
):
  | { readonly response: HttpResponse; readonly streams: Promise<RemoteStreams | undefined> }
  | string {
  if (asksForWebSocket(request)) {
    const accepted = acceptWebSocket(context, request, CHANNEL_PROTOCOLS);
    if (typeof accepted === 'string') return accepted;
    const { response, connection } = accepted;
    return { response, streams: Promise.resolve(webSocketStreams(connection, options)) };
  }
  const accepted = acceptSpdy(request, SPDY_PROTOCOL);
  if (typeof accepted === 'string') return accepted;
  const streams = new SpdyStreams(options);
  const session = sessionOver(context, accepted.channel, (stream) => streams.add(stream));
  void session.run();
  const opened = streams.opened(context.clock, session, request.signal);
  return { response: accepted.response, streams: opened };
}

/**
 * A session for forwarded ports, which the caller has to run, or a text that says why there is
 * none.
 */
export function openPortStreams(
  context: NodeContext,
  request: HttpRequest,
  onStream: (stream: SpdyStream) => void,
): { readonly response: HttpResponse; readonly session: ServerSession } | string {
  const accepted = asksForWebSocket(request)
    ? acceptTunnel(context, request)
    : acceptSpdy(request, PORT_PROTOCOL);
  if (typeof accepted === 'string') return accepted;
  const { response, channel } = accepted;
  return { response, session: sessionOver(context, channel, onStream) };
}

function asksForWebSocket({ headers }: HttpRequest): boolean {
  return headers['upgrade']?.toLowerCase() === 'websocket';
}

function acceptWebSocket(
  { streaming, clock }: NodeContext,
  request: HttpRequest,
  known: readonly string[],
): AcceptedWebSocket | string {
  const protocol = preferred(request.headers['sec-websocket-protocol'], known);
  if (protocol === undefined) return unknownProtocol(known);
  const limits = { clock, idleTimeoutMs: IDLE_TIMEOUT_MS, maxMessageBytes: MAX_MESSAGE_BYTES };
  return streaming.acceptWebSocket(request, protocol, limits);
}

/** What has become of a connection that left HTTP. */
interface AcceptedChannel {
  readonly response: HttpResponse;
  readonly channel: ByteChannel;
}

/** SPDY in the messages of a WebSocket. */
function acceptTunnel(context: NodeContext, request: HttpRequest): AcceptedChannel | string {
  const accepted = acceptWebSocket(context, request, [`${SPDY}+${PORT_PROTOCOL}`]);
  if (typeof accepted === 'string') return accepted;
  return { response: accepted.response, channel: webSocketChannel(accepted.connection) };
}

/** A stream of bytes that is carried in binary messages, cut wherever the sender liked. */
function webSocketChannel(connection: WebSocketConnection): ByteChannel {
  return {
    incoming: connection.messages(),
    write: (chunk) => connection.send(chunk),
    end: () => connection.close(),
    destroy: () => connection.close(),
  };
}

function sessionOver(
  { streaming }: NodeContext,
  channel: ByteChannel,
  onStream: (stream: SpdyStream) => void,
): ServerSession {
  const inflater = streaming.createInflater();
  return new ServerSession(channel, { inflater, onStream, maxStreams: MAX_STREAMS });
}

function acceptSpdy({ headers, signal }: HttpRequest, protocol: string): AcceptedChannel | string {
  if (headers['upgrade']?.toLowerCase() !== SPDY.toLowerCase()) {
    return 'unable to upgrade: missing upgrade headers in request';
  }
  if (preferred(headers['x-stream-protocol-version'], [protocol]) === undefined) {
    return unknownProtocol([protocol]);
  }
  const [far, near] = channelPair();
  signal.addEventListener('abort', () => near.destroy(), { once: true });
  return {
    response: {
      status: 101,
      headers: { connection: 'Upgrade', upgrade: SPDY, 'x-stream-protocol-version': protocol },
      body: new Uint8Array(),
      channel: far,
    },
    channel: near,
  };
}

/** The first that a client offers, separated by commas, of those that are known. */
function preferred(offered: string | undefined, known: readonly string[]): string | undefined {
  const names = (offered ?? '').split(',').map((name) => name.trim());
  return names.find((name) => known.includes(name));
}

function unknownProtocol(known: readonly string[]): string {
  return `no protocol in common: this node speaks ${known.join(', ')}`;
}
