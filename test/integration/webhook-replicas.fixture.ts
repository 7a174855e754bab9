/** The webhooks of several replicas of the operator, with an API server in memory. */
import { TestServer } from '@lockstep/embedded-kubernetes/in-memory';
import { CUSTOM_RESOURCE_DEFINITIONS } from '@lockstep/kube/objects/custom-resource-definition.ts';
import {
  isSignedBy,
  isValidFor,
  type KeyPair,
} from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { createClient } from '@lockstep/kube/runtime/client/http-client.ts';
import { handlerTransport } from '@lockstep/kube/runtime/memory/memory-transport.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import {
  type HttpHandler,
  type Transport,
  TransportError,
} from '@lockstep/kube/runtime/ports/transport.ts';
import { DEFAULT_FEATURE_GATES, type FeatureGates } from '../../src/jobset/feature-gates.ts';
import { JOBSET_CRD } from '../../src/jobset/schema/crd.ts';
import { type OperatorCaches, startCaches } from '../../src/operator/tracking/caches.ts';
import { startWebhooks, type Webhooks } from '../../src/operator/webhooks/webhooks.ts';

const START_LIMIT_MS = 60_000;
const HOST = 'hooks.lockstep-system.svc';

/**
 * The API server calls the replicas in turn, and trusts a replica only if the replica's certificate
 * is of an authority in the configuration.
 */
export class WebhookReplicas {
  readonly server: TestServer;
  readonly client: Client;
  readonly random = new SeededRandom(3);
  readonly replicas: Replica[] = [];
  #turn = 0;

  private constructor(server: TestServer) {
    this.server = server;
    const { transport, clock } = server;
    this.client = createClient({ transport, clock, random: this.random, userAgent: 'test' });
  }

  static async start(): Promise<WebhookReplicas> {
    let world: WebhookReplicas | undefined;
    const server = await TestServer.start({
      webhookTransport: ({ certificateAuthority }) => ({
        send: (request) => {
          if (world === undefined) throw new Error('no replica can be called yet');
          return world.#toSomeReplica(certificateAuthority ?? '').send(request);
        },
      }),
    });
    world = new WebhookReplicas(server);
    await world.client.create(CUSTOM_RESOURCE_DEFINITIONS, JOBSET_CRD);
    return world;
  }

  /**
   * Starts replicas of the operator at the same time, and waits until the API server can call them.
   */
  async add(count = 1, gates: FeatureGates = DEFAULT_FEATURE_GATES): Promise<void> {
    const started = Array.from({ length: count }, () => new Replica(this, gates));
    this.replicas.push(...started);
    const isReady = (): boolean =>
      started.every(
        ({ webhooks, caches }) => webhooks.problem() === undefined && caches.hasSynced(),
      );
    await this.server.clock.runUntil(isReady, START_LIMIT_MS);
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.replicas.splice(0).flatMap(({ webhooks, caches }) => [webhooks.stop(), caches.stop()]),
    );
    await this.server.api.close();
  }

  #toSomeReplica(bundle: string): Transport {
    const replica = this.replicas[this.#turn++ % this.replicas.length];
    const { handler, pair } = replica ?? {};
    if (handler === undefined || pair === undefined) throw refusal('connection refused');
    const authorities = bundle
      .split(/(?<=-----END CERTIFICATE-----)\n/)
      .filter((pem) => pem !== '');
    const isTrusted = authorities.some((authority) => isSignedBy(pair.certificate, authority));
    if (!isTrusted) throw refusal('certificate signed by unknown authority');
    if (!isValidFor(pair.certificate, HOST)) throw refusal('certificate is not valid for the host');
    return handlerTransport(handler);
  }
}

class Replica {
  readonly webhooks: Webhooks;
  readonly caches: OperatorCaches;
  handler: HttpHandler | undefined;
  pair: KeyPair | undefined;

  constructor({ server, client, random }: WebhookReplicas, gates: FeatureGates) {
    const runtime = { client, clock: server.clock, random, logger: SILENT };
    this.caches = startCaches(runtime);
    this.webhooks = startWebhooks({
      ...runtime,
      caches: () => this.caches,
      gates,
      operatorNamespace: 'default',
      secretName: 'certificates',
      host: HOST,
      address: { kind: 'Url', url: `https://${HOST}` },
      install: true,
      listen: async (handler, pair) => {
        this.handler = handler;
        this.pair = pair;
        return {
          url: `https://${HOST}`,
          useCertificate: (next) => {
            this.pair = next;
          },
          close: async () => {
            this.handler = undefined;
          },
        };
      },
      onFailure: (error) => {
        throw error;
      },
    });
  }
}

function refusal(message: string): TransportError {
  return new TransportError(message);
}
