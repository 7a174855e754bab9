/**
 * The port of the network, one shape for both ends: a client sends an `HttpRequest` through a
 * `Transport`, a server answers it as an `HttpHandler`. In memory a handler *is* a transport, so a
 * client and an API server can meet in one process, under a virtual clock, without a socket.
 *
 * Implementations: `adapters/http-transport.ts` (client) and `adapters/http-server.ts` (server).
 */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS';
  /** Path and query, as on the request line: `/api/v1/pods?watch=true`. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  /**
   * Aborted by a client to give the exchange up, and by a server adapter when the peer has gone. It
   * covers the body of the response too, and stays valid until that has ended.
   */
  readonly signal: AbortSignal;
  /** The certificate for TLS, if it changes; otherwise the transport's own. */
  readonly clientCertificate?: ClientCertificate | undefined;
  /** Set by a server adapter: what the connection itself proves about the client. */
  readonly peer?: Peer | undefined;
}

/** PEM texts; certificates of intermediate authorities may follow the certificate. */
export interface ClientCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** What TLS proved about the other end. */
export interface Peer {
  readonly address: string;
  /** Absent where it says nothing. */
  readonly port?: number | undefined;
  /** Subject of a client certificate that was verified against the server's client CA. */
  readonly certificate?: { readonly commonName: string; readonly organizations: readonly string[] };
}

export interface HttpResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whole, or a stream (watch, logs). A stream ends by finishing, and fails by throwing. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
  /** With status 101 only: the upgraded connection. */
  readonly channel?: ByteChannel | undefined;
}

/**
 * Bytes in both directions, seen from one side: a connection after `101 Switching Protocols`, or a
 * socket.
 */
export interface ByteChannel {
  /**
   * What the other side sends, read once. Ends when that has sent everything, throws if it broke
   * off, and holds the other side back while it is not read.
   */
  readonly incoming: AsyncIterable<Uint8Array>;
  /** Resolves once more may be written, at once if this channel has ended. Never rejects. */
  write(chunk: Uint8Array): Promise<void>;
  /** This side has sent everything. */
  end(): void;
  /** Breaks off both directions. */
  destroy(): void;
}

export interface Transport {
  /**
   * Resolves with the head of the response. Rejects with `TransportError` if no response came
   * (refused, reset, time-out) and with the signal's reason if the caller gave up.
   */
  send(request: HttpRequest): Promise<HttpResponse>;
}

/** A server's side of the exchange. It answers every request and does not throw. */
export type HttpHandler = (request: HttpRequest) => Promise<HttpResponse>;

/** The exchange failed below HTTP; nothing is known about what the server did. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  /** The system's code, such as `ECONNREFUSED`, if there is one. */
  readonly code: string | undefined;

  constructor(message: string, options: { readonly code?: string; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.code = options.code;
  }
}
