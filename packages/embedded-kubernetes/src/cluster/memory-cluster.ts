/** The embedded cluster in memory, for tests of controllers. */

import type { KubeObject, Stored, StringMap } from '@lockstep/kube/meta.ts';
import { JOBS, type Job, type JobSpec } from '@lockstep/kube/objects/job.ts';
import { LEASES } from '@lockstep/kube/objects/lease.ts';
import { NODES, type Node } from '@lockstep/kube/objects/node.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { RESTART_ALL_FEATURE } from '@lockstep/kube/objects/restart-rule.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { createClient } from '@lockstep/kube/runtime/client/http-client.ts';
import { unlessGone } from '@lockstep/kube/runtime/client/unless-refused.ts';
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
import { isReason } from '@lockstep/kube/status.ts';
import { microTimeText, timeText } from '@lockstep/kube/time.ts';
import { type ApiServer, createApiServer } from './apiserver/api-server.ts';
import { type Controllers, startControllers } from './controllers.ts';
import { MemoryStorage } from './memory/memory-storage.ts';
import { LEASE_NAMESPACE } from './node/node-registration.ts';
import { ScriptedNode } from './scripted-node.ts';

/** The API server under a virtual clock, its controllers, and a scripted node. */
export class MemoryCluster {
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
  /** Whether startup probes of sidecars fail: their Pods start then, and never get further. */
  probesFail = false;
  /** Removes a volume; a test can make it throw. */
  removeVolume: () => Promise<void> = () => Promise.resolve();
  readonly #random = new SeededRandom(7);
  readonly #server: ApiServer;
  #controllers: Controllers | undefined;
  #node: ScriptedNode | undefined;

  constructor() {
    const { clock } = this;
    this.#server = createApiServer({
      storage: new MemoryStorage(),
      clock,
      random: this.#random,
      logger: SILENT,
    });
    this.client = this.#connect(this.#transport());
  }

  /** Sends a request of the controllers to the server, past `intercept`. */
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
      random: this.#random,
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

  async addNode(name = 'n1', status: Node['status'] = {}, labels: StringMap = {}): Promise<void> {
    await this.client.create(NODES, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels },
      status: {
        allocatable: { cpu: '64', memory: '64Gi', pods: '1000' },
        declaredFeatures: [RESTART_ALL_FEATURE],
        conditions: [{ type: 'Ready', status: 'True' }],
        ...status,
      },
    });
    // Renewed far ahead, because only a test decides when a node falls silent.
    const lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: LEASE_NAMESPACE, name },
      spec: { holderIdentity: name, renewTime: '2999-01-01T00:00:00.000000Z' },
    };
    await this.client.create(LEASES, lease).catch((error: unknown) => {
      if (!isReason(error, 'AlreadyExists')) throw error;
    });
    const probesFail = (): boolean => this.probesFail;
    this.#node ??= new ScriptedNode(this.client, this.clock, this.#random, probesFail);
  }

  /** The node renews its Lease for the last time, and does nothing for its Pods any more. */
  async silence(name: string): Promise<void> {
    this.#node?.silent.add(name);
    await this.#renew(name, microTimeText(this.clock.now()));
  }

  /** A silent node is back. */
  async recover(name: string): Promise<void> {
    this.#node?.silent.delete(name);
    await this.#renew(name, '2999-01-01T00:00:00.000000Z');
    const lastTransitionTime = timeText(this.clock.now());
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime }];
    const patch = { status: { conditions } };
    const status = { subresource: 'status' } as const;
    await this.client.patch(NODES, { name }, { type: 'strategic', patch }, status);
  }

  async #renew(name: string, renewTime: string): Promise<void> {
    const at = { namespace: LEASE_NAMESPACE, name };
    await this.client.patch(LEASES, at, { type: 'merge', patch: { spec: { renewTime } } });
  }

  async createJob(
    spec: Partial<JobSpec> = {},
    name = 'train',
    namespace = 'default',
  ): Promise<Stored<Job>> {
    const containers = [{ name: 'main', image: 'none', command: ['true'] }];
    const metadata = { name, namespace };
    return this.client.create(JOBS, {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata,
      spec: {
        completionMode: 'Indexed',
        completions: 3,
        parallelism: 3,
        template: { spec: { restartPolicy: 'Never', containers } },
        ...spec,
      },
    });
  }

  /** Lets a Pod's only container end. */
  async finish(pod: Stored<Pod>, exitCode: number): Promise<void> {
    await this.#node?.finish(pod, exitCode);
  }

  async job(name = 'train'): Promise<Stored<Job>> {
    return this.client.get(JOBS, { namespace: 'default', name });
  }

  /** Pods in order of name. */
  async pods(namespace = 'default'): Promise<readonly Stored<Pod>[]> {
    const { items } = await this.client.list(PODS, { namespace });
    return items.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }

  async exists(of: Resource, name: string, namespace = 'default'): Promise<boolean> {
    const at = of.namespaced ? { namespace, name } : { name };
    return (await unlessGone(this.client.get(of, at))) !== undefined;
  }

  /** Lets time pass until the condition holds. */
  until(condition: () => Promise<boolean>): Promise<void> {
    return this.clock.runUntil(condition, LIMIT_MS);
  }

  /** Waits until `count` Pods run. */
  async running(count: number): Promise<readonly Stored<Pod>[]> {
    let running: readonly Stored<Pod>[] = [];
    await this.until(async () => {
      running = (await this.pods()).filter(isRunning);
      return running.length === count;
    });
    return running;
  }

  async stop(): Promise<void> {
    await this.#drive(this.#node?.stop());
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
    return createClient({ transport, clock: this.clock, random: this.#random, userAgent: 'test' });
  }
}

/** Limits each wait, in virtual time. */
const LIMIT_MS = 120_000;

function isRunning(pod: Pod): boolean {
  return pod.status?.phase === 'Running' && pod.metadata.deletionTimestamp === undefined;
}
