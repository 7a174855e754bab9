/**
 * The admission webhooks of one replica. Certificates come first, then the server, then its
 * publication, so that API servers never learn of a webhook that does not answer. Webhooks need no
 * leadership, and do not end by themselves: failures are logged, retried, and reported by
 * `problem`.
 */

import type { KeyPair } from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import type { MeasuredPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import type { HttpHandler } from '@lockstep/kube/runtime/ports/transport.ts';
import { CertificateKeeper } from '../certificates/certificate-keeper.ts';
import { bundleOf } from '../certificates/certificate-secret.ts';
import {
  type PodLookups,
  type PodLookupsOptions,
  startPodLookups,
} from '../pod-placement/pod-lookups.ts';
import {
  type NamespaceAnnotations,
  namespaceAnnotations,
} from '../tracking/namespace-annotations.ts';
import type { NodeFeatures } from '../tracking/node-features.ts';
import { admissionEndpoint, observedReviews } from './admission-endpoint.ts';
import { ConfigurationPublisher } from './configuration-publisher.ts';
import { jobSetQuestions } from './jobset-webhooks.ts';
import { type ReviewThreads, reviewJudges } from './review-judges.ts';
import type { WebhookAddress } from './webhook-configurations.ts';
import { type WebhookQuestions, type WebhookRules, webhookHandlers } from './webhook-handlers.ts';

export interface WebhooksOptions extends WebhookRules, MeasuredPorts {
  /** Absent: nodes have every feature. */
  readonly nodeFeatures?: NodeFeatures | undefined;
  /** By default they are read here. */
  readonly namespaceAnnotations?: NamespaceAnnotations | undefined;
  /** The operator's, once it has them. */
  readonly caches?: PodLookupsOptions['caches'];
  /** The namespaces in which the operator acts; absent: all. */
  readonly namespaces?: readonly string[] | undefined;
  /** The namespace of the Secret with the certificates. */
  readonly operatorNamespace: string;
  readonly secretName: string;
  /** Absent: API servers call the address on which it listens. */
  readonly address?: WebhookAddress | undefined;
  /** The host on which the server will listen. */
  readonly host: string;
  /** Whether to install the configurations, or only to set the authorities in existing ones. */
  readonly install: boolean;
  /**
   * If present, certificates come from elsewhere, and so do the authorities in the configurations.
   * Calls back with the current pair and with each change.
   */
  readonly certificateFiles?: ((onChange: (pair: KeyPair) => void) => { stop(): void }) | undefined;
  /** Judges reviews that may take long in other threads; absent: this thread judges all. */
  readonly judgeApart?: (
    questions: WebhookQuestions,
  ) => ReviewThreads & { stop(): Promise<unknown> };
  /** Serves over TLS. Rejects if it cannot listen. */
  readonly listen: (handler: HttpHandler, pair: KeyPair) => Promise<WebhookListener>;
  /** Called once if the server cannot listen. No option of an informer has this name: all get these options. */
  readonly cannotListen: (error: unknown) => void;
}

export interface WebhookListener {
  /** `https://HOST:PORT` */
  readonly url: string;
  /** For new connections; open ones stay as they are. */
  useCertificate(pair: KeyPair): void;
  close(): Promise<void>;
}

export interface Webhooks {
  /** Undefined, or why API servers cannot rely on this replica. */
  problem(): string | undefined;
  stop(): Promise<void>;
}

export function startWebhooks(options: WebhooksOptions): Webhooks {
  return new RunningWebhooks(options);
}

class RunningWebhooks implements Webhooks {
  readonly #options: WebhooksOptions;
  readonly #lookups: PodLookups & { stop(): Promise<void> };
  /** The source of the certificates. */
  readonly #source: { stop(): Promise<void> | void };
  #listening: Promise<void> | undefined;
  #serving: KeyPair | undefined;
  /** The authorities to publish; undefined if another program publishes them. */
  #bundle: string | undefined;
  #listener: WebhookListener | undefined;
  #publisher: ConfigurationPublisher | undefined;
  #apart: ReturnType<NonNullable<WebhooksOptions['judgeApart']>> | undefined;
  #isStopped = false;

  constructor(options: WebhooksOptions) {
    this.#options = options;
    this.#lookups = startPodLookups(options);
    const { certificateFiles } = options;
    this.#source =
      certificateFiles === undefined
        ? this.#keepCertificates()
        : certificateFiles((pair) => this.#use(pair, undefined));
  }

  #keepCertificates(): CertificateKeeper {
    return new CertificateKeeper({
      ...this.#options,
      name: 'webhook-certificates',
      namespace: this.#options.operatorNamespace,
      hosts: hostsOf(this.#options),
      isPublished: (authority) => this.#publisher?.publishes(authority) ?? false,
      onChange: (certificates) => this.#use(certificates.serving, bundleOf(certificates)),
    });
  }

  problem(): string | undefined {
    if (this.#serving === undefined) return 'there are no certificates yet';
    if (this.#listener === undefined) return 'the server does not listen yet';
    const isPublished = this.#bundle === undefined || this.#publisher?.isUpToDate === true;
    return isPublished ? undefined : 'not published yet';
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([
      this.#source.stop(),
      this.#publisher?.stop(),
      this.#listener?.close(),
      this.#listening,
      this.#lookups.stop(),
      this.#apart?.stop(),
    ]);
  }

  #use(serving: KeyPair, bundle: string | undefined): void {
    this.#serving = serving;
    this.#bundle = bundle;
    this.#listener?.useCertificate(serving);
    if (bundle !== undefined) this.#publisher?.trust(bundle);
    this.#listening ??= this.#listen(serving).catch((error: unknown) => {
      this.#options.cannotListen(error);
    });
  }

  async #listen(first: KeyPair): Promise<void> {
    const { listen, address, logger, install, namespaces, onlyManaged } = this.#options;
    const listener = await listen(this.#handler(), first);
    if (this.#isStopped) return listener.close();
    this.#listener = listener;
    logger.info('serving', { what: 'webhooks', url: listener.url });
    // The certificates may have changed while the server started.
    listener.useCertificate(this.#serving ?? first);
    if (this.#bundle === undefined) return;
    this.#publisher = new ConfigurationPublisher({
      ...this.#options,
      install,
      settings: {
        address: address ?? { kind: 'Url', url: listener.url },
        bundle: this.#bundle,
        namespaces,
        onlyManaged,
      },
    });
  }

  #handler(): HttpHandler {
    const { client, nodeFeatures, judgeApart } = this.#options;
    const read = this.#options.namespaceAnnotations ?? namespaceAnnotations(this.#options);
    const jobSets = { ...jobSetQuestions(client, nodeFeatures), namespaceAnnotations: read };
    const questions = { jobSets, pods: this.#lookups };
    const handlers = webhookHandlers(this.#options, questions);
    const here = admissionEndpoint({ ...this.#options, handlers });
    this.#apart = judgeApart?.(questions);
    const judge = this.#apart === undefined ? here : reviewJudges(here, this.#apart);
    return observedReviews(judge, new Set(handlers.keys()), this.#options);
  }
}

/** The names for which a certificate has to be valid. */
function hostsOf({ address, host }: WebhooksOptions): readonly string[] {
  switch (address?.kind) {
    case 'Service': {
      const inCluster = `${address.name}.${address.namespace}.svc`;
      return [inCluster, `${inCluster}.cluster.local`];
    }
    case 'Url':
      return [new URL(address.url).hostname.replace(/^\[|\]$/g, '')];
    case undefined:
      return [host];
  }
}
