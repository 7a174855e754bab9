/** Both ends of a forwarded port of a Pod: an exchange of a client, and the session of a server. */
export { createHeaderInflater } from '../node/adapters/header-inflater.ts';
export {
  forwardedExchange,
  PORT_FORWARD_HEADERS,
} from '../node/streaming/spdy/forwarded-exchange.ts';
export { ServerSession, type SpdyStream } from '../node/streaming/spdy/server-session.ts';
