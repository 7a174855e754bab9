import type { Client } from '../client.ts';
import type { ClusterAccess } from '../cluster-access.ts';
import { createClient } from '../http-client.ts';
import type { Clock } from '../ports/clock.ts';
import type { Random } from '../ports/random.ts';
import { staticToken, type TokenSource } from '../token-source.ts';
import { createHttpTransport, type HttpTransport } from './http-transport.ts';
import { tokenFile } from './token-file.ts';

export interface ClientConnection {
  readonly client: Client;
  readonly transport: HttpTransport;
  /** Ends all connections. Requests under way fail. */
  close(): void;
}

/** A client with connections of its own, as `access` says. Nothing is sent before the first call. */
export function connectClient(
  access: ClusterAccess,
  options: { readonly userAgent: string; readonly clock: Clock; readonly random: Random },
): ClientConnection {
  const transport = createHttpTransport({ server: access.server, tls: access.tls });
  const credentials = tokenOf(access, options.clock);
  const client = createClient({ ...options, transport, credentials });
  return { client, transport, close: () => transport.close() };
}

function tokenOf({ token }: ClusterAccess, clock: Clock): TokenSource | undefined {
  if (token === undefined) return undefined;
  return 'file' in token ? tokenFile(token.file, clock) : staticToken(token.value);
}
