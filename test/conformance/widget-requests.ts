/** Objects of a custom resource, once it is served. */
import { MERGE, type ScriptedRequest, STRATEGIC, TABLE } from './scripted-request.ts';

export const WIDGETS = '/apis/conformance.example.com/v1/namespaces/conformance/widgets';

function widget(name: string, spec: object, more: object = {}): object {
  return {
    apiVersion: 'conformance.example.com/v1',
    kind: 'Widget',
    metadata: { name },
    spec,
    ...more,
  };
}

export const WIDGET_REQUESTS: readonly ScriptedRequest[] = [
  { name: 'a Widget', method: 'POST', path: WIDGETS, body: widget('w', { size: 1, frozen: 'x' }) },
  {
    name: 'a Widget with mistakes',
    method: 'POST',
    path: WIDGETS,
    body: widget('x', {
      size: 10,
      color: 'green',
      parts: [{ name: 'a' }, { name: 'a' }, { count: 1 }, { name: 'toolong' }],
      port: true,
      labels: { a: 1 },
    }),
  },
  { name: 'a Widget without a spec field', method: 'POST', path: WIDGETS, body: widget('x', {}) },
  {
    name: 'a Widget with unknown fields',
    method: 'POST',
    path: `${WIDGETS}?fieldValidation=Strict`,
    body: widget('x', { size: 1, szie: 2, parts: [{ name: 'a', x: 1 }] }, { other: 1 }),
  },
  {
    name: 'a Widget that is pruned',
    method: 'POST',
    path: `${WIDGETS}?fieldValidation=Ignore`,
    body: widget(
      'pruned',
      { size: 2, szie: 2, parts: [{ name: 'a', x: 1 }] },
      { status: { a: 1 } },
    ),
  },
  {
    name: 'a Widget that breaks a rule',
    method: 'POST',
    path: WIDGETS,
    body: widget('x', { size: 1, color: 'blue' }),
  },
  {
    name: 'a Widget that changes what is frozen',
    method: 'PATCH',
    path: `${WIDGETS}/w`,
    headers: MERGE,
    body: { spec: { frozen: 'y' } },
  },
  {
    name: 'a Widget that drops what is frozen',
    method: 'PATCH',
    path: `${WIDGETS}/w`,
    headers: MERGE,
    body: { spec: { frozen: null, port: 'http' } },
  },
  {
    name: 'a Widget by strategic patch',
    method: 'PATCH',
    path: `${WIDGETS}/w`,
    headers: STRATEGIC,
    body: { spec: { size: 2 } },
  },
  {
    name: 'the status of a Widget',
    method: 'PATCH',
    path: `${WIDGETS}/w/status`,
    headers: MERGE,
    body: { spec: { size: 3 }, status: { conditions: [{ type: 'Ready', status: 'True' }] } },
  },
  {
    name: 'a Widget whose update leaves the status alone',
    method: 'PATCH',
    path: `${WIDGETS}/w`,
    headers: MERGE,
    body: { spec: { size: 4 }, status: { conditions: [] } },
  },
  {
    name: 'an update of a Widget without a version',
    method: 'PUT',
    path: `${WIDGETS}/w`,
    body: widget('w', { size: 4 }),
  },
  { name: 'Widgets as a table', method: 'GET', path: WIDGETS, headers: TABLE },
  { name: 'the scale of a Widget', method: 'GET', path: `${WIDGETS}/w/scale` },
  { name: 'delete all Widgets', method: 'DELETE', path: WIDGETS },
];
