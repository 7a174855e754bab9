/** The webhooks of several replicas of the operator, on the Kubernetes under test. */
import {
  MUTATING_WEBHOOK_CONFIGURATIONS,
  VALIDATING_WEBHOOK_CONFIGURATIONS,
} from '@lockstep/kube/objects/admission-webhooks.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import { startHttpServer } from '@lockstep/kube/runtime/adapters/http-server.ts';
import {
  isSignedBy,
  isValidFor,
  type KeyPair,
} from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { unlessGone } from '@lockstep/kube/runtime/client/unless-refused.ts';
import { handlerTransport } from '@lockstep/kube/runtime/memory/memory-transport.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import {
  type HttpHandler,
  type Transport,
  TransportError,
} from '@lockstep/kube/runtime/ports/transport.ts';
import { DEFAULT_FEATURE_GATES, type FeatureGates } from '../../src/jobset/feature-gates.ts';
import { JOBSETS } from '../../src/jobset/jobset.ts';
import { EXCLUSIVE_TOPOLOGY, JOBSET_NAME, RESTART_MODE } from '../../src/jobset/names.ts';
import { type OperatorCaches, startCaches } from '../../src/operator/tracking/caches.ts';
import {
  MUTATING_CONFIGURATION_NAME,
  VALIDATING_CONFIGURATION_NAME,
} from '../../src/operator/webhooks/webhook-configurations.ts';
import { startWebhooks, type Webhooks } from '../../src/operator/webhooks/webhooks.ts';
import type { ClusterUnderTest } from '../fixtures/cluster-under-test.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { KUBERNETES } from '../kubernetes.ts';
import { clusterUnderTest } from './group-under-test.fixture.ts';

const LOOPBACK = '127.0.0.1';
export const HOST = KUBERNETES === undefined ? 'hooks.lockstep-system.svc' : LOOPBACK;
const UNAVAILABLE = { status: 503, headers: {}, body: new Uint8Array() };

/**
 * The embedded API server calls the replicas in turn, and trusts a replica only if the replica's
 * certificate is of an authority in the configuration. A real one calls a replica over TLS.
 */
export class WebhookReplicas {
  readonly cluster: ClusterUnderTest;
  readonly replicas: Replica[] = [];
  #turn = 0;

  private constructor() {
    this.cluster = clusterUnderTest({
      webhookTransport: ({ certificateAuthority }) => ({
        send: (request) => this.#toSomeReplica(certificateAuthority ?? '').send(request),
      }),
    });
  }

  static async start(): Promise<WebhookReplicas> {
    const world = new WebhookReplicas();
    await world.cluster.start();
    return world;
  }

  get client(): Client {
    return this.cluster.client;
  }

  /**
   * Starts replicas of the operator at the same time, and waits until the API server can call them.
   */
  async add(count = 1, gates: FeatureGates = DEFAULT_FEATURE_GATES): Promise<void> {
    const started = Array.from({ length: count }, () => new Replica(this.cluster, gates));
    this.replicas.push(...started);
    await this.cluster.until(async () =>
      started.every(
        ({ webhooks, caches }) => webhooks.problem() === undefined && caches.hasSynced(),
      ),
    );
    // A real one learns of a configuration a little after it is stored.
    await this.cluster.until(() => this.#isMutating());
    await this.cluster.until(() => this.#isValidating());
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.replicas.splice(0).flatMap(({ webhooks, caches }) => [webhooks.stop(), caches.stop()]),
    );
    for (const [of, name] of CONFIGURATIONS) await unlessGone(this.client.delete(of, { name }));
    await this.cluster.stop();
  }

  async #isMutating(): Promise<boolean> {
    const metadata = { ...PROBE, annotations: { [RESTART_MODE]: 'Unknown' } };
    const patch = {
      apiVersion: `${JOBSETS.group}/${JOBSETS.version}`,
      kind: JOBSETS.kind,
      metadata,
      spec: { replicatedJobs: [replicatedJob('w')] },
    };
    const answer = this.client.patch(JOBSETS, PROBE, { ...DRY_RUN, patch });
    return (await refusalOf(answer)).includes('mjobset.kb.io');
  }

  async #isValidating(): Promise<boolean> {
    const annotations = { [JOBSET_NAME]: PROBE.name, [EXCLUSIVE_TOPOLOGY]: 'rack' };
    const labels = { [JOBSET_NAME]: PROBE.name };
    const metadata = { ...PROBE, labels, annotations };
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    const patch = { apiVersion: 'v1', kind: PODS.kind, metadata, spec };
    const answer = this.client.patch(PODS, PROBE, { ...DRY_RUN, patch });
    return (await refusalOf(answer)).includes('vpod.kb.io');
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

const PROBE = { namespace: 'default', name: 'probe' };
const DRY_RUN = { type: 'apply', fieldManager: 'probe', dryRun: 'All' } as const;
const CONFIGURATIONS = [
  [MUTATING_WEBHOOK_CONFIGURATIONS, MUTATING_CONFIGURATION_NAME],
  [VALIDATING_WEBHOOK_CONFIGURATIONS, VALIDATING_CONFIGURATION_NAME],
] as const;

/** What the API server says, or nothing if it accepts. */
function refusalOf(answer: Promise<unknown>): Promise<string> {
  return answer.then(
    () => '',
    (error: unknown) => String(error),
  );
}

class Replica {
  readonly webhooks: Webhooks;
  readonly caches: OperatorCaches;
  /** Without it, no call is answered. */
  handler: HttpHandler | undefined;
  pair: KeyPair | undefined;

  constructor({ client, clock, random }: ClusterUnderTest, gates: FeatureGates) {
    const runtime = { client, clock, random, logger: SILENT };
    this.caches = startCaches(runtime);
    this.webhooks = startWebhooks({
      ...runtime,
      caches: () => this.caches,
      gates,
      operatorNamespace: 'default',
      secretName: 'certificates',
      host: HOST,
      install: true,
      listen: async (handler, pair) => {
        this.handler = handler;
        this.pair = pair;
        const server = await this.#serve(pair);
        return {
          url: server?.url ?? `https://${HOST}`,
          useCertificate: (next) => {
            this.pair = next;
            server?.useCertificate(next);
          },
          close: async () => {
            this.handler = undefined;
            await server?.close();
          },
        };
      },
      cannotListen: (error) => {
        throw error;
      },
    });
  }

  /** For a real API server; the embedded one needs no network. */
  async #serve(tls: KeyPair) {
    if (KUBERNETES === undefined) return undefined;
    const handler: HttpHandler = async (request) => this.handler?.(request) ?? UNAVAILABLE;
    return await startHttpServer({ handler, host: LOOPBACK, port: 0, tls });
  }
}

function refusal(message: string): TransportError {
  return new TransportError(message);
}
