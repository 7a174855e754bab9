/** Makes a client with connections of its own to an API server. */
import type { Client } from '../client/client.ts';
import { createClient } from '../client/http-client.ts';
import type { AccessCredentials, ClusterAccess } from '../credentials/cluster-access.ts';
import { type CredentialSource, staticToken } from '../credentials/credential-source.ts';
import type { Clock } from '../ports/clock.ts';
import type { Random } from '../ports/random.ts';
import type { Transport } from '../ports/transport.ts';
import { createHttpTransport, type HttpTransport } from './http-transport.ts';
import { tokenFile } from './token-file.ts';

export interface ClientConnection {
  readonly client: Client;
  readonly transport: HttpTransport;
  /** For requests that do not go through the client. */
  readonly credentials: CredentialSource | undefined;
  /** Ends all connections. Requests under way fail. */
  close(): void;
}

export interface ConnectionOptions {
  readonly userAgent: string;
  readonly clock: Clock;
  readonly random: Random;
  /** For short requests. */
  readonly maxConnections?: number | undefined;
  /** For one try. */
  readonly requestTimeoutMs?: number | undefined;
  /** Wraps the transport, for example in counters and limits. */
  readonly through?: (transport: Transport) => Transport;
}

/**
 * A client with connections of its own, as `access` describes. Sends nothing before the first call.
 */
export function connectClient(
  { server, tls, credentials: given }: ClusterAccess,
  { maxConnections, through = (transport) => transport, ...options }: ConnectionOptions,
): ClientConnection {
  const transport = createHttpTransport({ server, tls, maxConnections });
  const credentials = sourceOf(given, options.clock);
  const client = createClient({ ...options, transport: through(transport), credentials });
  return { client, transport, credentials, close: () => transport.close() };
}

function sourceOf(
  credentials: AccessCredentials | undefined,
  clock: Clock,
): CredentialSource | undefined {
  if (credentials === undefined) return undefined;
  if ('source' in credentials) return credentials.source;
  return 'tokenFile' in credentials
    ? tokenFile(credentials.tokenFile, clock)
    : staticToken(credentials.token);
}
