/** Admission webhooks, compiled from their configurations. */

import type { MutatingWebhook, Webhook } from '@lockstep/kube/objects/admission-webhooks.ts';
import {
  type LabelRequirements,
  labelRequirementsOf,
} from '@lockstep/kube/selectors/label-selector.ts';
import {
  type CompiledMatchCondition,
  compileMatchCondition,
} from '../../../api-machinery/validation/match-condition.ts';
import type { WebhookConfiguration } from '../../../api-machinery/validation/webhook-configuration.ts';
import { typed } from '../resources/api-object.ts';
import type { Collection } from '../resources/collection.ts';
import type { Entry } from '../resources/entry.ts';

/** A webhook of a configuration, with everything that does not depend on a request. */
export interface CompiledWebhook {
  /** Unique among all webhooks, even webhooks of one name in several configurations. */
  readonly id: string;
  readonly webhook: Webhook & Pick<MutatingWebhook, 'reinvocationPolicy'>;
  readonly namespaceSelector: LabelRequirements;
  readonly objectSelector: LabelRequirements;
  readonly conditions: readonly MatchCondition[];
}

export interface MatchCondition {
  readonly source: string;
  readonly compiled: CompiledMatchCondition;
}

/**
 * The webhooks of all configurations of one kind. Each configuration is compiled once per version.
 */
export class WebhookRegistry {
  readonly #configurations: Collection;
  readonly #compiled = new WeakMap<Entry, readonly CompiledWebhook[]>();
  #all: readonly CompiledWebhook[] | undefined;

  constructor(configurations: Collection) {
    this.#configurations = configurations;
    configurations.subscribe(() => {
      this.#all = undefined;
    });
  }

  /** Configurations in order of name, webhooks in the order of their configuration. */
  all(): readonly CompiledWebhook[] {
    this.#all ??= this.#configurations.entries('').flatMap((entry) => this.#webhooksOf(entry));
    return this.#all;
  }

  #webhooksOf(entry: Entry): readonly CompiledWebhook[] {
    const known = this.#compiled.get(entry) ?? compileWebhooks(typed(entry.object));
    this.#compiled.set(entry, known);
    return known;
  }
}

function compileWebhooks(configuration: WebhookConfiguration): readonly CompiledWebhook[] {
  const { webhooks = [], metadata } = configuration;
  return webhooks.map((webhook) => ({
    id: `${metadata.name ?? ''}/${webhook.name}`,
    webhook,
    namespaceSelector: labelRequirementsOf(webhook.namespaceSelector ?? {}),
    objectSelector: labelRequirementsOf(webhook.objectSelector ?? {}),
    conditions: (webhook.matchConditions ?? []).map(({ expression }) => ({
      source: expression,
      compiled: compileMatchCondition(expression.trim()),
    })),
  }));
}
