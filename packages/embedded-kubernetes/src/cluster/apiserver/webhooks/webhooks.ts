/** The configured admission webhooks, and the outcome of asking one of them. */
import { assert } from '@lockstep/kube/assert.ts';
import {
  MUTATING_WEBHOOK_CONFIGURATIONS,
  VALIDATING_WEBHOOK_CONFIGURATIONS,
} from '@lockstep/kube/objects/admission-webhooks.ts';
import type { JsonPatchOperation } from '@lockstep/kube/patch/json-patch.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type { Random } from '@lockstep/kube/runtime/ports/random.ts';
import { internalError } from '@lockstep/kube/status-errors.ts';
import type { ResourceTable } from '../resources/resource-table.ts';
import type { ServedResource } from '../resources/served-resource.ts';
import { admissionRequest } from './admission-request.ts';
import {
  readPatchOperations,
  refusalBy,
  UndecodablePatchError,
  type WebhookAnswer,
} from './admission-response.ts';
import type { AdmissionAttributes } from './attributes.ts';
import { type CompiledWebhook, WebhookRegistry } from './compiled-webhook.ts';
import { WebhookCallError, WebhookClient, type WebhookClientOptions } from './webhook-client.ts';
import { isSelected, ruledResource, type Target } from './webhook-match.ts';

/** The webhook let the request continue, or could not be asked and its failures are ignored. */
export interface Consent {
  /** The operations to apply to the object. */
  readonly operations: readonly JsonPatchOperation[];
  /** The resource in whose version the webhook was asked. */
  readonly as: ServedResource;
}

export class Webhooks {
  readonly #resources: ResourceTable;
  readonly #random: Random;
  readonly #logger: Logger;
  readonly #client: WebhookClient;
  #registries: Readonly<Record<Phase, WebhookRegistry>> | undefined;
  #equivalents = new WeakMap<ServedResource, readonly ServedResource[]>();

  constructor(
    options: WebhookClientOptions & { readonly random: Random; readonly logger: Logger },
  ) {
    this.#resources = options.resources;
    this.#random = options.random;
    this.#logger = options.logger;
    this.#client = new WebhookClient(options);
    this.#resources.onChange(() => {
      this.#equivalents = new WeakMap();
    });
  }

  /** The webhooks with a rule for the target, in the order in which they are asked. */
  ruling(phase: Phase, target: Target): readonly CompiledWebhook[] {
    const all = this.#registry(phase).all();
    if (all.length === 0 || isExempt(target.of)) return NONE;
    return all.filter((hook) => this.#ruled(hook, target) !== undefined);
  }

  /**
   * Asks one webhook if it matches the request; undefined if it does not. Throws its refusal, or
   * 500 for a failed call under the failure policy `Fail`.
   */
  async ask(
    hook: CompiledWebhook,
    phase: Phase,
    attributes: AdmissionAttributes,
  ): Promise<Consent | undefined> {
    const as = this.#ruled(hook, attributes);
    if (as === undefined || !isSelected(hook, as, attributes, this.#resources)) return undefined;
    const { warn, signal } = attributes.requester;
    const { name, failurePolicy } = hook.webhook;
    const request = admissionRequest(attributes, as, this.#random.uuid());
    try {
      const mayPatch = phase === 'Mutating';
      const verdict = await this.#client.ask(hook, request, mayPatch, signal);
      verdict.warnings.forEach(warn);
      if (verdict.refusal !== undefined) throw refusalBy(name, verdict.refusal);
      return { as, operations: operationsOf(name, verdict) };
    } catch (error) {
      if (!(error instanceof WebhookCallError)) throw error;
      const isFatal = failurePolicy !== 'Ignore';
      const outcome = isFatal ? 'failing closed' : 'failing open';
      this.#logger.warn(`failed calling webhook, ${outcome}`, { webhook: name, err: error });
      if (isFatal) throw internalError(error.message, error);
      return { as, operations: [] };
    }
  }

  #ruled(hook: CompiledWebhook, target: Target): ServedResource | undefined {
    return ruledResource(hook, target, (of) => this.#equivalentsOf(of));
  }

  #equivalentsOf(of: ServedResource): readonly ServedResource[] {
    const known =
      this.#equivalents.get(of) ??
      [...this.#resources.all()].filter((one) => one !== of && one.collection === of.collection);
    this.#equivalents.set(of, known);
    return known;
  }

  #registry(phase: Phase): WebhookRegistry {
    this.#registries ??= {
      Mutating: this.#registryOf(MUTATING_WEBHOOK_CONFIGURATIONS),
      Validating: this.#registryOf(VALIDATING_WEBHOOK_CONFIGURATIONS),
    };
    return this.#registries[phase];
  }

  #registryOf({ group, version, plural }: Resource): WebhookRegistry {
    const of = this.#resources.get(group, version, plural);
    assert(of !== undefined, `the server serves ${plural}`);
    return new WebhookRegistry(of.collection);
  }
}

/** Throws `WebhookCallError` for a patch that cannot be read. */
function operationsOf(webhook: string, { patch }: WebhookAnswer): readonly JsonPatchOperation[] {
  if (patch === undefined) return [];
  try {
    return readPatchOperations(patch);
  } catch (error) {
    if (!(error instanceof UndecodablePatchError)) throw error;
    throw new WebhookCallError(webhook, error.message, error);
  }
}

export type Phase = 'Mutating' | 'Validating';

const NONE: readonly CompiledWebhook[] = [];

/**
 * Webhooks are not asked about webhook configurations: otherwise a broken one could never be
 * removed.
 */
function isExempt(of: ServedResource): boolean {
  return (
    of.group === MUTATING_WEBHOOK_CONFIGURATIONS.group &&
    (of.plural === MUTATING_WEBHOOK_CONFIGURATIONS.plural ||
      of.plural === VALIDATING_WEBHOOK_CONFIGURATIONS.plural)
  );
}
