/** Restricts the agents of a joined cluster. */

import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { unlessGone, unlessRefused } from '@lockstep/kube/runtime/client/unless-refused.ts';
import { agentPolicy } from '../../deploy/agent-policy.ts';

/**
 * Lets agents touch only their own Pods, as an installation does, for as long as the cluster is
 * joined. Returns a function that ends this; an existing policy stays.
 */
export async function restrictAgents(client: Client): Promise<() => Promise<void>> {
  const ends: (() => Promise<void>)[] = [];
  for (const { of, object } of agentPolicy()) {
    const name = object.metadata.name ?? '';
    const made = await unlessRefused(client.create(of, object), 'AlreadyExists');
    if (made !== undefined) ends.push(() => client.delete(of, { name }));
  }
  return async () => {
    for (const end of ends.reverse()) await unlessGone(end());
  };
}
