/**
 * The embedded single-machine Kubernetes: an API server over TLS on loopback, the controllers of
 * Kubernetes with its scheduler, and nodes. Each part has its own credentials and uses the others
 * only through the API, so each can be replaced by the real one.
 */

import { type HttpServer, startHttpServer } from '@lockstep/kube/runtime/adapters/http-server.ts';
import {
  createHttpTransport,
  type HttpTransport,
} from '@lockstep/kube/runtime/adapters/http-transport.ts';
import {
  type CertificateAuthority,
  createCertificateAuthority,
  issueCertificate,
  type KeyPair,
} from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { createClient } from '@lockstep/kube/runtime/client/http-client.ts';
import { createMetrics } from '@lockstep/kube/runtime/metrics.ts';
import type { ProcessRunner } from '@lockstep/kube/runtime/ports/process-runner.ts';
import type { RuntimePorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import { createTokenSigner } from './apiserver/adapters/token-signer.ts';
import { createWebhookTransports } from './apiserver/adapters/webhook-transports.ts';
import { type ApiServer, createApiServer } from './apiserver/api-server.ts';
import type { MoreMetrics } from './apiserver/discovery/metrics-page.ts';
import { startControllers } from './controllers.ts';
import { type NodeDescription, startLocalNodes, volumesDirectoryIn } from './local-nodes.ts';
import { MemoryStorage } from './memory/memory-storage.ts';
import { createNodeFiles } from './node/adapters/node-files.ts';
import { claimDirectory } from './node/volume/claim-volume.ts';
import type { NodeChild } from './node-process/node-process.ts';
import { NodeProcesses } from './node-process/node-processes.ts';

export interface EmbeddedClusterOptions extends RuntimePorts {
  readonly processes: ProcessRunner;
  /** Absolute; Pods, logs and volumes live below it. */
  readonly stateDirectory: string;
  /** The PATH of containers. */
  readonly path: string;
  /** At least one. */
  readonly nodes: readonly NodeDescription[];
  /** If set, each node is a process of its own; otherwise all nodes are in this one. */
  readonly spawnNode?: (() => NodeChild) | undefined;
  /** How long a node may be silent until it counts as lost; 40 s by default. */
  readonly nodeMonitorGraceMs?: number | undefined;
  /** Metrics of a program beside this cluster, for the API server's page. */
  readonly moreMetrics?: MoreMetrics | undefined;
}

export interface EmbeddedCluster {
  /** `https://127.0.0.1:PORT` */
  readonly server: string;
  /** PEM of the authority that signed the server's certificate. */
  readonly authority: string;
  /** A key pair with a client certificate for these names. */
  issue(user: string, group: string): KeyPair;
  /** A client with its own connection, for that user. */
  connect(user: string, group: string): Client;
  /** Set if each node is a process of its own. */
  readonly nodes: NodeProcesses | undefined;
  /** Ends the processes of all Pods, then everything else. */
  stop(): Promise<void>;
}

export const ADMINISTRATORS = 'system:masters';

const LOOPBACK = '127.0.0.1';
const CERTIFICATE_DAYS = 365;

export async function startEmbeddedCluster(
  options: EmbeddedClusterOptions,
): Promise<EmbeddedCluster> {
  const cluster = new RunningCluster(options);
  try {
    await cluster.start();
    return cluster;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

class RunningCluster implements EmbeddedCluster {
  server = '';
  nodes: NodeProcesses | undefined;
  readonly authority: string;
  readonly #options: EmbeddedClusterOptions;
  readonly #ca: CertificateAuthority;
  readonly #files = createNodeFiles();
  readonly #metrics = createMetrics();
  readonly #transports: HttpTransport[] = [];
  /** Stops the parts that were started, the last one first. */
  readonly #stops: (() => Promise<void>)[] = [];

  constructor(options: EmbeddedClusterOptions) {
    this.#options = options;
    this.#ca = createCertificateAuthority({ commonName: 'lockstep', clock: options.clock });
    this.authority = this.#ca.certificate;
  }

  async start(): Promise<void> {
    const http = await this.#startApiServer();
    this.server = http.url;
    const { clock, random, logger } = this.#options;
    const controllers = await startControllers({
      client: this.connect('system:kube-controller-manager', ADMINISTRATORS),
      clock,
      random,
      logger: logger.with({ component: 'controllers' }),
      metrics: this.#metrics,
      rootCertificate: this.authority,
      nodeMonitorGraceMs: this.#options.nodeMonitorGraceMs,
      removeVolume: (claim) =>
        this.#files.remove(claimDirectory(volumesDirectoryIn(this.#options.stateDirectory), claim)),
    });
    this.#stops.push(() => controllers.stop());
    await this.#startNodes(http);
  }

  issue(user: string, group: string): KeyPair {
    return issueCertificate(this.#ca, {
      commonName: user,
      organizations: [group],
      usages: ['client'],
      days: CERTIFICATE_DAYS,
    });
  }

  connect(user: string, group: string): Client {
    return createClient({
      transport: this.#transportTo(this.server, this.issue(user, group)),
      clock: this.#options.clock,
      random: this.#options.random,
      userAgent: user,
    });
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops.splice(0).reverse()) await stop();
    for (const transport of this.#transports.splice(0)) transport.close();
  }

  async #startApiServer(): Promise<HttpServer> {
    const { clock, random, logger } = this.#options;
    const kubeletClient = this.issue('kube-apiserver-kubelet-client', ADMINISTRATORS);
    const kubelets = new Map<string, HttpTransport>();
    const webhooks = createWebhookTransports();
    this.#stops.push(async () => webhooks.close());
    const api: ApiServer = createApiServer({
      storage: new MemoryStorage(),
      clock,
      random,
      logger: logger.with({ component: 'apiserver' }),
      metrics: this.#metrics,
      moreMetrics: this.#options.moreMetrics,
      tokenSigner: createTokenSigner(),
      webhookTransport: webhooks.to,
      kubelet: (node) => {
        const address = node.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;
        const port = node.status?.daemonEndpoints?.kubeletEndpoint?.Port;
        const url = `https://${address ?? LOOPBACK}:${port ?? 0}`;
        const transport = kubelets.get(url) ?? this.#transportTo(url, kubeletClient);
        kubelets.set(url, transport);
        return transport;
      },
    });
    await api.start();
    this.#stops.push(() => api.close());
    const pair = issueCertificate(this.#ca, {
      commonName: 'kube-apiserver',
      dnsNames: ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'],
      ipAddresses: [LOOPBACK],
      usages: ['server'],
      days: CERTIFICATE_DAYS,
    });
    const http = await startHttpServer({
      handler: api.handler,
      host: LOOPBACK,
      port: 0,
      tls: { ...pair, clientAuthority: this.authority },
      logger,
    });
    this.#stops.push(() => http.close());
    return http;
  }

  async #startNodes(api: HttpServer): Promise<void> {
    const { spawnNode } = this.#options;
    const servingCertificate = (node: string, address: string): KeyPair =>
      issueCertificate(this.#ca, {
        commonName: `system:node:${node}`,
        ipAddresses: [address],
        usages: ['server'],
        days: CERTIFICATE_DAYS,
      });
    if (spawnNode !== undefined) {
      const nodes = new NodeProcesses({
        ...this.#options,
        server: this.server,
        authority: this.authority,
        spawn: spawnNode,
        issueClient: (node) => this.issue(`system:node:${node}`, 'system:nodes'),
        issueServer: servingCertificate,
      });
      this.#stops.push(() => nodes.stop());
      await nodes.start();
      this.nodes = nodes;
      return;
    }
    const nodes = await startLocalNodes({
      ...this.#options,
      files: this.#files,
      apiServer: { host: api.host, port: api.port },
      connect: (user) => this.connect(user, 'system:nodes'),
      servingCertificate,
      clientAuthority: this.authority,
    });
    this.#stops.push(() => nodes.stop());
  }

  #transportTo(server: string, pair: KeyPair): HttpTransport {
    const transport = createHttpTransport({
      server,
      tls: {
        certificateAuthority: this.authority,
        clientCertificate: pair.certificate,
        clientKey: pair.key,
      },
    });
    this.#transports.push(transport);
    return transport;
  }
}
