/**
 * Schemas of requests that are answered and not stored: tokens, and who may do what
 * (`authentication.k8s.io/v1`, `authorization.k8s.io/v1`).
 */

import {
  FIELD_SELECTOR_REQUIREMENT,
  kind,
  LABEL_SELECTOR_REQUIREMENT,
} from '../../kube/pod-schema/meta-schema.ts';
import {
  atomicList,
  boolean,
  defaulted,
  definitions,
  int64,
  list,
  map,
  string,
  time,
} from '../../kube/schema/builders.ts';

const authentication = definitions('io.k8s.api.authentication.v1');
const authorization = definitions('io.k8s.api.authorization.v1');

const BOUND_OBJECT_REFERENCE = authentication('BoundObjectReference', {
  kind: string(),
  apiVersion: string(),
  name: string(),
  uid: string(),
});

const TOKEN_REQUEST_SPEC = authentication('TokenRequestSpec', {
  audiences: atomicList(string()),
  expirationSeconds: int64(),
  boundObjectRef: BOUND_OBJECT_REFERENCE,
});

const TOKEN_REQUEST_STATUS = authentication('TokenRequestStatus', {
  token: string(),
  expirationTimestamp: time(),
});

export const TOKEN_REQUEST = kind(
  authentication('TokenRequest', { spec: TOKEN_REQUEST_SPEC, status: TOKEN_REQUEST_STATUS }),
);

const USER_INFO = authentication('UserInfo', {
  username: string(),
  uid: string(),
  groups: atomicList(string()),
  extra: map(list(string())),
});

const TOKEN_REVIEW_SPEC = authentication(
  'TokenReviewSpec',
  { token: string(), audiences: atomicList(string()) },
  { required: ['token'] },
);

const TOKEN_REVIEW_STATUS = authentication('TokenReviewStatus', {
  authenticated: boolean(),
  user: USER_INFO,
  audiences: atomicList(string()),
  error: string(),
});

export const TOKEN_REVIEW = kind(
  authentication(
    'TokenReview',
    { spec: TOKEN_REVIEW_SPEC, status: TOKEN_REVIEW_STATUS },
    { required: ['spec'] },
  ),
);

const SELF_SUBJECT_REVIEW_STATUS = authentication('SelfSubjectReviewStatus', {
  userInfo: USER_INFO,
});

export const SELF_SUBJECT_REVIEW = kind(
  authentication('SelfSubjectReview', { status: SELF_SUBJECT_REVIEW_STATUS }),
);

const FIELD_SELECTOR_ATTRIBUTES = authorization('FieldSelectorAttributes', {
  rawSelector: string(),
  requirements: atomicList(FIELD_SELECTOR_REQUIREMENT),
});

const LABEL_SELECTOR_ATTRIBUTES = authorization('LabelSelectorAttributes', {
  rawSelector: string(),
  requirements: atomicList(LABEL_SELECTOR_REQUIREMENT),
});

const RESOURCE_ATTRIBUTES = authorization('ResourceAttributes', {
  namespace: string(),
  verb: string(),
  group: string(),
  version: string(),
  resource: string(),
  subresource: string(),
  name: string(),
  fieldSelector: FIELD_SELECTOR_ATTRIBUTES,
  labelSelector: LABEL_SELECTOR_ATTRIBUTES,
});

const NON_RESOURCE_ATTRIBUTES = authorization('NonResourceAttributes', {
  path: string(),
  verb: string(),
});

const SUBJECT_ACCESS_REVIEW_STATUS = authorization(
  'SubjectAccessReviewStatus',
  {
    allowed: defaulted(false, boolean()),
    denied: boolean(),
    reason: string(),
    evaluationError: string(),
  },
  { required: ['allowed'] },
);

const SUBJECT_ACCESS_REVIEW_SPEC = authorization('SubjectAccessReviewSpec', {
  resourceAttributes: RESOURCE_ATTRIBUTES,
  nonResourceAttributes: NON_RESOURCE_ATTRIBUTES,
  user: string(),
  groups: atomicList(string()),
  extra: map(list(string())),
  uid: string(),
});

export const SUBJECT_ACCESS_REVIEW = kind(
  authorization(
    'SubjectAccessReview',
    {
      spec: SUBJECT_ACCESS_REVIEW_SPEC,
      status: SUBJECT_ACCESS_REVIEW_STATUS,
    },
    { required: ['spec'] },
  ),
);

const SELF_SUBJECT_ACCESS_REVIEW_SPEC = authorization('SelfSubjectAccessReviewSpec', {
  resourceAttributes: RESOURCE_ATTRIBUTES,
  nonResourceAttributes: NON_RESOURCE_ATTRIBUTES,
});

export const SELF_SUBJECT_ACCESS_REVIEW = kind(
  authorization(
    'SelfSubjectAccessReview',
    {
      spec: SELF_SUBJECT_ACCESS_REVIEW_SPEC,
      status: SUBJECT_ACCESS_REVIEW_STATUS,
    },
    { required: ['spec'] },
  ),
);

const RESOURCE_RULE = authorization(
  'ResourceRule',
  {
    verbs: atomicList(string()),
    apiGroups: atomicList(string()),
    resources: atomicList(string()),
    resourceNames: atomicList(string()),
  },
  { required: ['verbs'] },
);

const NON_RESOURCE_RULE = authorization(
  'NonResourceRule',
  {
    verbs: atomicList(string()),
    nonResourceURLs: atomicList(string()),
  },
  { required: ['verbs'] },
);

const SUBJECT_RULES_REVIEW_STATUS = authorization(
  'SubjectRulesReviewStatus',
  {
    resourceRules: atomicList(RESOURCE_RULE),
    nonResourceRules: atomicList(NON_RESOURCE_RULE),
    incomplete: boolean(),
    evaluationError: string(),
  },
  { required: ['resourceRules', 'nonResourceRules', 'incomplete'] },
);

const SELF_SUBJECT_RULES_REVIEW_SPEC = authorization('SelfSubjectRulesReviewSpec', {
  namespace: string(),
});

export const SELF_SUBJECT_RULES_REVIEW = kind(
  authorization(
    'SelfSubjectRulesReview',
    {
      spec: SELF_SUBJECT_RULES_REVIEW_SPEC,
      status: SUBJECT_RULES_REVIEW_STATUS,
    },
    { required: ['spec'] },
  ),
);
