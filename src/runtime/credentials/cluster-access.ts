/** How a client reaches an API server and who it is there, and what is thrown where that is misconfigured. */
import type { CredentialSource } from './credential-source.ts';
import type { CredentialPlugin } from './exec-credential.ts';

/** What a kubeconfig or a Pod's files say. */
export interface ClusterAccess {
  /** URL, with a path where the API is served below one. */
  readonly server: string;
  readonly tls: ClientTls;
  /** Who we are, where that is not told by the certificate of `tls` alone. */
  readonly credentials?: AccessCredentials;
  /** Where objects are looked for when nobody names a namespace. */
  readonly namespace: string;
}

/**
 * A token, the file that always holds the one that is valid, or the plugin that makes credentials,
 * with the one source that all connections share: whoever logs in does so once.
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
  /** The name that the server's certificate must carry, where it is not the URL's host. */
  readonly serverName?: string | undefined;
  readonly insecureSkipVerify?: boolean | undefined;
}

/** What is wrong with the configuration: where, the value unless it is secret, and what is expected. */
export class ClusterAccessError extends Error {
  override readonly name = 'ClusterAccessError';
}
