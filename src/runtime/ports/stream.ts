/**
 * The port of long streams of bytes both ways, of which a process holds thousands: calls instead of
 * iterators and promises, so that a stream costs little more than its socket. A client asks for one
 * with an HTTP request that is upgraded, so that a refusal has a status and a reason.
 *
 * Real ends: `adapters/stream-server.ts` and `adapters/stream-connector.ts`; in memory,
 * `memory/memory-streams.ts`.
 */
export interface ByteStream {
  /** Never waits: what the other side does not take stays in memory, see `unreadBytes`. */
  write(bytes: Uint8Array): void;
  /** How much of what was written is still in this process. */
  readonly unreadBytes: number;
  /** Sends what was written and closes. */
  end(): void;
  /** Closes at once. */
  destroy(): void;
}

/** What a stream tells whoever holds one end. Calls come one at a time. */
export interface StreamListener {
  received(chunk: Uint8Array): void;
  /** Called once, and last, whoever closed the stream. */
  closed(error: Error | undefined): void;
}

/** What is known of a client before its stream opens. */
export interface StreamRequest {
  /** Of its `Authorization: Bearer` header. */
  readonly token: string | undefined;
  /** Where it comes from, for the log. */
  readonly address: string;
}

export type StreamAnswer =
  | { readonly kind: 'Accept'; readonly open: (stream: ByteStream) => StreamListener }
  | StreamRefusal;

export interface StreamRefusal {
  readonly kind: 'Refuse';
  /** An HTTP status of 400 or more. */
  readonly status: number;
  readonly reason: string;
  /** When the same request may be answered. */
  readonly retryAfterSeconds?: number;
}

/** A server's side: decides on each request. It does not throw. */
export type StreamAcceptor = (request: StreamRequest) => Promise<StreamAnswer>;

/** Why a connection ended before it asked for anything. */
export type ConnectionDrop =
  /** Too many were on their way, and it had said nothing, or took very long. */
  | 'Crowded'
  /** TLS did not come about: it spoke something else, trusts others, took too long, or gave up. */
  | 'NoHandshake'
  /** It shook hands, and then said nothing, or nonsense. */
  | 'NoRequest';

/** What is answered to a client of a stream's server that asks for no stream: JSON, or why not. */
export type PageAnswer = { readonly kind: 'Page'; readonly json: Uint8Array } | StreamRefusal;

export interface StreamConnector {
  /**
   * Rejects with `StreamRefusedError` if the server says no, with `TransportError` if there is none
   * or it speaks something else, and with the signal's reason when the caller gives up. The signal
   * has no meaning once the stream is open.
   */
  connect(listener: StreamListener, signal: AbortSignal): Promise<ByteStream>;
}

export class StreamRefusedError extends Error {
  override readonly name = 'StreamRefusedError';
  readonly status: number;

  constructor(status: number, reason: string) {
    super(`refused with ${status}: ${reason}`);
    this.status = status;
  }
}
