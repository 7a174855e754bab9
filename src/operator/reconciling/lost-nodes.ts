import { isReady, NODES } from '../../kube/objects/node.ts';
import { isReason } from '../../kube/status.ts';
import type { Client } from '../../runtime/client/client.ts';

/**
 * Whether the Node object says that it is not ready, or is gone. False where that cannot be read: it only
 * explains a failure, and no restart waits for an explanation.
 */
export async function isNodeLost(
  name: string | undefined,
  client: Client,
  signal: AbortSignal,
): Promise<boolean> {
  if (name === undefined) return false;
  try {
    return !isReady(await client.get(NODES, { name }, { signal }));
  } catch (error) {
    signal.throwIfAborted();
    return isReason(error, 'NotFound');
  }
}
