import type { MemoryCluster } from '@lockstep/embedded-kubernetes/in-memory';
import { NAMESPACES } from '@lockstep/kube/objects/core.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '@lockstep/kube/objects/custom-resource-definition.ts';
import { JOBSET_CRD } from '../jobset/schema/crd.ts';

/** Each watch of the controllers has told of the nodes. */
const NODES_SEEN_MS = 1000;

/** Makes a cluster as JobSets find it: its nodes are ready, and the definition of JobSets is there. */
export async function startCluster(
  cluster: MemoryCluster,
  nodes: number,
  namespaces: readonly string[],
): Promise<void> {
  const { client, clock } = cluster;
  await cluster.start();
  for (let node = 0; node < nodes; node++) await cluster.addNode(`node-${node}`);
  // A controller that is cut off from the Leases takes nodes for lost, and no kubelet here says that they are not.
  await clock.advance(NODES_SEEN_MS);
  for (const name of namespaces) {
    await client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  await client.create(CUSTOM_RESOURCE_DEFINITIONS, JOBSET_CRD);
}
