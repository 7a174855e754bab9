/** Serves the page of the group's members on loopback of the agent's Pod. */

import { startHttpServer } from '@lockstep/kube/runtime/adapters/http-server.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type { HttpHandler } from '@lockstep/kube/runtime/ports/transport.ts';
import { MEMBER_PAGE_PORT } from '../../jobset/names.ts';

/** How many readers may be connected at a time. */
const MAX_MEMBER_PAGE_CONNECTIONS = 8;

/** Listens on loopback only. If the port is taken, there is no page, and the agent works without. */
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
