/** Updates, patches and deletions of the ConfigMaps of `object-requests.ts`. */
import {
  JSON_PATCH,
  MERGE,
  NAMESPACE,
  type ScriptedRequest,
  STRATEGIC,
} from './scripted-request.ts';

const CONFIG_MAPS = `${NAMESPACE}/configmaps`;

function configMap(name: string, more: object = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: '1' }, ...more };
}

export const CHANGE_REQUESTS: readonly ScriptedRequest[] = [
  // Update, patch.
  {
    name: 'update without a version',
    method: 'PUT',
    path: `${CONFIG_MAPS}/a`,
    body: configMap('a', { data: { a: '2' } }),
  },
  {
    name: 'update of an old version',
    method: 'PUT',
    path: `${CONFIG_MAPS}/a`,
    body: configMap('a', { metadata: { name: 'a', resourceVersion: '1' } }),
  },
  { name: 'update another name', method: 'PUT', path: `${CONFIG_MAPS}/a`, body: configMap('z') },
  {
    name: 'update what is not there',
    method: 'PUT',
    path: `${CONFIG_MAPS}/z`,
    body: configMap('z'),
  },
  {
    name: 'update with another UID',
    method: 'PUT',
    path: `${CONFIG_MAPS}/a`,
    body: configMap('a', { metadata: { name: 'a', uid: 'other' } }),
  },
  {
    name: 'merge patch',
    method: 'PATCH',
    path: `${CONFIG_MAPS}/a`,
    headers: MERGE,
    body: { data: { a: null, b: '3' } },
  },
  {
    name: 'merge patch of the name',
    method: 'PATCH',
    path: `${CONFIG_MAPS}/a`,
    headers: MERGE,
    body: { metadata: { name: 'b' } },
  },
  {
    name: 'merge patch that is a list',
    method: 'PATCH',
    path: `${CONFIG_MAPS}/a`,
    headers: MERGE,
    body: [],
  },
  {
    name: 'merge patch to a wrong type',
    method: 'PATCH',
    path: `${CONFIG_MAPS}/a`,
    headers: MERGE,
    body: { data: 'x' },
  },
  {
    name: 'merge patch of another version',
    method: 'PATCH',
    path: `${CONFIG_MAPS}/a`,
    headers: MERGE,
    body: { metadata: { resourceVersion: '1' } },
  },
  {
    name: 'merge patch of what is not there',
    method: 'PATCH',
    path: `${CONFIG_MAPS}/zz`,
    headers: MERGE,
    body: {},
  },
  {
    name: 'JSON patch',
    method: 'PATCH',
    path: `${CONFIG_MAPS}/a`,
    headers: JSON_PATCH,
    body: [{ op: 'add', path: '/data/c', value: '4' }],
  },
  {
    name: 'JSON patch whose test fails',
    method: 'PATCH',
    path: `${CONFIG_MAPS}/a`,
    headers: JSON_PATCH,
    body: [{ op: 'test', path: '/data/c', value: '5' }],
  },
  {
    name: 'JSON patch of a missing path',
    method: 'PATCH',
    path: `${CONFIG_MAPS}/a`,
    headers: JSON_PATCH,
    body: [{ op: 'remove', path: '/data/x' }],
  },
  {
    name: 'JSON patch that is none',
    method: 'PATCH',
    path: `${CONFIG_MAPS}/a`,
    headers: JSON_PATCH,
    body: { op: 'remove' },
  },
  {
    name: 'strategic patch',
    method: 'PATCH',
    path: `${CONFIG_MAPS}/a`,
    headers: STRATEGIC,
    body: { metadata: { finalizers: ['example.com/f'] } },
  },
  {
    name: 'a patch of no type',
    method: 'PATCH',
    path: `${CONFIG_MAPS}/a`,
    headers: { 'content-type': 'application/json' },
    body: {},
  },
  { name: 'delete with a finalizer', method: 'DELETE', path: `${CONFIG_MAPS}/a` },
  {
    name: 'add a finalizer to what is going',
    method: 'PATCH',
    path: `${CONFIG_MAPS}/a`,
    headers: MERGE,
    body: { metadata: { finalizers: ['example.com/f', 'example.com/g'] } },
  },
  {
    name: 'remove the last finalizer',
    method: 'PATCH',
    path: `${CONFIG_MAPS}/a`,
    headers: MERGE,
    body: { metadata: { finalizers: null } },
  },
  { name: 'get what is gone', method: 'GET', path: `${CONFIG_MAPS}/a` },
  {
    name: 'delete with another UID',
    method: 'DELETE',
    path: `${CONFIG_MAPS}/c`,
    body: { preconditions: { uid: 'other' } },
  },
  {
    name: 'delete in an unknown way',
    method: 'DELETE',
    path: `${CONFIG_MAPS}/c`,
    body: { propagationPolicy: 'Sideways' },
  },
  { name: 'delete', method: 'DELETE', path: `${CONFIG_MAPS}/c` },
  { name: 'delete again', method: 'DELETE', path: `${CONFIG_MAPS}/c` },
];
