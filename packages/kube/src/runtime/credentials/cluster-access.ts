/** How a client reaches an API server, and as whom; and the error for wrong configuration. */
import type { CredentialSource } from './credential-source.ts';
import type { CredentialPlugin } from './exec-credential.ts';

/** The access that a kubeconfig or a Pod's files describe. */
export interface ClusterAccess {
  /** A URL, with a path if the API is served below one. */
  readonly server: string;
  readonly tls: ClientTls;
  /** Our identity, if it is not in the certificate of `tls` alone. */
  readonly credentials?: AccessCredentials;
  /** The default namespace. */
  readonly namespace: string;
  /** Name of the kubeconfig's context; absent: it is from elsewhere. */
  readonly context?: string;
}

/**
 * A token, the file with the current token, or the plugin that makes credentials. All connections
 * share a plugin's one source, so that a user logs in only once.
 */
export type AccessCredentials =
  | { readonly token: string }
  | { readonly tokenFile: string }
  | { readonly plugin: CredentialPlugin; readonly source: CredentialSource };

/** Certificates and keys are PEM texts. */
export interface ClientTls {
  /** Instead of the system's authorities. */
  readonly certificateAuthority?: string | undefined;
  readonly clientCertificate?: string | undefined;
  readonly clientKey?: string | undefined;
  /** The name that the server's certificate must carry, if it is not the URL's host. */
  readonly serverName?: string | undefined;
  readonly insecureSkipVerify?: boolean | undefined;
}

/** A configuration error: its place, the value unless it is secret, and what is expected. */
export class ClusterAccessError extends Error {
  override readonly name = 'ClusterAccessError';
}
