/** Evictions, bindings, tokens and reviews: requests that create objects which are never stored. */
import { NAMESPACE, PODS, type ScriptedRequest } from './scripted-request.ts';

const AUTHORIZATION = '/apis/authorization.k8s.io/v1';
const AUTHENTICATION = '/apis/authentication.k8s.io/v1';

function asked(name: string, path: string, kind: string, spec: object): ScriptedRequest {
  const [, , group = '', version = ''] = path.split('/');
  const apiVersion = `${group}/${version}`;
  return { name, method: 'POST', path, body: { apiVersion, kind, metadata: {}, spec } };
}

function eviction(name: string, metadata: object, deleteOptions?: object): ScriptedRequest {
  return {
    name,
    method: 'POST',
    path: `${PODS}/evicted/eviction`,
    body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata, deleteOptions },
  };
}

const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'evicted' },
  spec: { schedulerName: 'nobody', containers: [{ name: 'main', image: 'none' }] },
};

function token(name: string, spec: object, account = 'default'): ScriptedRequest {
  return {
    name,
    method: 'POST',
    path: `${NAMESPACE}/serviceaccounts/${account}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec },
  };
}

const RESOURCE = { verb: 'get', resource: 'pods', namespace: 'conformance' };
const SUBJECT = `${AUTHORIZATION}/subjectaccessreviews`;
const SELF = `${AUTHORIZATION}/selfsubjectaccessreviews`;

export const ACCESS_REQUESTS: readonly ScriptedRequest[] = [
  eviction('evict what is not there', { name: 'evicted' }),
  {
    name: 'a Pod to evict',
    method: 'POST',
    path: `${PODS}?dryRun=All`,
    body: {
      ...POD,
      metadata: { name: 'dry' },
      spec: { ...POD.spec, automountServiceAccountToken: false },
    },
  },
  {
    name: 'a Pod of no account',
    method: 'POST',
    path: PODS,
    body: { ...POD, spec: { ...POD.spec, serviceAccountName: 'nobody' } },
  },
  {
    name: 'a Pod of no class',
    method: 'POST',
    path: PODS,
    body: { ...POD, spec: { ...POD.spec, priorityClassName: 'none' } },
  },
  {
    name: 'the Pod',
    method: 'POST',
    path: PODS,
    body: { ...POD, spec: { ...POD.spec, automountServiceAccountToken: false } },
  },
  eviction('evict another', { name: 'other' }),
  eviction('evict in a dry run', { name: 'evicted' }, { dryRun: ['All'] }),
  eviction('evict', { name: 'evicted', namespace: 'conformance' }, { gracePeriodSeconds: 0 }),
  eviction('evict again', { name: 'evicted' }),
  { name: 'resize what is not there', method: 'GET', path: `${PODS}/evicted/resize` },
  {
    name: 'containers of what is not there',
    method: 'GET',
    path: `${PODS}/evicted/ephemeralcontainers`,
  },
  { name: 'a subresource that there is not', method: 'GET', path: `${PODS}/evicted/wheels` },
  { name: 'get an eviction', method: 'GET', path: `${PODS}/evicted/eviction` },
  { name: 'the log of what is not there', method: 'GET', path: `${PODS}/evicted/log` },

  token('a token', { audiences: ['somebody'], expirationSeconds: 600 }),
  token('a token that is short', { expirationSeconds: 5 }),
  token('a token of what is not there', {}, 'nobody'),
  token('a token for a Pod that is not there', {
    boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'evicted' },
  }),

  asked('may I', SELF, 'SelfSubjectAccessReview', { resourceAttributes: RESOURCE }),
  asked('may I look', SELF, 'SelfSubjectAccessReview', {
    nonResourceAttributes: { path: '/version', verb: 'get' },
  }),
  asked('may I do nothing', SELF, 'SelfSubjectAccessReview', {}),
  asked('may I do both', SELF, 'SelfSubjectAccessReview', {
    resourceAttributes: RESOURCE,
    nonResourceAttributes: { path: '/version', verb: 'get' },
  }),
  asked('may an administrator', SUBJECT, 'SubjectAccessReview', {
    user: 'root',
    groups: ['system:masters'],
    resourceAttributes: RESOURCE,
  }),
  asked('may nobody', SUBJECT, 'SubjectAccessReview', { resourceAttributes: RESOURCE }),
  asked('a bad token', `${AUTHENTICATION}/tokenreviews`, 'TokenReview', { token: 'x' }),
  asked('no token', `${AUTHENTICATION}/tokenreviews`, 'TokenReview', {}),
  { name: 'get a review', method: 'GET', path: SELF },
];
