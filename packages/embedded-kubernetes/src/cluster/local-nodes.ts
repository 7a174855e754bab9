/**
 * This machine as nodes of a cluster, embedded or real. Each node serves its kubelet's port at its
 * own address and runs Pods as processes. The nodes share one directory of hosts files and one of
 * claims' volumes.
 */

import type { StringMap } from '@lockstep/kube/meta.ts';
import { type HttpServer, startHttpServer } from '@lockstep/kube/runtime/adapters/http-server.ts';
import type { KeyPair } from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import type { ProcessRunner } from '@lockstep/kube/runtime/ports/process-runner.ts';
import type { RuntimePorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import type { HttpHandler } from '@lockstep/kube/runtime/ports/transport.ts';
import { failure } from '@lockstep/kube/status.ts';
import { machineName, thisMachine } from './node/adapters/machine.ts';
import { claimNetwork } from './node/adapters/network-claim.ts';
import { offeredNamespaces } from './node/adapters/offered-namespaces.ts';
import { createProbeTransport } from './node/adapters/probe-transport.ts';
import { MACHINE_STREAMING } from './node/adapters/streaming.ts';
import type { BackoffSettings } from './node/backoff.ts';
import { HostsFiles } from './node/network/hosts.ts';
import { NeighbourPods } from './node/network/neighbour-pods.ts';
import { rootTemplatesIn, startNodeAgent } from './node/node-agent.ts';
import { PortClaims } from './node/pod-addresses.ts';
import type { NodeFiles } from './node/ports/node-files.ts';
import { POD_NAMESPACES_LABEL, type PodNamespacesMode } from './node/ports/pod-namespaces.ts';
import type { ProcessKeeper } from './ports/process-keeper.ts';

export interface NodeDescription {
  readonly name: string;
  /** Added to the labels that every node has. */
  readonly labels: StringMap;
  /** How crash loops are slowed down; by default as a kubelet does. */
  readonly backoff?: BackoffSettings | undefined;
  /** Whether the node's containers have namespaces of their own. */
  readonly podNamespaces?: PodNamespacesMode | undefined;
}

export interface LocalNodesOptions extends RuntimePorts {
  /** At least one. */
  readonly nodes: readonly NodeDescription[];
  readonly processes: ProcessRunner;
  /** Set if processes outlive this one. */
  readonly keeper?: ProcessKeeper | undefined;
  readonly files: NodeFiles;
  /** Absolute; Pods, logs and volumes live below it. */
  readonly stateDirectory: string;
  /** The PATH of containers. */
  readonly path: string;
  /** Where Pods reach the API server. */
  readonly apiServer: { readonly host: string; readonly port: number };
  /** A client with its own connection, as the user of this name. */
  readonly connect: (user: string) => Client;
  /** A certificate for the kubelet's port of a node at an address. */
  readonly servingCertificate: (node: string, address: string) => KeyPair | Promise<KeyPair>;
  /**
   * PEM of the authority that signs the API server's client certificates; without it there are no
   * logs.
   */
  readonly clientAuthority: string | undefined;
  /** Where the hosts files are, if other processes run nodes of this machine too. */
  readonly hostsDirectory?: string | undefined;
  /** The only node's address in an earlier run, taken again if it is free. */
  readonly hostIP?: string | undefined;
  /** How often a node renews its Lease; ten seconds by default. */
  readonly leaseRenewalMs?: number | undefined;
  /** Called once a node is registered, with its address. */
  readonly onNetwork?: (hostIP: string) => void;
}

export interface LocalNodes {
  /** Ends the processes of all Pods. What the API holds about the nodes stays. */
  stop(): Promise<void>;
}

/** Where the volumes of claims are, for all nodes. */
export function volumesDirectoryIn(stateDirectory: string): string {
  return `${stateDirectory}/volumes`;
}

/**
 * Resolves once all Nodes are registered. They start and stop side by side, because most of it is
 * waiting.
 */
export async function startLocalNodes(options: LocalNodesOptions): Promise<LocalNodes> {
  const { clock, random, logger, files, stateDirectory } = options;
  const hosts = new HostsFiles({
    client: options.connect('system:lockstep:hosts'),
    clock,
    random,
    logger: logger.with({ component: 'hosts' }),
    files,
    directory: options.hostsDirectory ?? `${stateDirectory}/hosts`,
    machineName: machineName(),
  });
  const neighbours = neighboursOf(options, hosts);
  const portClaims = new PortClaims();
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(stops.splice(0).map((each) => each()));
    await neighbours?.stop();
    await hosts.stop();
  };
  const started = await Promise.allSettled(
    options.nodes.map(async (node) => {
      stops.push(await startNode(options, node, hosts, portClaims));
    }),
  );
  for (const result of started) {
    if (result.status === 'fulfilled') continue;
    await stop();
    throw result.reason;
  }
  return { stop };
}

