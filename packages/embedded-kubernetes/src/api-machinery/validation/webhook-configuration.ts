/**
 * Defaults and validation of `admissionregistration.k8s.io/v1` MutatingWebhookConfiguration and
 * ValidatingWebhookConfiguration. They differ only in that a mutating webhook may be called again.
 */

import {
  duplicate,
  invalidValue,
  notSupported,
  required,
  tooMany,
} from '@lockstep/kube/field-error.ts';
import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import type { KubeObject } from '@lockstep/kube/meta.ts';
import {
  dns1035LabelErrors,
  dns1123SubdomainErrors,
  qualifiedNameErrors,
} from '@lockstep/kube/name-rules.ts';
import type { MutatingWebhook, Webhook } from '@lockstep/kube/objects/admission-webhooks.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { labelSelectorErrors } from './label-selector.ts';
import { compileMatchCondition } from './match-condition.ts';
import { withDefaults, withItems } from './members.ts';
import { objectMetaErrors, objectMetaUpdateErrors } from './object-meta.ts';
import { webhookClientErrors } from './webhook-client.ts';
import { webhookRuleErrors } from './webhook-rule.ts';

/** Either kind of configuration. */
export interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly (Webhook | MutatingWebhook)[];
}

/**
 * Fills missing required members with the values that Go reads for them, so that the rules below
 * can say what is expected.
 */
export function defaultWebhookConfiguration<T extends JsonObject>(configuration: T): T {
  return withItems(configuration, 'webhooks', (webhook) => {
    const whole = withDefaults(webhook, {
      name: '',
      clientConfig: {},
      sideEffects: '',
      admissionReviewVersions: [],
    });
    const ruled = withItems(whole, 'rules', (rule) =>
      withDefaults(rule, { operations: [], apiGroups: [], apiVersions: [], resources: [] }),
    );
    return withItems(ruled, 'matchConditions', (condition) =>
      withDefaults(condition, { name: '', expression: '' }),
    );
  });
}

export function webhookConfigurationErrors(configuration: WebhookConfiguration): FieldError[] {
  return [...objectMetaErrors(configuration.metadata, METADATA), ...webhooksErrors(configuration)];
}

export function webhookConfigurationUpdateErrors(
  configuration: WebhookConfiguration,
  before: WebhookConfiguration,
): FieldError[] {
  return [
    ...objectMetaUpdateErrors(configuration.metadata, before.metadata, METADATA),
    ...webhooksErrors(configuration),
  ];
}

const METADATA = { namespaced: false, nameRule: dns1123SubdomainErrors } as const;

function webhooksErrors({ webhooks = [] }: WebhookConfiguration): FieldError[] {
  const names = new Set<string>();
  return webhooks.flatMap((webhook, at) => {
    const path = `webhooks[${at}]`;
    const { name, admissionReviewVersions } = webhook;
    const errors = [
      ...webhookErrors(webhook, path),
      ...reviewVersionErrors(admissionReviewVersions, `${path}.admissionReviewVersions`),
    ];
    if (name !== '' && names.has(name)) errors.push(duplicate(`${path}.name`, name));
    names.add(name);
    return errors;
  });
}

/** The supported values of each choice, in the order in which refusals list them. */
const CHOICES = {
  failurePolicy: ['Fail', 'Ignore'],
  matchPolicy: ['Equivalent', 'Exact'],
  reinvocationPolicy: ['IfNeeded', 'Never'],
  sideEffects: ['None', 'NoneOnDryRun'],
} as const;

const MAX_TIMEOUT_SECONDS = 30;

