/** Restricts the agents of a joined cluster. */
import { agentPolicy } from '../../deploy/agent-policy.ts';
import { isReason } from '../../kube/status.ts';
import type { Client } from '../../runtime/client/client.ts';

/**
 * Lets agents touch only their own Pods, as an installation does, for as long as the cluster is
 * joined. Returns a function that ends this; an existing policy stays.
 */
export async function restrictAgents(client: Client): Promise<() => Promise<void>> {
  const ends: (() => Promise<void>)[] = [];
  for (const { of, object } of agentPolicy()) {
    const name = object.metadata.name ?? '';
    try {
      await client.create(of, object);
      ends.push(() => client.delete(of, { name }));
    } catch (error) {
      if (!isReason(error, 'AlreadyExists')) throw error;
    }
  }
  return async () => {
    for (const end of ends.reverse()) {
      await end().catch((error: unknown) => {
        if (!isReason(error, 'NotFound')) throw error;
      });
    }
  };
}
