import { agentPolicy } from '../deploy/agent-policy.ts';
import { isReason } from '../kube/status.ts';
import type { Client } from '../runtime/client/client.ts';

/**
 * Holds the agents of a cluster that was joined to their own Pods, as an installation does, for as
 * long as it is joined. Returns how to end that; a policy that was there before stays.
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
