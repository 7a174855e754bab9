/**
 * The port of long streams of bytes in both directions. A process holds thousands of them, so it
 * uses calls instead of iterators and promises, and a stream costs little more than its socket. A
 * client asks for one with an HTTP request that is upgraded, so a refusal has a status and a
 * reason.
 *
 * Implementations: `adapters/stream-server.ts` and `adapters/stream-connector.ts`; in memory,
 * `memory/memory-streams.ts`.
 */
export interface ByteStream {
  /** Never waits. What the other side does not take stays in memory, see `unreadBytes`. */
  write(bytes: Uint8Array): void;
  /** How many written bytes are still in this process. */
  readonly unreadBytes: number;
  /** Sends what was written and closes. */
  end(): void;
  /** Closes at once. */
  destroy(): void;
}

/** The callbacks of a stream's holder. Calls come one at a time. */
export interface StreamListener {
  received(chunk: Uint8Array): void;
  /** Called once, and last, no matter which side closed the stream. */
  closed(error: Error | undefined): void;
}

/** What is known of a client before its stream opens. */
export interface StreamRequest {
  /** The token of its `Authorization: Bearer` header. */
  readonly token: string | undefined;
  /** The client's address, for the log. */
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
  /** When to send the same request again. */
  readonly retryAfterSeconds?: number;
}

/** A server's side: decides on each request. It does not throw. */
export type StreamAcceptor = (request: StreamRequest) => Promise<StreamAnswer>;

/** Why a connection ended before it asked for anything. */
export type ConnectionDrop =
  /** Too many were on their way, and it had been silent, or very slow. */
  | 'Crowded'
  /** TLS failed: the client spoke something else, did not trust us, took too long, or gave up. */
  | 'NoHandshake'
  /** After the handshake it sent nothing, or nonsense. */
  | 'NoRequest';

/** The answer to a request for a page on a stream server: JSON, or the reason for a refusal. */
export type PageAnswer =
  | {
      readonly kind: 'Page';
      readonly json: Uint8Array;
      /** The server calls it when the reader has taken the page, or is gone. */
      readonly over: () => void;
    }
  | StreamRefusal;

export interface StreamConnector {
  /**
   * Rejects with `StreamRefusedError` if the server refuses, with `TransportError` if it is absent
   * or speaks something else, and with the signal's reason. The signal has no effect once the
   * stream is open.
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
