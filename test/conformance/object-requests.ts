/**
 * ConfigMaps, for everything that is the same for all kinds: paths, media types, verbs, options.
 */
import { METADATA, NAMESPACE, type ScriptedRequest, TABLE } from './scripted-request.ts';

const CONFIG_MAPS = `${NAMESPACE}/configmaps`;

function configMap(name: string, more: object = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: '1' }, ...more };
}

export const OBJECT_REQUESTS: readonly ScriptedRequest[] = [
  // Paths and media types.
  { name: 'no such path', method: 'GET', path: '/nothing' },
  { name: 'no such group', method: 'GET', path: '/apis/none.example.com' },
  { name: 'no such resource', method: 'GET', path: `${NAMESPACE}/wheels` },
  { name: 'no such version', method: 'GET', path: '/apis/batch/v9/jobs' },
  { name: 'POST to an object', method: 'POST', path: `${CONFIG_MAPS}/a`, body: configMap('a') },
  { name: 'PUT to a collection', method: 'PUT', path: CONFIG_MAPS, body: configMap('a') },
  { name: 'no JSON', method: 'POST', path: CONFIG_MAPS, text: '{"kind":' },
  { name: 'no body', method: 'POST', path: CONFIG_MAPS, text: '' },
  { name: 'a list as body', method: 'POST', path: CONFIG_MAPS, text: '[]' },
  {
    name: 'an unknown media type',
    method: 'POST',
    path: CONFIG_MAPS,
    text: 'x',
    headers: { 'content-type': 'text/plain' },
  },
  { name: 'an unknown accept', method: 'GET', path: CONFIG_MAPS, headers: { accept: 'text/html' } },
  {
    name: 'another kind',
    method: 'POST',
    path: CONFIG_MAPS,
    body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } },
  },
  {
    name: 'another version',
    method: 'POST',
    path: CONFIG_MAPS,
    body: { apiVersion: 'v2', kind: 'ConfigMap', metadata: { name: 'a' } },
  },
  {
    name: 'another namespace',
    method: 'POST',
    path: CONFIG_MAPS,
    body: configMap('a', { metadata: { name: 'a', namespace: 'default' } }),
  },
  {
    name: 'a namespace that is not there',
    method: 'POST',
    path: '/api/v1/namespaces/nowhere/configmaps',
    body: configMap('a'),
  },

  // Create, read, list.
  { name: 'create', method: 'POST', path: CONFIG_MAPS, body: configMap('a') },
  { name: 'create again', method: 'POST', path: CONFIG_MAPS, body: configMap('a') },
  { name: 'a bad name', method: 'POST', path: CONFIG_MAPS, body: configMap('Not_A_Name') },
  { name: 'no name', method: 'POST', path: CONFIG_MAPS, body: { data: {} } },
  {
    name: 'bad labels and annotations',
    method: 'POST',
    path: CONFIG_MAPS,
    body: configMap('b', {
      metadata: { name: 'b', labels: { 'a b': 'c d' }, annotations: { 'x/y/z': '' } },
    }),
  },
  {
    name: 'a resourceVersion on create',
    method: 'POST',
    path: CONFIG_MAPS,
    body: configMap('b', { metadata: { name: 'b', resourceVersion: '1' } }),
  },
  {
    name: 'unknown and duplicate fields, strictly',
    method: 'POST',
    path: `${CONFIG_MAPS}?fieldValidation=Strict`,
    text: '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"b","nmae":"x"},"data":{},"dtaa":{},"dtaa":{}}',
  },
  {
    name: 'a wrong type',
    method: 'POST',
    path: CONFIG_MAPS,
    body: configMap('b', { data: { a: 1 } }),
  },
  {
    name: 'a bad fieldValidation',
    method: 'POST',
    path: `${CONFIG_MAPS}?fieldValidation=Maybe`,
    body: configMap('b'),
  },
  {
    name: 'a dry run',
    method: 'POST',
    path: `${CONFIG_MAPS}?dryRun=All`,
    body: configMap('dry', { metadata: { name: 'dry', labels: { x: 'y' } } }),
  },
  {
    name: 'a bad dry run',
    method: 'POST',
    path: `${CONFIG_MAPS}?dryRun=Some`,
    body: configMap('d'),
  },
  { name: 'get what a dry run made', method: 'GET', path: `${CONFIG_MAPS}/dry` },
  { name: 'get', method: 'GET', path: `${CONFIG_MAPS}/a` },
  { name: 'get metadata', method: 'GET', path: `${CONFIG_MAPS}/a`, headers: METADATA },
  { name: 'get a table', method: 'GET', path: `${CONFIG_MAPS}/a`, headers: TABLE },
  {
    name: 'create labelled',
    method: 'POST',
    path: CONFIG_MAPS,
    body: configMap('c', { metadata: { name: 'c', labels: { app: 'x' } } }),
  },
  { name: 'list by label', method: 'GET', path: `${CONFIG_MAPS}?labelSelector=app%3Dx` },
  { name: 'list by name', method: 'GET', path: `${CONFIG_MAPS}?fieldSelector=metadata.name%3Da` },
  { name: 'a bad label selector', method: 'GET', path: `${CONFIG_MAPS}?labelSelector=a+in` },
  { name: 'a bad field selector', method: 'GET', path: `${CONFIG_MAPS}?fieldSelector=a` },
  {
    name: 'an unknown field label',
    method: 'GET',
    path: `${CONFIG_MAPS}?fieldSelector=data.a%3D1`,
  },
  { name: 'a bad limit', method: 'GET', path: `${CONFIG_MAPS}?limit=x` },
  { name: 'a bad continue', method: 'GET', path: `${CONFIG_MAPS}?limit=1&continue=x` },
  { name: 'a bad resourceVersion', method: 'GET', path: `${CONFIG_MAPS}?resourceVersion=x` },
  {
    name: 'a match without a version',
    method: 'GET',
    path: `${CONFIG_MAPS}?resourceVersionMatch=Exact`,
  },
  { name: 'a bad watch version', method: 'GET', path: `${CONFIG_MAPS}?watch=1&resourceVersion=x` },
  {
    name: 'initial events without a match',
    method: 'GET',
    path: `${CONFIG_MAPS}?watch=1&sendInitialEvents=true`,
  },
];
