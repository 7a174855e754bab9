/** Schemas of `admissionregistration.k8s.io/v1`: which webhooks an API server asks, and about what. */

import { kind, LABEL_SELECTOR } from '../../kube/pod-schema/meta-schema.ts';
import {
  atomicList,
  bytes,
  defaulted,
  definitions,
  described,
  int32,
  mergeMap,
  string,
} from '../../kube/schema/builders.ts';

const registration = definitions('io.k8s.api.admissionregistration.v1');

const HTTPS_PORT = 443;
const DEFAULT_TIMEOUT_SECONDS = 10;

const SERVICE_REFERENCE = registration(
  'ServiceReference',
  {
    namespace: string(),
    name: string(),
    path: string('The path below which the webhook answers.'),
    port: defaulted(HTTPS_PORT, int32()),
  },
  { required: ['namespace', 'name'] },
);

const CLIENT_CONFIG = registration(
  'WebhookClientConfig',
  {
    url: string('Where the webhook is, as https://host:port/path; instead of service.'),
    service: SERVICE_REFERENCE,
    caBundle: bytes('Authorities, in PEM, of which one signed the certificate of the webhook.'),
  },
  { description: 'How the webhook is reached: exactly one of url and service.' },
);

const RULE = registration('RuleWithOperations', {
  operations: atomicList(string(), 'CREATE, UPDATE, DELETE, CONNECT, or * for all of them.'),
  apiGroups: atomicList(string()),
  apiVersions: atomicList(string()),
  resources: atomicList(string(), 'Such as pods, pods/status, pods/*, * or */*.'),
  scope: defaulted('*', string('Cluster, Namespaced, or * for both.')),
});

const MATCH_CONDITION = registration(
  'MatchCondition',
  {
    name: string(),
    expression: string('CEL over object, oldObject and request; all must be true.'),
  },
  { required: ['name', 'expression'] },
);

const WEBHOOK = {
  name: string('A domain of at least three segments, once in the configuration.'),
  clientConfig: CLIENT_CONFIG,
  rules: atomicList(RULE, 'The requests that the webhook is asked about.'),
  failurePolicy: defaulted('Fail', string('What a call that fails means: Fail or Ignore.')),
  matchPolicy: defaulted(
    'Equivalent',
    string('Whether other versions of a resource match: Exact or Equivalent.'),
  ),
  namespaceSelector: defaulted({}, LABEL_SELECTOR),
  objectSelector: defaulted({}, LABEL_SELECTOR),
  sideEffects: string('None or NoneOnDryRun.'),
  timeoutSeconds: defaulted(DEFAULT_TIMEOUT_SECONDS, int32('From 1 to 30.')),
  admissionReviewVersions: atomicList(string(), 'Of AdmissionReview, preferred ones first.'),
  matchConditions: mergeMap(['name'], MATCH_CONDITION),
};

const REQUIRED = ['name', 'clientConfig', 'sideEffects', 'admissionReviewVersions'] as const;

const VALIDATING_WEBHOOK = registration('ValidatingWebhook', WEBHOOK, { required: REQUIRED });

const MUTATING_WEBHOOK = registration(
  'MutatingWebhook',
  {
    ...WEBHOOK,
    reinvocationPolicy: defaulted(
      'Never',
      string('Whether it is asked again after others changed the object: Never or IfNeeded.'),
    ),
  },
  { required: REQUIRED },
);

export const VALIDATING_WEBHOOK_CONFIGURATION = kind(
  registration(
    'ValidatingWebhookConfiguration',
    { webhooks: described('Asked together.', mergeMap(['name'], VALIDATING_WEBHOOK)) },
    { description: 'Webhooks that may refuse requests.' },
  ),
);

export const MUTATING_WEBHOOK_CONFIGURATION = kind(
  registration(
    'MutatingWebhookConfiguration',
    { webhooks: described('Asked one after the other.', mergeMap(['name'], MUTATING_WEBHOOK)) },
    { description: 'Webhooks that may change objects, and refuse requests.' },
  ),
);
