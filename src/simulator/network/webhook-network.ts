/** The way from the simulated API server to the webhooks of the operator's replicas, as a Service leads it. */
import {
  MUTATING_WEBHOOK_CONFIGURATIONS,
  VALIDATING_WEBHOOK_CONFIGURATIONS,
} from '@lockstep/kube/objects/admission-webhooks.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import type { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import type { Random } from '@lockstep/kube/runtime/ports/random.ts';
import {
  type HttpHandler,
  type Transport,
  TransportError,
} from '@lockstep/kube/runtime/ports/transport.ts';
import { DEFAULT_FEATURE_GATES } from '../../jobset/feature-gates.ts';
import { admissionEndpoint } from '../../operator/webhooks/admission-endpoint.ts';
import {
  mutatingConfiguration,
  validatingConfiguration,
} from '../../operator/webhooks/webhook-configurations.ts';
import { webhookHandlers } from '../../operator/webhooks/webhook-handlers.ts';
import { startWebhooks, type WebhooksOptions } from '../../operator/webhooks/webhooks.ts';
import { Weather } from '../weather.ts';

const URL = 'https://webhooks';
const RULES = { gates: DEFAULT_FEATURE_GATES };
/** There is no TLS in this world. */
const NO_PAIR = { certificate: '', key: '' };

/** As the manifest installs them: from now on the API server asks about JobSets and their Pods. */
export async function installWebhooks(client: Client): Promise<void> {
  const settings = { address: { kind: 'Url', url: URL }, bundle: '' } as const;
  await client.create(MUTATING_WEBHOOK_CONFIGURATIONS, mutatingConfiguration(settings));
  await client.create(VALIDATING_WEBHOOK_CONFIGURATIONS, validatingConfiguration(settings));
}

/** The webhooks of one replica. The queue of its review threads is real; they judge in this thread. */
export function serveWebhooks(
  runtime: Omit<WebhooksOptions, 'gates' | 'listen' | 'host' | 'install' | 'secretName'>,
  serve: (handler: HttpHandler) => void,
): void {
  startWebhooks({
    ...runtime,
    ...RULES,
    judgeApart: (questions) => {
      const judge = admissionEndpoint({ ...runtime, handlers: webhookHandlers(RULES, questions) });
      return { jobSets: judge, pods: judge, stop: () => Promise.resolve() };
    },
    secretName: '',
    host: '',
    install: false,
    certificateFiles: (onChange) => {
      onChange(NO_PAIR);
      return { stop: () => undefined };
    },
    listen: (handler) => {
      serve(handler);
      const close = (): Promise<void> => Promise.resolve();
      return Promise.resolve({ url: URL, useCertificate: () => undefined, close });
    },
  });
}

export class WebhookNetwork {
  /** Between the API server and all replicas. */
  readonly weather: Weather;
  /** From the API server to one of the replicas that run. */
  readonly transport: Transport;
  readonly #replicas = new Set<Transport>();
  readonly #random: Random;

  constructor(clock: () => VirtualClock, random: Random) {
    this.#random = random;
    this.weather = new Weather(random);
    const server: Transport = { send: async (request) => this.#one().send(request) };
    this.transport = { send: (request) => this.weather.send(request, server, clock()) };
  }

  /** Whether a replica is there to answer. */
  get isServed(): boolean {
    return this.#replicas.size > 0;
  }

  /** Returns what takes the replica from the Service. */
  add(replica: Transport): () => void {
    this.#replicas.add(replica);
    return () => this.#replicas.delete(replica);
  }

  #one(): Transport {
    const at = Math.floor(this.#random.next() * this.#replicas.size);
    const replica = [...this.#replicas][at];
    if (replica !== undefined) return replica;
    throw new TransportError('no replica listens', { code: 'ECONNREFUSED' });
  }
}
