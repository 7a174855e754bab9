import { MEMBER_PAGE_PORT } from '../../jobset/names.ts';
import { startHttpServer } from '../../runtime/adapters/http-server.ts';
import type { Logger } from '../../runtime/ports/logger.ts';
import type { HttpHandler } from '../../runtime/ports/transport.ts';

/** Connections of those who look, at a time. */
const MAX_MEMBER_PAGE_CONNECTIONS = 8;

/** On loopback alone; nothing depends on it, so where the port is taken there is no page. */
export async function showMembers(
  handler: HttpHandler,
  podIP: string | undefined,
  logger: Logger,
): Promise<void> {
  const host = podIP?.startsWith('127.') ? podIP : '127.0.0.1';
  const port = MEMBER_PAGE_PORT;
  const maxConnections = MAX_MEMBER_PAGE_CONNECTIONS;
  try {
    await startHttpServer({ handler, host, port, maxConnections, bodies: { maxBytes: 0 } });
  } catch (error) {
    logger.debug('the members of the group are not shown', { host, port, err: String(error) });
  }
}
