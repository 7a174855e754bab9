import type { ClientCertificate } from '../ports/transport.ts';

/**
 * The identity of a client to a server: the holder of a bearer token, a client certificate, or
 * both.
 */
export interface Credentials {
  readonly token?: string | undefined;
  readonly clientCertificate?: ClientCertificate | undefined;
}

/**
 * A client's source of credentials. It is asked for each request, because credentials are renewed.
 */
export interface CredentialSource<T extends Credentials = Credentials> {
  /** The credentials to use now. Rejects if there are none, and with the reason of `signal`. */
  current(signal?: AbortSignal): Promise<T>;
  /** A server refused these credentials: a source that can gets others for the next request. */
  refused?(credentials: T): void;
}

/** For servers that accept only a token. */
export type TokenSource = CredentialSource<{ readonly token: string }>;

export function staticToken(token: string): TokenSource {
  const credentials = { token };
  return { current: () => Promise.resolve(credentials) };
}
