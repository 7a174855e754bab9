/**
 * Validates `admissionregistration.k8s.io/v1 RuleWithOperations`: the requests that a webhook
 * receives.
 */

import { invalidValue, notSupported, required } from '@lockstep/kube/field-error.ts';
import type { WebhookRule } from '@lockstep/kube/objects/admission-webhooks.ts';
import type { FieldError } from '@lockstep/kube/status.ts';

/** In the order in which refusals list them. */
const OPERATIONS: readonly string[] = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const SCOPES: readonly string[] = ['*', 'Cluster', 'Namespaced'];

export function webhookRuleErrors(rule: WebhookRule, path: string): FieldError[] {
  const { operations, apiGroups, apiVersions, resources, scope = '*' } = rule;
  return [
    ...listErrors(operations, `${path}.operations`, 'operations'),
    ...operations.flatMap((operation, at) =>
      OPERATIONS.includes(operation)
        ? []
        : [notSupported(`${path}.operations[${at}]`, operation, OPERATIONS)],
    ),
    ...listErrors(apiGroups, `${path}.apiGroups`, 'API groups'),
    ...listErrors(apiVersions, `${path}.apiVersions`, 'API versions'),
    ...apiVersions.flatMap((version, at) =>
      version === '' ? [required(`${path}.apiVersions[${at}]`)] : [],
    ),
    ...resourcesErrors(resources, `${path}.resources`),
    ...(SCOPES.includes(scope) ? [] : [notSupported(`${path}.scope`, scope, SCOPES)]),
  ];
}

/** A list that must not be empty, and in which `*` must be alone. */
function listErrors(values: readonly string[], path: string, what: string): FieldError[] {
  if (values.length === 0) return [required(path)];
  if (values.length === 1 || !values.includes('*')) return [];
  return [invalidValue(path, values, `if '*' is present, must not specify other ${what}`)];
}

function resourcesErrors(resources: readonly string[], path: string): FieldError[] {
  const errors: FieldError[] = resources.length === 0 ? [required(path)] : [];
  /** Holds `pods` for `pods/*`, and `status` for `*`/`status`. */
  const whole = new Set<string>();
  const everywhere = new Set<string>();
  resources.forEach((resource, at) => {
    const field = `${path}[${at}]`;
    const slash = resource.indexOf('/');
    if (resource === '') errors.push(required(field));
    if (slash < 0) return;
    const [name, subresource] = [resource.slice(0, slash), resource.slice(slash + 1)];
    const repeats = (pattern: string): FieldError =>
      invalidValue(field, resource, `if '${pattern}' is present, must not specify ${resource}`);
    if (whole.has(name)) errors.push(repeats(`${name}/*`));
    if (everywhere.has(subresource)) errors.push(repeats(`*/${subresource}`));
    if (subresource === '*') whole.add(name);
    if (name === '*') everywhere.add(subresource);
  });
  if (resources.length > 1 && resources.includes('*/*')) {
    const detail = "if '*/*' is present, must not specify other resources";
    errors.push(invalidValue(path, resources, detail));
  }
  // As in upstream, only the last resource without a subresource counts.
  const plain = resources.filter((each) => each !== '' && !each.includes('/')).at(-1) ?? '*';
  if (resources.includes('*') && plain !== '*') {
    const detail = "if '*' is present, must not specify other resources without subresources";
    errors.push(invalidValue(path, resources, detail));
  }
  return errors;
}
