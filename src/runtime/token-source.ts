/** Where a client gets its bearer token from, request by request, because tokens rotate. */
export interface TokenSource {
  /** The token to send now. Rejects when there is none to be had. */
  token(): Promise<string>;
  /** A server does not take this token (any more): whoever can, looks for another before the next. */
  refused?(token: string): void;
}

export function staticToken(token: string): TokenSource {
  return { token: () => Promise.resolve(token) };
}
