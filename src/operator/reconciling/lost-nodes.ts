import { isReady, NODES } from '../../kube/node.ts';
import { isReason } from '../../kube/status.ts';
import type { Client } from '../../runtime/client.ts';

/** Whether the Node object says that it is not ready, or is gone. False where it may not be read. */
export async function isNodeLost(
  name: string | undefined,
  client: Client,
  signal: AbortSignal,
): Promise<boolean> {
  if (name === undefined) return false;
  try {
    return !isReady(await client.get(NODES, { name }, { signal }));
  } catch (error) {
    if (isReason(error, 'NotFound')) return true;
    if (isReason(error, 'Forbidden')) return false;
    throw error;
  }
}
