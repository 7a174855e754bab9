/**
 * Lets this machine join a running Kubernetes as nodes, for as long as this process lives. The
 * cluster's API server, controllers and scheduler do everything except run the Pods. The Nodes are
 * registered with the credentials of a kubeconfig and deleted at the end.
 */

import { LEASES, type Lease } from '@lockstep/kube/objects/lease.ts';
import { NODES, type Node } from '@lockstep/kube/objects/node.ts';
import {
  type ClientConnection,
  connectClient,
} from '@lockstep/kube/runtime/adapters/http-client-connection.ts';
import {
  createCertificateAuthority,
  issueCertificate,
} from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import type { Client, ObjectKey } from '@lockstep/kube/runtime/client/client.ts';
import { unlessGone } from '@lockstep/kube/runtime/client/unless-refused.ts';
import type { ClusterAccess } from '@lockstep/kube/runtime/credentials/cluster-access.ts';
import { withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { type LocalNodes, type LocalNodesOptions, startLocalNodes } from './local-nodes.ts';
import { createNodeFiles } from './node/adapters/node-files.ts';
import { isLocalNode, LEASE_NAMESPACE } from './node/node-registration.ts';

export interface JoinedNodesOptions
  extends Omit<
    LocalNodesOptions,
    'files' | 'apiServer' | 'connect' | 'servingCertificate' | 'clientAuthority'
  > {
  readonly access: ClusterAccess;
}

/** Another process, which may be alive, owns a Node of this name. */
export class NodeNameTaken extends Error {
  override readonly name = 'NodeNameTaken';
}

const CERTIFICATE_DAYS = 365;
const HTTPS_PORT = 443;
/**
 * Limits the deletion of a Node: an API server that hangs must not keep the command from ending.
 */
const REMOVAL_TIMEOUT_MS = 2_000;

/** Resolves once all Nodes are registered. Throws `NodeNameTaken` before it changes anything. */
export async function joinNodes(options: JoinedNodesOptions): Promise<LocalNodes> {
  const { access, clock, random, logger, nodes } = options;
  const connections: ClientConnection[] = [];
  const connect = (userAgent: string): Client => {
    const connection = connectClient(access, { clock, random, userAgent });
    connections.push(connection);
    return connection.client;
  };
  const client = connect('lockstep-up');
  const names = nodes.map(({ name }) => name);
  const remove = async (): Promise<void> => {
    await Promise.all(
      names.map((name) =>
        removeNode(client, clock, name).catch((error: unknown) => {
          logger.warn('a node could not be deleted', { node: name, err: error });
        }),
      ),
    );
  };
  const close = async (): Promise<void> => {
    await remove();
    for (const connection of connections) connection.close();
  };
  try {
    for (const name of names) await expectFree(client, clock, name);
  } catch (error) {
    for (const connection of connections) connection.close();
    throw error;
  }
  try {
    // Removes what an earlier process left behind when it was killed.
    await remove();
    const started = await startLocalNodes({
      ...options,
      files: createNodeFiles(),
      apiServer: addressOf(access.server),
      connect,
      servingCertificate: servingCertificates(clock),
      clientAuthority: access.tls.certificateAuthority,
    });
    return {
      stop: async () => {
        await started.stop();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Issued by an authority of this process, because the cluster's own key is not available. */
function servingCertificates(clock: Clock): LocalNodesOptions['servingCertificate'] {
  const authority = createCertificateAuthority({ commonName: 'lockstep-nodes', clock });
  return (node, address) =>
    issueCertificate(authority, {
      commonName: `system:node:${node}`,
      ipAddresses: [address],
      usages: ['server'],
      days: CERTIFICATE_DAYS,
    });
}

function addressOf(server: string): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(server);
  const host = hostname.replace(/^\[|\]$/g, '');
  return { host, port: port === '' ? HTTPS_PORT : Number(port) };
}

async function expectFree(client: Client, clock: Clock, name: string): Promise<void> {
  const node = await unlessGone<Node>(client.get(NODES, { name }));
  if (node === undefined) return;
  if (!isLocalNode(node)) {
    throw new NodeNameTaken(`the cluster has a Node ${name} already, which is not of Lockstep`);
  }
  const lease = await unlessGone<Lease>(client.get(LEASES, leaseOf(name)));
  const { renewTime = '', leaseDurationSeconds = 0 } = lease?.spec ?? {};
  const freeInMs = Date.parse(renewTime) + leaseDurationSeconds * 1000 - clock.now();
  if (freeInMs > 0) {
    throw new NodeNameTaken(
      `another "lockstep up" or "lockstep demo" runs Node ${name} of this cluster;` +
        ` if it was killed, the name is free in ${Math.ceil(freeInMs / 1000)} s`,
    );
  }
}

async function removeNode(client: Client, clock: Clock, name: string): Promise<void> {
  await withDeadline(clock, REMOVAL_TIMEOUT_MS, undefined, async (signal) => {
    await unlessGone(client.delete(NODES, { name }, { signal }));
    await unlessGone(client.delete(LEASES, leaseOf(name), { signal }));
  });
}

function leaseOf(node: string): ObjectKey {
  return { namespace: LEASE_NAMESPACE, name: node };
}