function webhookErrors(webhook: Webhook | MutatingWebhook, path: string): FieldError[] {
  const { name, rules = [], timeoutSeconds = 1, namespaceSelector, objectSelector } = webhook;
  const { matchConditions = [], clientConfig } = webhook;
  const isTimely = timeoutSeconds >= 1 && timeoutSeconds <= MAX_TIMEOUT_SECONDS;
  const detail = `the timeout value must be between 1 and ${MAX_TIMEOUT_SECONDS} seconds`;
  return [
    ...fullNameErrors(name, `${path}.name`),
    ...rules.flatMap((rule, at) => webhookRuleErrors(rule, `${path}.rules[${at}]`)),
    ...choiceErrors(webhook, 'failurePolicy', path),
    ...choiceErrors(webhook, 'matchPolicy', path),
    ...sideEffectErrors(webhook, path),
    ...(isTimely ? [] : [invalidValue(`${path}.timeoutSeconds`, timeoutSeconds, detail)]),
    ...labelSelectorErrors(namespaceSelector ?? {}, `${path}.namespaceSelector`),
    ...labelSelectorErrors(objectSelector ?? {}, `${path}.objectSelector`),
    ...choiceErrors(webhook, 'reinvocationPolicy', path),
    ...webhookClientErrors(clientConfig, `${path}.clientConfig`),
    ...matchConditionsErrors(matchConditions, `${path}.matchConditions`),
  ];
}

function choiceErrors(
  webhook: Webhook | MutatingWebhook,
  member: keyof typeof CHOICES,
  path: string,
): FieldError[] {
  const { [member]: value }: Partial<Record<keyof typeof CHOICES, string>> = webhook;
  const allowed: readonly string[] = CHOICES[member];
  return value === undefined || allowed.includes(value)
    ? []
    : [notSupported(`${path}.${member}`, value, CHOICES[member])];
}

function sideEffectErrors(webhook: Webhook, path: string): FieldError[] {
  const given: string = webhook.sideEffects;
  if (given !== '') return choiceErrors(webhook, 'sideEffects', path);
  const detail = `must specify one of ${CHOICES.sideEffects.join(', ')}`;
  return [required(`${path}.sideEffects`, detail)];
}

const LEAST_SEGMENTS = 3;

/** The name of a webhook is a domain of its owner, so that no two collide. */
function fullNameErrors(name: string, path: string): FieldError[] {
  if (name === '') return [required(path)];
  const complaints = dns1123SubdomainErrors(name);
  if (complaints.length > 0) return [invalidValue(path, name, complaints.join(','))];
  if (name.split('.').length >= LEAST_SEGMENTS) return [];
  const detail = 'should be a domain with at least three segments separated by dots';
  return [invalidValue(path, name, detail)];
}

/** Versions of AdmissionReview; this server speaks the first. */
const REVIEW_VERSIONS: readonly string[] = ['v1', 'v1beta1'];

function reviewVersionErrors(versions: readonly string[], path: string): FieldError[] {
  if (versions.length === 0) {
    return [required(path, `must specify one of ${REVIEW_VERSIONS.join(', ')}`)];
  }
  const errors = versions.flatMap((version, at) => {
    const field = `${path}[${at}]`;
    if (versions.indexOf(version) < at) return [invalidValue(field, version, 'duplicate version')];
    return dns1035LabelErrors(version).map((text) => invalidValue(field, version, text));
  });
  if (versions.some((version) => REVIEW_VERSIONS.includes(version))) return errors;
  const detail = `must include at least one of ${REVIEW_VERSIONS.join(', ')}`;
  return [...errors, invalidValue(path, versions, detail)];
}

const MAX_MATCH_CONDITIONS = 64;

function matchConditionsErrors(
  conditions: NonNullable<Webhook['matchConditions']>,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  if (conditions.length > MAX_MATCH_CONDITIONS) {
    errors.push(tooMany(path, conditions.length, MAX_MATCH_CONDITIONS));
  }
  const names = new Set<string>();
  conditions.slice(0, MAX_MATCH_CONDITIONS).forEach(({ name, expression }, at) => {
    const field = `${path}[${at}]`;
    errors.push(...expressionErrors(expression.trim(), `${field}.expression`));
    if (name === '') errors.push(required(`${field}.name`));
    else
      errors.push(
        ...qualifiedNameErrors(name).map((text) => invalidValue(`${field}.name`, name, text)),
      );
    if (name !== '' && names.has(name)) errors.push(duplicate(`${field}.name`, name));
    names.add(name);
  });
  return errors;
}

function expressionErrors(expression: string, path: string): FieldError[] {
  if (expression === '') return [required(path)];
  const compiled = compileMatchCondition(expression);
  return compiled.kind === 'Invalid' ? [invalidValue(path, expression, compiled.message)] : [];
}