/** If each node is a process of its own, the others' Pods are known only from the API. */
function neighboursOf(options: LocalNodesOptions, hosts: HostsFiles): NeighbourPods | undefined {
  const [node] = options.nodes;
  if (options.hostsDirectory === undefined || node === undefined) return undefined;
  const client = options.connect('system:lockstep:neighbours');
  return new NeighbourPods({ ...options, client, node: node.name, hosts });
}

/** Returns a function that stops it. */
async function startNode(
  options: LocalNodesOptions,
  { name, labels, backoff, podNamespaces }: NodeDescription,
  hosts: HostsFiles,
  portClaims: PortClaims,
): Promise<() => Promise<void>> {
  const { random, logger, stateDirectory, clientAuthority } = options;
  let serveNode: HttpHandler | undefined;
  const listen = async (host: string, port: number): Promise<HttpServer> =>
    startHttpServer({
      handler: forApiServer((request) =>
        serveNode === undefined ? Promise.resolve(NOT_READY) : serveNode(request),
      ),
      host,
      port,
      tls: { ...(await options.servingCertificate(name, host)), clientAuthority },
      logger,
    });
  const rootDirectory = `${stateDirectory}/nodes/${name}`;
  const directory = `${rootDirectory}/namespace-trial`;
  const namespaces = await offeredNamespaces(podNamespaces, {
    ...options,
    directory,
    templatesDirectory: rootTemplatesIn(rootDirectory),
  });
  if (namespaces.type === 'unavailable') {
    logger.info('containers have no namespaces', { node: name, reason: namespaces.reason });
  }
  const isOffered = String(namespaces.type === 'available');
  const { network, listener } = await claimNetwork(random, listen, portClaims, options.hostIP);
  try {
    const node = await startNodeAgent({
      ...options,
      name,
      labels: { ...labels, [POD_NAMESPACES_LABEL]: isOffered },
      backoff,
      namespaces,
      client: options.connect(`system:node:${name}`),
      logger: logger.with({ component: 'node' }),
      probes: createProbeTransport(),
      streaming: MACHINE_STREAMING,
      machine: thisMachine(),
      network,
      kubeletPort: listener.port,
      rootDirectory,
      volumesDirectory: volumesDirectoryIn(stateDirectory),
      hosts,
    });
    serveNode = node.handler;
    options.onNetwork?.(network.hostIP);
    return async () => {
      await node.stop();
      await listener.close();
    };
  } catch (error) {
    await listener.close();
    throw error;
  }
}

const NOT_READY = refusal('ServiceUnavailable', 'the node is starting');

/** Shows logs only to holders of a client certificate, because Pods can reach this port too. */
function forApiServer(handler: HttpHandler): HttpHandler {
  return (request) =>
    request.peer?.certificate === undefined
      ? Promise.resolve(refusal('Unauthorized', 'Unauthorized'))
      : handler(request);
}

function refusal(reason: 'ServiceUnavailable' | 'Unauthorized', message: string) {
  const { status } = failure(reason, message);
  return {
    status: status.code,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(status)),
  };
}
