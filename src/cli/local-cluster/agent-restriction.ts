/** Restricts the agents of a joined cluster. */

import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { agentPolicy } from '../../deploy/agent-policy.ts';

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
