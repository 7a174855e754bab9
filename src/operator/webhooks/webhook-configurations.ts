/**
 * The two configurations that make API servers call the operator, with every default spelled out so
 * that what is stored can be compared. They decide which Pods depend on the operator:
 * `docs/decisions/0006-pods-that-depend-on-the-operator.md` gives the reasons.
 */

import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import type { LabelSelector } from '@lockstep/kube/meta.ts';
import {
  MUTATING_WEBHOOK_CONFIGURATIONS,
  type MutatingWebhook,
  type MutatingWebhookConfiguration,
  VALIDATING_WEBHOOK_CONFIGURATIONS,
  type ValidatingWebhookConfiguration,
  type Webhook,
  type WebhookClientConfig,
  type WebhookRule,
} from '@lockstep/kube/objects/admission-webhooks.ts';
import { typeMetaOf } from '@lockstep/kube/resource.ts';
import type { ManagedScope } from '../../jobset/manager.ts';
import {
  EXCLUSIVE_TOPOLOGY,
  JOBSET_NAME,
  MANAGED_BY_LOCKSTEP,
  NODE_SELECTOR_STRATEGY,
  REPLACE_AFTER,
} from '../../jobset/names.ts';

/** Where API servers find the webhooks. */
export type WebhookAddress =
  | { readonly kind: 'Service'; readonly namespace: string; readonly name: string }
  /** `https://HOST:PORT`, without a path. */
  | { readonly kind: 'Url'; readonly url: string };

export interface WebhookSettings extends ManagedScope {
  readonly address: WebhookAddress;
  /** PEM of all authorities to trust. */
  readonly bundle: string;
  /** The namespaces in which the operator acts; absent: all. */
  readonly namespaces?: readonly string[] | undefined;
}

/** The paths at which the operator answers; all but the last are named as upstream's. */
export const WEBHOOK_PATHS = {
  mutateJobSet: '/mutate-jobset-x-k8s-io-v1alpha2-jobset',
  validateJobSet: '/validate-jobset-x-k8s-io-v1alpha2-jobset',
  mutatePod: '/mutate--v1-pod',
  validatePod: '/validate--v1-pod',
  avoidNodes: '/avoid-nodes--v1-pod',
} as const;

export const MUTATING_CONFIGURATION_NAME = 'lockstep-mutating-webhook-configuration';
export const VALIDATING_CONFIGURATION_NAME = 'lockstep-validating-webhook-configuration';

export function mutatingConfiguration(settings: WebhookSettings): MutatingWebhookConfiguration {
  const webhook = (path: string, of: Own): MutatingWebhook => ({
    ...webhookOf(settings, path, of),
    reinvocationPolicy: 'Never',
  });
  const { onlyManaged = false } = settings;
  // The webhooks of upstream's controller place all Pods, also of Lockstep's JobSets.
  const placement = [
    webhook(WEBHOOK_PATHS.mutatePod, { name: 'mpod.kb.io', ...EXCLUSIVE_PODS }),
    webhook(WEBHOOK_PATHS.mutatePod, { name: 'mpodpriority.kb.io', ...PODS_WITH_PRIORITY }),
  ];
  return {
    ...typeMetaOf(MUTATING_WEBHOOK_CONFIGURATIONS),
    metadata: { name: MUTATING_CONFIGURATION_NAME },
    webhooks: [
      webhook(WEBHOOK_PATHS.mutateJobSet, {
        name: 'mjobset.kb.io',
        rule: jobSets('CREATE', 'UPDATE'),
        ...(onlyManaged && { matchConditions: [matchOf(names('object'))] }),
      }),
      ...(onlyManaged ? [] : placement),
      webhook(WEBHOOK_PATHS.avoidNodes, { name: 'mpodnodes.kb.io', ...PODS_THAT_AVOID_NODES }),
    ],
  };
}

export function validatingConfiguration(settings: WebhookSettings): ValidatingWebhookConfiguration {
  const { onlyManaged = false } = settings;
  const ours = `${names('object')} || (oldObject != null && ${names('oldObject')})`;
  return {
    ...typeMetaOf(VALIDATING_WEBHOOK_CONFIGURATIONS),
    metadata: { name: VALIDATING_CONFIGURATION_NAME },
    webhooks: [
      webhookOf(settings, WEBHOOK_PATHS.validateJobSet, {
        name: 'vjobset.kb.io',
        rule: jobSets('CREATE', 'UPDATE'),
        ...(onlyManaged && { matchConditions: [matchOf(ours)] }),
      }),
      ...(onlyManaged
        ? []
        : [
            webhookOf(settings, WEBHOOK_PATHS.validatePod, {
              name: 'vpod.kb.io',
              ...EXCLUSIVE_PODS,
            }),
          ]),
    ],
  };
}

/**
 * The repaired webhooks of a live configuration, or undefined if they may stay. It repairs only the
 * operator's address and missing webhooks: a person may have changed other fields on purpose, such as
 * `failurePolicy` during an outage.
 */
