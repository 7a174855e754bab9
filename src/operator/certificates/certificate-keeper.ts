/**
 * Keeps the certificates of one server in a Secret, and renews them. All replicas do so at once.
 * Each writes only over what it has just read, so one wins and the others use its certificates.
 */

import type { Stored } from '@lockstep/kube/meta.ts';
import { SECRETS, type Secret } from '@lockstep/kube/objects/core.ts';
import { unlessGone } from '@lockstep/kube/runtime/client/unless-refused.ts';
import {
  type Controller,
  type ReconcileResult,
  startController,
} from '@lockstep/kube/runtime/controller/controller.ts';
import { createInformer } from '@lockstep/kube/runtime/informer/create-informer.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import type { MeasuredPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { conflict } from '@lockstep/kube/status-errors.ts';
import { certificatesIn, secretOf } from './certificate-secret.ts';
import { planCertificates, type WebhookCertificates } from './certificates.ts';

export interface CertificateKeeperOptions extends MeasuredPorts {
  /** In logs and metrics, such as `webhook-certificates`. */
  readonly name: string;
  readonly namespace: string;
  readonly secretName: string;
  /** DNS names and addresses that clients use. */
  readonly hosts: readonly string[];
  /** Whether every published bundle has this authority. */
  readonly isPublished: (authority: string) => boolean;
  /** Called with the first certificates, and with each change. */
  readonly onChange: (certificates: WebhookCertificates) => void;
  /** Called for each failure to read or write them, so that a waiting caller can judge. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
}

/** How often expiry dates, and the publication of a new authority, are checked. */
const REVIEW_INTERVAL_MS = 10 * 60_000;
/**
 * API servers learn of a publication by a watch, which takes a moment, or a restart of the watch.
 */
const TRUST_DELAY_MS = 5 * 60_000;

const KEY = 'certificates';

export class CertificateKeeper {
  readonly #options: CertificateKeeperOptions;
  readonly #controller: Controller;
  readonly #informer: Informer<Secret>;
  #inUse: WebhookCertificates | undefined;
  /** The newest authority, and when (monotonic) it was first seen published. */
  #published: { readonly authority: string; readonly sinceMs: number } | undefined;

  constructor(options: CertificateKeeperOptions) {
    this.#options = options;
    const { namespace, secretName } = options;
    this.#controller = startController({
      ...options,
      workers: 1,
      reconcile: (_key, signal) =>
        this.#reconcile(signal).catch((error: unknown) => {
          options.onFailure?.(error);
          throw error;
        }),
    });
    this.#informer = createInformer<Secret>({
      ...options,
      onFailure: undefined,
      resource: SECRETS,
      namespace,
      fieldSelector: `metadata.name=${secretName}`,
    });
    const look = (): void => this.#controller.enqueue(KEY);
    this.#informer.subscribe({ added: look, updated: look, deleted: look });
    look();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#controller.stop(), this.#informer.stop()]);
  }

  /** Reads the Secret itself: the watch only says that it changed. */
  async #reconcile(signal: AbortSignal): Promise<ReconcileResult> {
    const { client, clock, hosts, logger, namespace, secretName: name } = this.#options;
    const secret = await unlessGone(client.get(SECRETS, { namespace, name }, { signal }));
    const plan = planCertificates(secret === undefined ? undefined : certificatesIn(secret), {
      hosts,
      clock,
      isTrusted: (authority) => this.#isTrusted(authority),
    });
    if (plan.kind === 'Replace') {
      await this.#write(plan.certificates, secret, signal);
      logger.info('renewed certificates', { of: this.#options.name, why: plan.why });
    }
    this.#use(plan.certificates);
    return { requeueAfterMs: REVIEW_INTERVAL_MS };
  }

  #use(certificates: WebhookCertificates): void {
    const isSame =
      this.#inUse?.serving.certificate === certificates.serving.certificate &&
      this.#inUse.authorities.join() === certificates.authorities.join();
    if (isSame) return;
    this.#options.onChange(certificates);
    this.#inUse = certificates;
  }

  #isTrusted(authority: string): boolean {
    const { clock, isPublished } = this.#options;
    if (!isPublished(authority)) {
      this.#published = undefined;
      return false;
    }
    if (this.#published?.authority !== authority) {
      this.#published = { authority, sinceMs: clock.monotonic() };
    }
    return clock.monotonic() - this.#published.sinceMs >= TRUST_DELAY_MS;
  }

  /** Rejects with `Conflict` when another replica was quicker. */
  async #write(
    certificates: WebhookCertificates,
    existing: Stored<Secret> | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { client, namespace, secretName: name } = this.#options;
    const secret = secretOf({ namespace, name }, certificates, existing);
    try {
      if (existing === undefined) await client.create(SECRETS, secret, { signal });
      else await client.update(SECRETS, secret, { signal });
    } catch (error) {
      throw isReason(error, 'AlreadyExists') ? conflict(SECRETS, name) : error;
    }
  }
}
