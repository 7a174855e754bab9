/** How a client reaches an API server and who it is there: what a kubeconfig or a Pod's files say. */
export interface ClusterAccess {
  /** URL, with a path where the API is served below one. */
  readonly server: string;
  readonly tls: ClientTls;
  /** A token, or the file that always holds the one that is valid. */
  readonly token?: { readonly value: string } | { readonly file: string };
  /** Where objects are looked for when nobody names a namespace. */
  readonly namespace: string;
}

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
