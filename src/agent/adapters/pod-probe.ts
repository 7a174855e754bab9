/** Reports from inside a Pod whether the hub and the API server can be reached. */

import { createHttpTransport } from '@lockstep/kube/runtime/adapters/http-transport.ts';
import { inClusterAccess } from '@lockstep/kube/runtime/adapters/in-cluster.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { timedAnswer } from '@lockstep/kube/runtime/client/server-clock.ts';
import type { ClientTls } from '@lockstep/kube/runtime/credentials/cluster-access.ts';
import { withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import { HUB_MEMBERS_PATH } from '../../jobset/names.ts';
import type { HubConfiguration } from '../hub-configuration.ts';
import type { ProbeReport, Reached } from '../probe-report.ts';
import { failedTry } from '../reach/unreached.ts';

const LIMIT_MS = 10_000;
/** Shorter than a request's limit: its error says whether the name service or the server is silent. */
const CONNECT_LIMIT_MS = 5_000;

/** Shows no token: an answer that refuses is an answer. */
export async function probeFromPod(
  hub: Pick<HubConfiguration, 'url' | 'authorities'> | undefined,
  root: string,
  version: string,
): Promise<ProbeReport> {
  const [reachedHub, apiServer] = await Promise.all([
    hub === undefined
      ? undefined
      : reach(hub.url, { certificateAuthority: hub.authorities }, HUB_MEMBERS_PATH),
    reachApiServer(root),
  ]);
  return { version, apiServer, ...(reachedHub !== undefined && { hub: reachedHub }) };
}

async function reachApiServer(root: string): Promise<Reached> {
  try {
    const { server, tls } = await inClusterAccess(process.env, root === '' ? '/' : root);
    return await reach(server, tls, '/version');
  } catch (error) {
    return failed(error);
  }
}

async function reach(server: string, tls: ClientTls, path: string): Promise<Reached> {
  const connectTimeoutMs = CONNECT_LIMIT_MS;
  const transport = createHttpTransport({ server, tls, maxConnections: 1, connectTimeoutMs });
  try {
    const { status, offset } = await withDeadline(nodeClock, LIMIT_MS, undefined, (signal) =>
      timedAnswer(transport, nodeClock, { path, signal }),
    );
    return { status, ...offset };
  } catch (error) {
    return failed(error);
  } finally {
    transport.close();
  }
}

function failed(error: unknown): Reached {
  const { message, code } = failedTry(error);
  return code === undefined ? { error: message } : { error: message, code };
}
