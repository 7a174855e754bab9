/**
 * The order of admission for a write. First the server's own admission and the mutating webhooks;
 * then the object is completed and validated; then the validating webhooks.
 */
import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import { applyJsonPatch } from '@lockstep/kube/patch/json-patch.ts';
import { quote } from '@lockstep/kube/quote.ts';
import { ApiStatusError } from '@lockstep/kube/status.ts';
import { internalError } from '@lockstep/kube/status-errors.ts';
import type { ServerState } from '../calls/server-state.ts';
import { receive } from '../http/receive.ts';
import type { ApiObject } from '../resources/api-object.ts';
import { forWebhook, fromWebhook } from '../webhooks/admission-request.ts';
import type { AdmissionAttributes } from '../webhooks/attributes.ts';
import type { CompiledWebhook } from '../webhooks/compiled-webhook.ts';
import type { Target } from '../webhooks/webhook-match.ts';
import type { Consent } from '../webhooks/webhooks.ts';
import { admitNew } from './built-in-admission.ts';

/** Whether any webhook may have to be asked about such requests, whatever they contain. */
export function concernsWebhooks({ webhooks }: ServerState, target: Target): boolean {
  return (
    webhooks.ruling('Mutating', target).length > 0 ||
    webhooks.ruling('Validating', target).length > 0
  );
}

/**
 * The object after mutating admission. If webhooks changed it, the server's own admission runs
 * again, and then, once, the webhooks that ask for reinvocation.
 */
export async function mutate(
  server: ServerState,
  attributes: AdmissionAttributes,
  object: ApiObject,
): Promise<ApiObject> {
  const hooks = server.webhooks.ruling('Mutating', attributes);
  const admitted = admittedByServer(server, attributes, object);
  if (hooks.length === 0) return admitted;
  const first = new Round();
  const complete = completed(attributes, admitted);
  const changed = await throughWebhooks(server, hooks, attributes, complete, first);
  if (!first.hasChanged) return changed;
  const again = admittedByServer(server, attributes, changed);
  if (!deepEqual(again, changed)) first.requireEarlier();
  return throughWebhooks(server, hooks, attributes, again, first.next());
}

/** Asks all webhooks whether an object may be deleted; their patches are ignored. */
export async function admitDeletion(
  server: ServerState,
  attributes: AdmissionAttributes,
): Promise<void> {
  for (const hook of server.webhooks.ruling('Mutating', attributes)) {
    const consent = await server.webhooks.ask(hook, 'Mutating', attributes);
    if (consent === undefined || consent.operations.length === 0) continue;
    const why = 'attempted to modify the object, which is not supported for this operation';
    throw internalError(`admission webhook ${quote(hook.webhook.name)} ${why}`);
  }
  await validate(server, attributes);
}

/** Asks the validating webhooks, all at once. The refusal of the first one in order counts. */
export async function validate(
  server: ServerState,
  attributes: AdmissionAttributes,
): Promise<void> {
  const hooks = server.webhooks.ruling('Validating', attributes);
  if (hooks.length === 0) return;
  const answers = await Promise.allSettled(
    hooks.map((hook) => server.webhooks.ask(hook, 'Validating', attributes)),
  );
  for (const answer of answers) if (answer.status === 'rejected') throw answer.reason;
}

function admittedByServer(
  server: ServerState,
  { of, operation, subresource, namespace }: AdmissionAttributes,
  object: ApiObject,
): ApiObject {
  const isNew = operation === 'CREATE' && subresource === undefined;
  return isNew ? admitNew(server, { of, namespace, object }) : object;
}

/** Fills in defaults for webhooks to see, including those that a schema cannot express. */
function completed({ of, kind }: AdmissionAttributes, object: ApiObject): ApiObject {
  return kind === undefined ? of.strategy.defaults(object) : object;
}

async function throughWebhooks(
  server: ServerState,
  hooks: readonly CompiledWebhook[],
  attributes: AdmissionAttributes,
  start: ApiObject,
  round: Round,
): Promise<ApiObject> {
  let object = start;
  for (const hook of hooks) {
    if (!round.includes(hook)) continue;
    const consent = await server.webhooks.ask(hook, 'Mutating', { ...attributes, object });
    if (consent === undefined) continue;
    const changed = patched(attributes, object, consent);
    if (!deepEqual(changed, object)) round.requireEarlier();
    round.remember(hook);
    object = changed;
  }
  return object;
}

/**
 * Keeps track of which webhooks to ask again: those that want it and ran before one that changed
 * the object.
 */
class Round {
  readonly #required: Set<string> | undefined;
  readonly #earlier = new Set<string>();
  readonly #later = new Set<string>();
  hasChanged = false;

  constructor(required?: Set<string>) {
    this.#required = required;
  }

  includes({ id }: CompiledWebhook): boolean {
    return this.#required === undefined || this.#required.has(id);
  }

  remember({ id, webhook }: CompiledWebhook): void {
    if (webhook.reinvocationPolicy === 'IfNeeded') this.#earlier.add(id);
  }

  requireEarlier(): void {
    this.hasChanged = true;
    for (const id of this.#earlier) this.#later.add(id);
    this.#earlier.clear();
  }

  next(): Round {
    return new Round(this.#later);
  }
}

/**
 * The object after a webhook's patch: pruned, completed and checked, as if a client had sent it.
 */
function patched(attributes: AdmissionAttributes, object: ApiObject, consent: Consent): ApiObject {
  const { as, operations } = consent;
  if (operations.length === 0) return object;
  try {
    const result = applyJsonPatch(forWebhook(attributes, as, object), operations);
    if (!isJsonObject(result)) throw internalError('a patch made something else of an object');
    const body = { object: result, duplicates: [] };
    const received = receive(attributes.kind ?? as, body, 'Ignore', {
      warn: () => undefined,
    });
    return completed(attributes, fromWebhook(attributes, as, received));
  } catch (error) {
    if (!(error instanceof ApiStatusError) || error.reason === 'InternalError') throw error;
    throw internalError(error.message, error);
  }
}
