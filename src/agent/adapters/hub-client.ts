/**
 * Connects the agent to the hub. Each connection trusts the authorities that are valid at that
 * moment.
 */
import { join } from 'node:path';
import { createHttpTransport } from '@lockstep/kube/runtime/adapters/http-transport.ts';
import { createStreamConnector } from '@lockstep/kube/runtime/adapters/stream-connector.ts';
import { tokenFile } from '@lockstep/kube/runtime/adapters/token-file.ts';
import { wholeBody } from '@lockstep/kube/runtime/client/response-body.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type { StreamConnector } from '@lockstep/kube/runtime/ports/stream.ts';
import type { TlsSessionStore } from '@lockstep/kube/runtime/ports/tls-session.ts';
import {
  HUB_AUTHORITIES_KEY,
  type HUB_GROUPS_PATH,
  type HUB_MEMBERS_PATH,
  HUB_PATH,
  HUB_PROTOCOL,
  HUB_TOKEN_DIRECTORY,
} from '../../jobset/names.ts';
import type { HubConfiguration } from '../hub-configuration.ts';
import { hubAuthorities } from './hub-authorities.ts';

export interface HubClientOptions {
  readonly hub: HubConfiguration;
  /** The directory that stands for `/`. */
  readonly root: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** TLS sessions with a hub of these authorities; undefined: they are kept in memory. */
  readonly sessions: (authorities: string | undefined) => TlsSessionStore | undefined;
}

export interface HubClient {
  readonly connector: StreamConnector;
  /** A page of the hub. Rejects if the hub cannot be reached. */
  readonly readPage: (
    path: typeof HUB_MEMBERS_PATH | typeof HUB_GROUPS_PATH,
    signal: AbortSignal,
  ) => Promise<{ readonly status: number; readonly body: Uint8Array }>;
}

/** A page of 30,000 members fits. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024;

export function createHubClient(options: HubClientOptions): HubClient {
  const { hub, root, clock, logger, sessions } = options;
  const credentials = tokenFile(join(root, HUB_TOKEN_DIRECTORY, 'token'), clock);
  const file = join(root, HUB_TOKEN_DIRECTORY, HUB_AUTHORITIES_KEY);
  // Without authorities the hub has a publicly trusted certificate, so the file is not read.
  const { authorities: told } = hub;
  const authoritiesNow = told === undefined ? undefined : hubAuthorities(told, file, logger);
  const readPage: HubClient['readPage'] = async (path, signal) => {
    const tls = { certificateAuthority: await authoritiesNow?.() };
    const { token } = await credentials.current(signal);
    const transport = createHttpTransport({ server: hub.url, tls, maxConnections: 1 });
    try {
      const headers = { authorization: `Bearer ${token}` };
      const request = { method: 'GET', path, headers, signal } as const;
      const { status, body } = await transport.send(request);
      return { status, body: await wholeBody(body, MAX_PAGE_BYTES) };
    } finally {
      transport.close();
    }
  };
  const connectorFor = (certificateAuthority: string | undefined): StreamConnector =>
    createStreamConnector({
      sessions: sessions(certificateAuthority),
      server: hub.url,
      path: HUB_PATH,
      protocol: HUB_PROTOCOL,
      certificateAuthority,
      credentials,
    });
  let last:
    | { readonly authorities: string | undefined; readonly connector: StreamConnector }
    | undefined;
  const connector: StreamConnector = {
    connect: async (listener, signal) => {
      const authorities = await authoritiesNow?.();
      if (last?.authorities !== authorities || last === undefined) {
        if (last !== undefined) logger.info('the authorities of the hub have changed');
        last = { authorities, connector: connectorFor(authorities) };
      }
      return last.connector.connect(listener, signal);
    },
  };
  return { connector, readPage };
}
