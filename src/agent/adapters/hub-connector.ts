/** Connects an agent to the hub, and trusts there whom it is told to trust at that moment. */
import { join } from 'node:path';
import {
  HUB_AUTHORITIES_KEY,
  HUB_PATH,
  HUB_PROTOCOL,
  HUB_TOKEN_DIRECTORY,
} from '../../jobset/names.ts';
import { createStreamConnector } from '../../runtime/adapters/stream-connector.ts';
import { tokenFile } from '../../runtime/adapters/token-file.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { Logger } from '../../runtime/ports/logger.ts';
import type { StreamConnector } from '../../runtime/ports/stream.ts';
import type { TlsSessionStore } from '../../runtime/ports/tls-session.ts';
import type { HubConfiguration } from '../configuration.ts';
import { hubAuthorities } from './hub-authorities.ts';

export interface HubConnectorOptions {
  readonly hub: HubConfiguration;
  /** What stands for `/`. */
  readonly root: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Sessions with a hub of these authorities; undefined: they are kept in memory. */
  readonly sessions: (authorities: string | undefined) => TlsSessionStore | undefined;
}

export function createHubConnector(options: HubConnectorOptions): StreamConnector {
  const { hub, root, clock, logger, sessions } = options;
  const credentials = tokenFile(join(root, HUB_TOKEN_DIRECTORY, 'token'), clock);
  const file = join(root, HUB_TOKEN_DIRECTORY, HUB_AUTHORITIES_KEY);
  // A hub of a public authority is told of without any, and no file takes the place of those.
  const { authorities: told } = hub;
  const authoritiesNow = told === undefined ? undefined : hubAuthorities(told, file, logger);
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
  return {
    connect: async (listener, signal) => {
      const authorities = await authoritiesNow?.();
      if (last?.authorities !== authorities || last === undefined) {
        if (last !== undefined) logger.info('the authorities of the hub have changed');
        last = { authorities, connector: connectorFor(authorities) };
      }
      return last.connector.connect(listener, signal);
    },
  };
}
