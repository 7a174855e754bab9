/** The embedded API server in memory, and the Pod of a test as a client sees it. */
import type { KubeObject, Stored } from '@lockstep/kube/meta.ts';
import { NODES } from '@lockstep/kube/objects/node.ts';
import {
  type Container,
  type ContainerStatus,
  PODS,
  type Pod,
} from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { createClient } from '@lockstep/kube/runtime/client/http-client.ts';
import { handlerTransport } from '@lockstep/kube/runtime/memory/memory-transport.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { Random } from '@lockstep/kube/runtime/ports/random.ts';
import type { HttpRequest, HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import { type ApiServer, createApiServer } from '../apiserver/api-server.ts';
import { MemoryStorage } from '../memory/memory-storage.ts';

export class TestApi {
  readonly client: Client;
  /** Every version of every Pod, in order, by name. */
  readonly histories = new Map<string, Stored<Pod>[]>();
  pod: Stored<Pod> | undefined;
  /** While true, every write of a Pod's status fails, as on an overloaded server. */
  isOverloaded = false;
  /** The number of issued tokens. */
  tokens = 0;
  readonly #server: ApiServer;
  readonly #clock: Clock;
  readonly #watching = new AbortController();

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#server = createApiServer({
      storage: new MemoryStorage(),
      clock,
      random,
      logger: SILENT,
    });
    const certificate = { commonName: 'admin', organizations: ['system:masters'] };
    this.client = createClient({
      transport: handlerTransport((request) => this.#answer(request), {
        address: '127.0.0.1',
        certificate,
      }),
      clock,
      random,
      userAgent: 'test',
    });
  }

  /** Every version of the Pod, in order. */
  get history(): readonly Stored<Pod>[] {
    return this.histories.get('p') ?? [];
  }

  async start(): Promise<void> {
    await this.#server.start();
    void this.#watch();
  }

  async stop(): Promise<void> {
    this.#watching.abort();
    await this.#server.close();
  }

  async run(spec: Partial<Pod['spec']>, status?: Pod['status'], name = 'p'): Promise<void> {
    await this.client.create(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default' },
      spec: {
        nodeName: 'n1',
        restartPolicy: 'Never',
        automountServiceAccountToken: false,
        containers: [],
        ...spec,
      },
      ...(status === undefined ? {} : { status }),
    });
    if (status === undefined) return;
    const at = { namespace: 'default', name: 'p' };
    const patch = { status };
    await this.client.patch(PODS, at, { type: 'merge', patch }, { subresource: 'status' });
  }

  node(): Promise<Stored<KubeObject>> {
    return this.client.get(NODES, { name: 'n1' });
  }

  status(container: string): ContainerStatus | undefined {
    const { initContainerStatuses = [], containerStatuses = [] } = this.pod?.status ?? {};
    return [...initContainerStatuses, ...containerStatuses].find(({ name }) => name === container);
  }

  async #watch(): Promise<void> {
    try {
      const options = { signal: this.#watching.signal };
      for await (const event of this.client.watch(PODS, options)) {
        if (event.type === 'BOOKMARK') continue;
        const { name } = event.object.metadata;
        const history = this.histories.get(name) ?? [];
        this.histories.set(name, [...history, event.object]);
        if (name === 'p') this.pod = event.type === 'DELETED' ? undefined : event.object;
      }
    } catch (error) {
      if (!this.#watching.signal.aborted) throw error;
    }
  }

  async #answer(request: HttpRequest): Promise<HttpResponse> {
    if (this.isOverloaded && request.path.endsWith('/status')) return answer(503, {});
    if (request.path.endsWith('/token')) {
      this.tokens++;
      const expirationTimestamp = new Date(this.#clock.now() + 3_600_000).toISOString();
      return answer(201, {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        metadata: {},
        status: { token: 'secret', expirationTimestamp },
      });
    }
    return this.#server.handler(request);
  }
}

function answer(status: number, body: object): HttpResponse {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(body)),
  };
}

export function container(name: string, command: string, more: Partial<Container> = {}): Container {
  return { name, image: 'img', command: [command], ...more };
}
