/**
 * Which webhooks are asked about a request. Rules come first, in the version that the client used
 * or, if the webhook accepts equivalent ones, in any other. Then come selectors, then match
 * conditions, which see the request as the webhook would.
 */
import type { WebhookRule } from '@lockstep/kube/objects/admission-webhooks.ts';
import { type LabelRequirements, matchesLabels } from '@lockstep/kube/selectors/label-selector.ts';
import { forbidden, notFound } from '@lockstep/kube/status-errors.ts';
import type { ApiObject } from '../resources/api-object.ts';
import type { ResourceTable } from '../resources/resource-table.ts';
import type { ServedResource } from '../resources/served-resource.ts';
import { admissionRequest } from './admission-request.ts';
import { type AdmissionAttributes, isNamespace } from './attributes.ts';
import type { CompiledWebhook } from './compiled-webhook.ts';

/** The part of a request that rules match. */
export type Target = Pick<AdmissionAttributes, 'of' | 'operation' | 'subresource'>;

/** The served resources that show the same objects, such as other versions. */
export type Equivalents = (of: ServedResource) => readonly ServedResource[];

/** The resource in whose version the webhook is asked; undefined if no rule matches. */
export function ruledResource(
  { webhook }: CompiledWebhook,
  target: Target,
  equivalents: Equivalents,
): ServedResource | undefined {
  const { rules = [], matchPolicy } = webhook;
  if (rules.some((rule) => isRuled(rule, target))) return target.of;
  if (matchPolicy === 'Exact') return undefined;
  for (const rule of rules) {
    const found = equivalents(target.of).find((of) => isRuled(rule, { ...target, of }));
    if (found !== undefined) return found;
  }
  return undefined;
}

function isRuled(rule: WebhookRule, { of, operation, subresource = '' }: Target): boolean {
  const { scope = '*' } = rule;
  return (
    (scope === '*' || (scope === 'Namespaced') === of.namespaced) &&
    (rule.operations.includes(operation) || rule.operations.includes('*')) &&
    includes(rule.apiGroups, of.group) &&
    includes(rule.apiVersions, of.version) &&
    rule.resources.some((resource) => {
      const [name = '', part = ''] = resource.split('/', 2);
      return (name === '*' || name === of.plural) && (part === '*' || part === subresource);
    })
  );
}

function includes(values: readonly string[], value: string): boolean {
  return values.includes('*') || values.includes(value);
}

/**
 * Whether selectors and conditions match too. Throws 404 for a missing namespace, and 403 for a
 * failing condition if the failure policy refuses.
 */
export function isSelected(
  hook: CompiledWebhook,
  as: ServedResource,
  attributes: AdmissionAttributes,
  resources: ResourceTable,
): boolean {
  return (
    matchesObject(hook.objectSelector, attributes) &&
    matchesNamespace(hook.namespaceSelector, attributes, resources) &&
    matchesConditions(hook, as, attributes)
  );
}

/** Either state of the object may match, so that removing a label does not avoid the webhook. */
function matchesObject(
  selector: LabelRequirements,
  { object, oldObject }: AdmissionAttributes,
): boolean {
  const matches = (state: ApiObject | undefined): boolean =>
    state !== undefined && matchesLabels(selector, state.metadata.labels);
  return selector.length === 0 || matches(object) || matches(oldObject);
}

/** A namespace selector never exempts what is in no namespace. */
function matchesNamespace(
  selector: LabelRequirements,
  attributes: AdmissionAttributes,
  resources: ResourceTable,
): boolean {
  const { of, object, namespace = '', operation, subresource } = attributes;
  if (selector.length === 0 || (namespace === '' && !isNamespace(of))) return true;
  const isOwn = isNamespace(of) && subresource === undefined && operation !== 'DELETE';
  if (isOwn) return matchesLabels(selector, object?.metadata.labels);
  const namespaces = resources.core('namespaces');
  const entry = namespaces.collection.get(namespace);
  if (entry === undefined) throw notFound(namespaces, namespace);
  return matchesLabels(selector, entry.object.metadata.labels);
}

/** One false condition decides; failures count only if there is none. */
function matchesConditions(
  { conditions, webhook }: CompiledWebhook,
  as: ServedResource,
  attributes: AdmissionAttributes,
): boolean {
  if (conditions.length === 0) return true;
  const { object, oldObject, ...request } = admissionRequest(attributes, as, '');
  const bindings = { object, oldObject, request };
  const failures: string[] = [];
  for (const { source, compiled } of conditions) {
    const result =
      compiled.kind === 'Invalid'
        ? ({ kind: 'Error', message: compiled.message } as const)
        : compiled.expression.evaluate(bindings);
    if (result.kind === 'Value' && result.value === false) return false;
    if (result.kind === 'Value' && result.value === true) continue;
    const why = result.kind === 'Error' ? result.message : 'must evaluate to bool';
    failures.push(`expression '${source}' resulted in error: ${why}`);
  }
  if (failures.length === 0) return true;
  if (webhook.failurePolicy === 'Ignore') return false;
  const why = failures.length === 1 ? (failures[0] ?? '') : `[${failures.join(', ')}]`;
  throw forbidden(attributes.of, attributes.name, why);
}