export function repairedWebhooks<W extends Webhook>(
  current: readonly W[],
  wanted: readonly W[],
): readonly W[] | undefined {
  const repaired = [
    ...current.map((webhook) => {
      const own = wanted.find(({ name }) => name === webhook.name);
      return own === undefined ? webhook : { ...webhook, clientConfig: own.clientConfig };
    }),
    ...wanted.filter(({ name }) => current.every((webhook) => webhook.name !== name)),
  ];
  return deepEqual(repaired, current) ? undefined : repaired;
}

/**
 * The repaired webhooks of a configuration that others install: it sets only the authorities.
 */
export function trustingWebhooks<W extends Webhook>(
  current: readonly W[],
  bundle: string,
): readonly W[] | undefined {
  const caBundle = base64(bundle);
  if (current.every(({ clientConfig }) => clientConfig.caBundle === caBundle)) return undefined;
  return current.map((webhook) => ({
    ...webhook,
    clientConfig: { ...webhook.clientConfig, caBundle },
  }));
}

interface Own extends Pick<Webhook, 'name' | 'objectSelector' | 'matchConditions'> {
  readonly rule: WebhookRule;
  readonly failurePolicy?: 'Fail' | 'Ignore';
  readonly timeoutSeconds?: number;
}

/** Time for a question to the API and the answer, with a retry. */
const TIMEOUT_SECONDS = 10;
/** Requests that do not depend on the answer must not wait long for an operator that hangs. */
const IGNORED_TIMEOUT_SECONDS = 2;

function jobSets(...operations: WebhookRule['operations']): WebhookRule {
  return {
    operations,
    apiGroups: ['jobset.x-k8s.io'],
    apiVersions: ['v1alpha2'],
    resources: ['jobsets'],
    scope: '*',
  };
}

const NEW_PODS: WebhookRule = {
  operations: ['CREATE'],
  apiGroups: [''],
  apiVersions: ['v1'],
  resources: ['pods'],
  scope: '*',
};

const OF_JOBSETS: LabelSelector = {
  matchExpressions: [{ key: JOBSET_NAME, operator: 'Exists' }],
};

/** Whether a JobSet names us: in CEL, as `isManagedByUs` decides. */
function names(object: string): string {
  return `(has(${object}.spec) && has(${object}.spec.managedBy) && ${object}.spec.managedBy == '${MANAGED_BY_LOCKSTEP}')`;
}

function matchOf(expression: string): NonNullable<Webhook['matchConditions']>[number] {
  return { name: 'managed-by-lockstep', expression };
}

/** These Pods prefer other nodes than those that members of their group have left. */
const PODS_THAT_AVOID_NODES = {
  rule: NEW_PODS,
  objectSelector: {
    matchExpressions: [
      { key: JOBSET_NAME, operator: 'Exists' },
      { key: REPLACE_AFTER, operator: 'Exists' },
    ],
  },
  failurePolicy: 'Ignore',
  timeoutSeconds: IGNORED_TIMEOUT_SECONDS,
} as const;

const HAS_ANNOTATIONS = 'has(object.metadata.annotations)';
const IS_PLACED_BY_SELECTOR = `(${HAS_ANNOTATIONS} && '${NODE_SELECTOR_STRATEGY}' in object.metadata.annotations)`;
const IS_EXCLUSIVE = `(${HAS_ANNOTATIONS} && '${EXCLUSIVE_TOPOLOGY}' in object.metadata.annotations)`;

/** These Pods must not be created unless they were placed. */
const EXCLUSIVE_PODS = {
  rule: NEW_PODS,
  objectSelector: OF_JOBSETS,
  matchConditions: [
    { name: 'exclusive-placement', expression: `${IS_EXCLUSIVE} && !${IS_PLACED_BY_SELECTOR}` },
  ],
} as const;

/** These Pods get a label by which exclusive Pods keep away from them. */
const PODS_WITH_PRIORITY = {
  rule: NEW_PODS,
  objectSelector: OF_JOBSETS,
  matchConditions: [
    {
      name: 'no-exclusive-placement',
      expression: `!${IS_EXCLUSIVE} && !${IS_PLACED_BY_SELECTOR}`,
    },
    { name: 'priority', expression: 'has(object.spec.priority)' },
  ],
  failurePolicy: 'Ignore',
  timeoutSeconds: IGNORED_TIMEOUT_SECONDS,
} as const;

function webhookOf(settings: WebhookSettings, path: string, own: Own): Webhook {
  const { rule, ...named } = own;
  const { namespaces: values } = settings;
  return {
    failurePolicy: 'Fail',
    timeoutSeconds: TIMEOUT_SECONDS,
    objectSelector: {},
    ...named,
    clientConfig: clientConfig(settings, path),
    rules: [rule],
    namespaceSelector:
      values === undefined
        ? {}
        : { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values }] },
    matchPolicy: 'Equivalent',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
}

function clientConfig({ address, bundle }: WebhookSettings, path: string): WebhookClientConfig {
  const caBundle = base64(bundle);
  switch (address.kind) {
    case 'Url':
      return { url: `${address.url}${path}`, caBundle };
    case 'Service': {
      const { namespace, name } = address;
      return { service: { namespace, name, path, port: 443 }, caBundle };
    }
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
