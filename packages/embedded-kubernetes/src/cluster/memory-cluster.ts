/** The embedded cluster in memory, for tests of controllers. */

import type { KubeObject, Stored, StringMap } from '@lockstep/kube/meta.ts';
import { LEASES } from '@lockstep/kube/objects/lease.ts';
import { NODES, type Node } from '@lockstep/kube/objects/node.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { createClient } from '@lockstep/kube/runtime/client/http-client.ts';
import { unlessRefused } from '@lockstep/kube/runtime/client/unless-refused.ts';
import { handlerTransport } from '@lockstep/kube/runtime/memory/memory-transport.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { createMetrics } from '@lockstep/kube/runtime/metrics.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type {
  HttpRequest,
  HttpResponse,
  Transport,
} from '@lockstep/kube/runtime/ports/transport.ts';
import { microTimeText, timeText } from '@lockstep/kube/time.ts';
import { type ApiServer, type ApiServerOptions, createApiServer } from './apiserver/api-server.ts';
import { type Controllers, startControllers } from './controllers.ts';
import { MemoryStorage } from './memory/memory-storage.ts';
import { LEASE_NAMESPACE } from './node/node-registration.ts';
import { ScriptedCluster } from './scripted-cluster.ts';

const DEFAULT_SEED = 7;

export interface MemoryClusterOptions
  extends Pick<ApiServerOptions, 'webhookTransport' | 'tokenSigner'> {
  /** For UIDs, names and delays. */
  readonly seed?: number;
}

/** The API server under a virtual clock, its controllers, and a scripted node. */
export class MemoryCluster extends ScriptedCluster {
  readonly clock = new VirtualClock();
  readonly client: Client;
  /** The metrics of all controllers that were started. */
  readonly metrics = createMetrics();
  /** `METHOD path` of every request of the controllers, without watches. */
  readonly requests: string[] = [];
  /** Carries out a controller's request; a test can make it fail, or lose its answer. */
  intercept: (request: HttpRequest, send: () => Promise<HttpResponse>) => Promise<HttpResponse> = (
    _request,
    send,
  ) => send();
  /** UIDs of the claims whose volumes were removed. */
  readonly removedVolumes: string[] = [];
  /** Removes a volume; a test can make it throw. */
  removeVolume: () => Promise<void> = () => Promise.resolve();
  readonly random: SeededRandom;
  readonly #server: ApiServer;
  #controllers: Controllers | undefined;

  constructor({ seed = DEFAULT_SEED, ...options }: MemoryClusterOptions = {}) {
    super();
    this.random = new SeededRandom(seed);
    const { clock } = this;
    this.#server = createApiServer({
      ...options,
      storage: new MemoryStorage(),
      clock,
      random: this.random,
      logger: SILENT,
    });
    this.client = this.#connect(this.#transport());
  }

  /** Sends a request to the server, past `intercept`. */
  send(request: HttpRequest): Promise<HttpResponse> {
    return this.#transport().send(request);
  }

  async start(): Promise<void> {
    await this.#server.start();
    await this.startControllers();
  }

  async startControllers(): Promise<void> {
    const { clock } = this;
    const send = this.#transport();
    const transport: Transport = {
      send: (request) => {
        if (!request.path.includes('watch=true')) {
          this.requests.push(`${request.method} ${request.path.split('?', 1)[0]}`);
        }
        return this.intercept(request, () => send.send(request));
      },
    };
    const options = {
      client: this.#connect(transport),
      clock,
      random: this.random,
      logger: SILENT,
      rootCertificate: 'PEM',
      metrics: this.metrics,
      removeVolume: async (claim: Stored<KubeObject>) => {
        await this.removeVolume();
        this.removedVolumes.push(claim.metadata.uid);
      },
    };
    let controllers: Controllers | undefined;
    const started = startControllers(options).then((running) => {
      controllers = running;
    });
    await clock.runUntil(() => controllers !== undefined, LIMIT_MS);
    await started;
    this.#controllers = controllers;
  }

  async stopControllers(): Promise<void> {
    await this.#drive(this.#controllers?.stop());
    this.#controllers = undefined;
  }

  override async addNode(name = 'n1', status: Node['status'] = {}, labels: StringMap = {}) {
    await super.addNode(name, status, labels);
    // Renewed far ahead, because only a test decides when a node falls silent.
    const lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: LEASE_NAMESPACE, name },
      spec: { holderIdentity: name, renewTime: FAR_AHEAD },
    };
    await unlessRefused(this.client.create(LEASES, lease), 'AlreadyExists');
  }

  /** The node renews its Lease for the last time, and does nothing for its Pods any more. */
  async silence(name: string): Promise<void> {
    this.node?.silence(name);
    await this.#renew(name, microTimeText(this.clock.now()));
  }

  /** A silent node is back. */
  async recover(name: string): Promise<void> {
    await this.#renew(name, FAR_AHEAD);
    const lastTransitionTime = timeText(this.clock.now());
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime }];
    const patch = { status: { conditions } };
    const status = { subresource: 'status' } as const;
    await this.client.patch(NODES, { name }, { type: 'strategic', patch }, status);
    // Last: Pods of a node that is not ready are made unready again.
    this.node?.recover(name);
  }

  async #renew(name: string, renewTime: string): Promise<void> {
    const at = { namespace: LEASE_NAMESPACE, name };
    await this.client.patch(LEASES, at, { type: 'merge', patch: { spec: { renewTime } } });
  }

  /** Lets time pass until the condition holds. */
  until(condition: () => Promise<boolean>): Promise<void> {
    return this.clock.runUntil(condition, LIMIT_MS);
  }

  async stop(): Promise<void> {
    await this.#drive(this.node?.stop());
    await this.stopControllers();
    await this.#drive(this.#server.close());
  }

  async #drive(work: Promise<void> | undefined): Promise<void> {
    let hasEnded = false;
    const ended = work?.finally(() => {
      hasEnded = true;
    });
    if (ended !== undefined) await this.clock.runUntil(() => hasEnded, LIMIT_MS);
    await ended;
  }

  #transport(): Transport {
    const administrator = { commonName: 'admin', organizations: ['system:masters'] };
    const peer = { address: '127.0.0.1', certificate: administrator };
    return handlerTransport(this.#server.handler, peer);
  }

  #connect(transport: Transport): Client {
    return createClient({ transport, clock: this.clock, random: this.random, userAgent: 'test' });
  }
}

/** Limits each wait, in virtual time. */
const LIMIT_MS = 120_000;
const FAR_AHEAD = '2999-01-01T00:00:00.000000Z';
