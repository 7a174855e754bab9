/**
 * How a client's connection leaves HTTP: a WebSocket whose messages are the streams, SPDY, or SPDY
 * carried in a WebSocket. Which of them a client may use depends on what it asks for.
 */
import { channelPair } from '../../../runtime/byte-channel.ts';
import type { ByteChannel, HttpRequest, HttpResponse } from '../../../runtime/ports/transport.ts';
import {
  acceptWebSocket,
  asksForWebSocket,
  webSocketChannel,
} from '../../../runtime/web-socket/server-connection.ts';
import type { NodeContext } from '../node-context.ts';
import type { RemoteStreams, StreamOptions } from './remote-streams.ts';
import { ServerSession, type SpdyStream } from './spdy/server-session.ts';
import { SPDY_PROTOCOL, SpdyStreams } from './spdy-streams.ts';
import { CHANNEL_PROTOCOLS, webSocketStreams } from './web-socket-streams.ts';

/** As a kubelet's `streamingConnectionIdleTimeout`. */
const IDLE_TIMEOUT_MS = 4 * 3600 * 1000;
/** Clients send pieces of 32 KiB. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
/** Two for each connection that a client has open at a time. */
const MAX_STREAMS = 512;

const SPDY = 'SPDY/3.1';
const PORT_PROTOCOL = 'portforward.k8s.io';

/** Of a command. A text says why there is none. */
export function openCommandStreams(
  context: NodeContext,
  request: HttpRequest,
  options: StreamOptions,
):
  | { readonly response: HttpResponse; readonly streams: Promise<RemoteStreams | undefined> }
  | string {
  if (asksForWebSocket(request)) {
    const accepted = acceptWebSocket(request, CHANNEL_PROTOCOLS, limitsOf(context));
    if (accepted === undefined) return unknownProtocol(CHANNEL_PROTOCOLS);
    const { response, connection } = accepted;
    return { response, streams: Promise.resolve(webSocketStreams(connection, options)) };
  }
  const accepted = acceptSpdy(request, SPDY_PROTOCOL);
  if (typeof accepted === 'string') return accepted;
  const streams = new SpdyStreams(options);
  const session = sessionOver(context, accepted.channel, (stream) => streams.add(stream));
  if (typeof session === 'string') return session;
  void session.run();
  const opened = streams.opened(context.clock, session, request.signal);
  return { response: accepted.response, streams: opened };
}

/** Of forwarded ports. The session is to be run; a text says why there is none. */
export function openPortStreams(
  context: NodeContext,
  request: HttpRequest,
  onStream: (stream: SpdyStream) => void,
): { readonly response: HttpResponse; readonly session: ServerSession } | string {
  const tunnel = `${SPDY}+${PORT_PROTOCOL}`;
  let response: HttpResponse;
  let channel: ByteChannel;
  if (asksForWebSocket(request)) {
    const accepted = acceptWebSocket(request, [tunnel], limitsOf(context));
    if (accepted === undefined) return unknownProtocol([tunnel]);
    response = accepted.response;
    channel = webSocketChannel(accepted.connection);
  } else {
    const accepted = acceptSpdy(request, PORT_PROTOCOL);
    if (typeof accepted === 'string') return accepted;
    ({ response, channel } = accepted);
  }
  const session = sessionOver(context, channel, onStream);
  return typeof session === 'string' ? session : { response, session };
}

function limitsOf({ clock }: NodeContext) {
  return { clock, idleTimeoutMs: IDLE_TIMEOUT_MS, maxMessageBytes: MAX_MESSAGE_BYTES };
}

function sessionOver(
  { streaming }: NodeContext,
  channel: ByteChannel,
  onStream: (stream: SpdyStream) => void,
): ServerSession | string {
  if (streaming === undefined) return `this node speaks no ${SPDY}`;
  const inflater = streaming.createInflater();
  return new ServerSession(channel, { inflater, onStream, maxStreams: MAX_STREAMS });
}

function acceptSpdy(
  { headers, signal }: HttpRequest,
  protocol: string,
): { readonly response: HttpResponse; readonly channel: ByteChannel } | string {
  if (headers['upgrade']?.toLowerCase() !== SPDY.toLowerCase()) {
    return 'unable to upgrade: missing upgrade headers in request';
  }
  const offered = (headers['x-stream-protocol-version'] ?? '').split(',').map((one) => one.trim());
  if (!offered.includes(protocol)) return unknownProtocol([protocol]);
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

function unknownProtocol(known: readonly string[]): string {
  return `no protocol in common: this node speaks ${known.join(', ')}`;
}
