/** Installs Lockstep on the real node as its guide says, once for all suites. */
import { NAMESPACES } from '@lockstep/kube/objects/core.ts';
import { unlessThere } from '../integration/api-server.fixture.ts';
import { connectAdministrator, lockstep, NAMESPACE } from './node.ts';

/** @public The test runner calls it. */
export async function setup(): Promise<void> {
  const { client, close } = await connectAdministrator();
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  const metadata = { name: NAMESPACE, labels };
  const namespace = { apiVersion: 'v1', kind: NAMESPACES.kind, metadata };
  await unlessThere(client.create(NAMESPACES, namespace));
  close();
  await lockstep('install');
}
