import type { ClientCertificate } from '../ports/transport.ts';

/** Who a client is to a server: whoever has the bearer token, the client certificate, or both. */
export interface Credentials {
  readonly token?: string | undefined;
  readonly clientCertificate?: ClientCertificate | undefined;
}

/** Where a client gets its credentials from, request by request, because they are renewed. */
export interface CredentialSource<T extends Credentials = Credentials> {
  /** Those to use now. Rejects where none are to be had, and with the reason of `signal`. */
  current(signal?: AbortSignal): Promise<T>;
  /** A server does not take these (any more): whoever can, looks for others before the next. */
  refused?(credentials: T): void;
}

/** For servers that want a token and nothing else. */
export type TokenSource = CredentialSource<{ readonly token: string }>;

export function staticToken(token: string): TokenSource {
  const credentials = { token };
  return { current: () => Promise.resolve(credentials) };
}
