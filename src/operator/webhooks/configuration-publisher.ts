/**
 * Publishes the webhooks and their authorities to API servers. It repairs the configurations when
 * they are deleted or overwritten. If it does not install them itself, it only sets the
 * authorities.
 */

import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import type { KubeObject } from '@lockstep/kube/meta.ts';
import {
  MUTATING_WEBHOOK_CONFIGURATIONS,
  VALIDATING_WEBHOOK_CONFIGURATIONS,
  type Webhook,
} from '@lockstep/kube/objects/admission-webhooks.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import { unlessGone } from '@lockstep/kube/runtime/client/unless-refused.ts';
import { type Controller, startController } from '@lockstep/kube/runtime/controller/controller.ts';
import { createInformer } from '@lockstep/kube/runtime/informer/create-informer.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import type { MeasuredPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { conflict } from '@lockstep/kube/status-errors.ts';
import {
  MUTATING_CONFIGURATION_NAME,
  mutatingConfiguration,
  repairedWebhooks,
  trustingWebhooks,
  VALIDATING_CONFIGURATION_NAME,
  validatingConfiguration,
  type WebhookSettings,
} from './webhook-configurations.ts';

export interface ConfigurationPublisherOptions extends MeasuredPorts {
  /** Whether to create the configurations, and update them at the start. */
  readonly install: boolean;
  readonly settings: WebhookSettings;
}

/** The pace of repairs, in case another operator overwrites them in turn. */
const REPAIR_INTERVAL_MS = 1_000;

/** One of the two configurations. */
interface Publication {
  readonly of: Resource<Configuration>;
  readonly name: string;
  readonly wanted: (settings: WebhookSettings) => Configuration;
}

interface Configuration extends KubeObject {
  readonly webhooks?: readonly Webhook[];
}

const PUBLICATIONS: readonly Publication[] = [
  {
    of: MUTATING_WEBHOOK_CONFIGURATIONS,
    name: MUTATING_CONFIGURATION_NAME,
    wanted: mutatingConfiguration,
  },
  {
    of: VALIDATING_WEBHOOK_CONFIGURATIONS,
    name: VALIDATING_CONFIGURATION_NAME,
    wanted: validatingConfiguration,
  },
];

export class ConfigurationPublisher {
  readonly #options: ConfigurationPublisherOptions;
  readonly #controller: Controller;
  readonly #informers: readonly Informer<Configuration>[];
  #settings: WebhookSettings;
  /** By configuration: the bundle in it when it was last read or written. */
  readonly #published = new Map<string, string>();
  /** Configurations that this process has updated. */
  readonly #installed = new Set<string>();
  /** Monotonic, by configuration. */
  readonly #writtenMs = new Map<string, number>();

  constructor(options: ConfigurationPublisherOptions) {
    this.#options = options;
    this.#settings = options.settings;
    this.#controller = startController({
      ...options,
      name: 'webhook-configurations',
      workers: PUBLICATIONS.length,
      reconcile: (name, signal) => this.#reconcile(name, signal),
    });
    this.#informers = PUBLICATIONS.map(({ of, name }) => {
      const informer = createInformer<Configuration>({
        ...options,
        resource: of,
        fieldSelector: `metadata.name=${name}`,
      });
      const look = (): void => this.#controller.enqueueAfter(name, this.#pauseMs(name));
      informer.subscribe({ added: look, updated: look, deleted: look });
      return informer;
    });
    this.#lookAtAll();
  }

  /** Whether both configurations have been read and, if they exist, have the right content. */
  get isUpToDate(): boolean {
    const { bundle } = this.#settings;
    return PUBLICATIONS.every(({ name }) => this.#published.get(name) === bundle);
  }

  /** Whether readers of the configurations trust this authority. */
  publishes(authority: string): boolean {
    return PUBLICATIONS.every(
      ({ name }) => this.#published.get(name)?.includes(authority) ?? false,
    );
  }

  /** Publishes other authorities from now on. */
  trust(bundle: string): void {
    if (bundle === this.#settings.bundle) return;
    this.#settings = { ...this.#settings, bundle };
    this.#lookAtAll();
  }

  async stop(): Promise<void> {
    await Promise.all([
      this.#controller.stop(),
      ...this.#informers.map((informer) => informer.stop()),
    ]);
  }

  #lookAtAll(): void {
    for (const { name } of PUBLICATIONS) this.#controller.enqueue(name);
  }

  #pauseMs(name: string): number {
    const writtenMs = this.#writtenMs.get(name);
    if (writtenMs === undefined) return 0;
    return Math.max(0, writtenMs + REPAIR_INTERVAL_MS - this.#options.clock.monotonic());
  }

  /** Reads the configuration itself: the watch only says that it changed. */
  async #reconcile(name: string, signal: AbortSignal): Promise<void> {
    const { client } = this.#options;
    const publication = PUBLICATIONS.find((one) => one.name === name);
    if (publication === undefined) return;
    const settings = this.#settings;
    const wanted = publication.wanted(settings);
    const current = await unlessGone(client.get(publication.of, { name }, { signal }));
    if (current === undefined) {
      await this.#create(publication, wanted, signal);
    } else {
      const webhooks = this.#changed(name, current.webhooks ?? [], wanted.webhooks ?? []);
      if (webhooks !== undefined) {
        this.#noteWrite(name, 'bringing a webhook configuration up to date');
        await this.#options.client.update(publication.of, { ...current, webhooks }, { signal });
      }
    }
    this.#installed.add(name);
    this.#published.set(name, settings.bundle);
  }

  /** The webhooks as they have to be, or undefined if they are. */
  #changed(
    name: string,
    current: readonly Webhook[],
    wanted: readonly Webhook[],
  ): readonly Webhook[] | undefined {
    if (!this.#options.install) return trustingWebhooks(current, this.#settings.bundle);
    if (this.#installed.has(name)) return repairedWebhooks(current, wanted);
    return deepEqual(current, wanted) ? undefined : wanted;
  }

  /** Rejects with `Conflict` when another replica was quicker. */
  async #create(
    { of, name }: Publication,
    wanted: Configuration,
    signal: AbortSignal,
  ): Promise<void> {
    if (!this.#options.install) {
      this.#options.logger.warn('there is no webhook configuration', { configuration: name });
      return;
    }
    this.#noteWrite(name, 'installing a webhook configuration');
    try {
      await this.#options.client.create(of, wanted, { signal });
    } catch (error) {
      throw isReason(error, 'AlreadyExists') ? conflict(of, name) : error;
    }
  }

  /** Before the write: the watch may show it sooner than its answer arrives. */
  #noteWrite(name: string, what: string): void {
    this.#writtenMs.set(name, this.#options.clock.monotonic());
    this.#options.logger.info(what, { configuration: name });
  }
}
