/** The server's side of a WebSocket, as streams need it. */
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { HttpRequest, HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';

export interface WebSocketLimits {
  readonly clock: Clock;
  /** Milliseconds without a byte in either direction after which the connection is closed. */
  readonly idleTimeoutMs: number;
  /** The limit for an incoming message, in bytes. */
  readonly maxMessageBytes: number;
}

export interface WebSocketConnection {
  /**
   * The client's messages, each whole; read once. Ends when the client goes, in any way, and never
   * throws. The client is held back while this is not read.
   */
  messages(): AsyncGenerator<Uint8Array, void>;
  /** A binary message. Resolves once the next may be sent; of no effect once it is closed. */
  send(message: Uint8Array): Promise<void>;
  /** Says that all is said. A client that does not close in its turn is cut off. */
  close(): void;
}

export interface AcceptedWebSocket {
  /** Status 101, with the proof that only a WebSocket server gives. */
  readonly response: HttpResponse;
  readonly connection: WebSocketConnection;
}

/** `protocol`: the one of those the client offers that it gets. A text says what is wrong with the request. */
export type WebSocketAcceptor = (
  request: HttpRequest,
  protocol: string,
  limits: WebSocketLimits,
) => AcceptedWebSocket | string;
