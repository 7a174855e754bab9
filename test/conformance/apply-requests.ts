/**
 * Server-side apply. The objects are created by it, so all their fields have owners; fields that
 * others change become theirs. Only the script changes these objects.
 */
import { AGENT, APPLY, applied, changed, of, RESET } from './apply-request.ts';
import { JSON_PATCH, MERGE, NAMESPACE, PODS, type ScriptedRequest } from './scripted-request.ts';

const CONFIG_MAPS = `${NAMESPACE}/configmaps`;

const map = (name: string, data?: object, metadata = {}): object =>
  of('v1', 'ConfigMap', name, data === undefined ? {} : { data }, metadata);
const at = (name: string): string => `${CONFIG_MAPS}/${name}`;

const CONFIG_MAP_REQUESTS: readonly ScriptedRequest[] = [
  applied('a ConfigMap is applied', at('applied'), map('applied', { a: '1', b: '2' })),
  applied('the same is applied again', at('applied'), map('applied', { a: '1', b: '2' })),
  applied('another applies the same', at('applied'), map('applied', { a: '1' }), { by: 'bob' }),
  applied('another applies more', at('applied'), map('applied', { a: '1', c: '3' }), { by: 'bob' }),
  applied('another applies other values', at('applied'), map('applied', { a: '9', b: '9' }), {
    by: 'bob',
  }),
  applied('one conflict', at('applied'), map('applied', { b: '9' }), { by: 'bob' }),
  applied('a conflict that is forced', at('applied'), map('applied', { b: '9', c: '3' }), {
    by: 'bob',
    query: '&force=true',
  }),
  applied('a field that is left out', at('applied'), map('applied', { b: '9' }), { by: 'bob' }),
  changed('a field that somebody else sets', at('applied'), { data: { d: '4', b: '5' } }, MERGE),
  applied('a conflict with an update', at('applied'), map('applied', { b: '6' }), { by: 'bob' }),
  applied('two managers in conflict', at('applied'), map('applied', { a: '7', b: '7' }), {
    by: 'carol',
  }),
  applied('all is left out', at('applied'), map('applied')),
  applied('an empty map', at('applied'), map('applied', {}), { by: 'carol' }),
  applied('labels and finalizers', at('applied'), {
    ...map('applied', undefined, {
      labels: { x: 'y' },
      annotations: { 'a/b': 'c' },
      finalizers: ['example.com/one', 'example.com/two'],
    }),
  }),
  applied('one finalizer less', at('applied'), {
    ...map('applied', undefined, { labels: { x: 'y' }, finalizers: ['example.com/two'] }),
  }),
  applied('no finalizers', at('applied'), map('applied', undefined, { labels: { x: 'y' } })),
  applied(
    'owners',
    at('applied'),
    map('applied', undefined, {
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u-1' }],
    }),
    { query: '&dryRun=All' },
  ),
  changed('managers that are given with a patch', at('applied'), RESET, JSON_PATCH),
  changed('an update of what nobody manages', at('applied'), { data: { e: '5' } }, MERGE),
  applied('what nobody manages is applied', at('applied'), map('applied', { f: '6' })),
  changed(
    'no managers by a patch',
    at('applied'),
    [{ op: 'replace', path: '/metadata/managedFields', value: [] }],
    JSON_PATCH,
  ),
  applied('an apply that is only tried', at('dry'), map('dry', { a: '1' }), {
    query: '&dryRun=All',
  }),
  { name: 'what was only tried', method: 'GET', path: at('dry') },
  applied('a change that is only tried', at('applied'), map('applied', { f: '7' }), {
    query: '&dryRun=All',
  }),
  {
    name: 'apply as text in YAML',
    method: 'PATCH',
    path: `${at('yaml')}?fieldManager=alice`,
    headers: APPLY,
    text: 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\ndata:\n  a: "1"\n',
    showsManagers: true,
  },
  {
    name: 'an update by PUT',
    method: 'PUT',
    path: at('yaml'),
    headers: AGENT,
    body: map('yaml', { a: '2', b: '3' }),
    showsManagers: true,
  },
  applied('a ConfigMap to be emptied', at('emptied'), map('emptied', { a: '1' })),
  applied('a ConfigMap that is emptied', at('emptied'), map('emptied', {})),
];

const REFUSALS: readonly ScriptedRequest[] = [
  {
    name: 'apply without a manager',
    method: 'PATCH',
    path: at('applied'),
    headers: APPLY,
    body: map('applied', {}),
  },
  applied('an apply by a manager of a long name', at('applied'), map('applied', {}), {
    by: 'm'.repeat(129),
  }),
  applied('an apply by a manager that cannot be printed', at('applied'), map('applied', {}), {
    by: 'a%01b',
  }),
  {
    name: 'force without apply',
    method: 'PATCH',
    path: `${at('applied')}?force=true`,
    headers: MERGE,
    body: {},
  },
  applied('an apply with managers in it', at('applied'), {
    ...map('applied', {}, { managedFields: [] }),
  }),
  applied('an apply of some managers', at('applied'), {
    ...map('applied', {}, { managedFields: [{ manager: 'x' }] }),
  }),
  applied('an apply of another name', at('applied'), map('other', {})),
  applied('an apply without a name', at('applied'), { apiVersion: 'v1', kind: 'ConfigMap' }),
  applied('an apply without a name, to be created', at('new'), {
    apiVersion: 'v1',
    kind: 'ConfigMap',
  }),
  applied('an apply to another namespace', at('applied'), {
    ...map('applied', {}, { namespace: 'default' }),
  }),
  applied('an apply of another kind', at('applied'), of('v1', 'Secret', 'applied')),
  applied('an apply of another version', at('applied'), of('v2', 'ConfigMap', 'applied')),
  applied('an apply of no kind', at('applied'), { metadata: { name: 'applied' } }),
  applied('an apply of a list', at('applied'), [1]),
  applied('an apply with unknown fields', at('applied'), {
    ...map('applied', { f: '6' }),
    unknown: 1,
  }),
  applied('an apply with a wrong type', at('applied'), map('applied', { f: 1 })),
  applied('an apply with a text for a map', at('applied'), { ...map('applied'), data: 'x' }),
  applied('an apply of another UID', at('new'), map('new', {}, { uid: 'u-1' })),
  applied(
    'an apply to an old revision',
    at('applied'),
    map('applied', {}, { resourceVersion: '1' }),
  ),
  applied('an apply with a revision of what is not there', at('new'), {
    ...map('new', { a: '1' }, { resourceVersion: '1' }),
  }),
  {
    name: 'an apply that is no YAML',
    method: 'PATCH',
    path: `${at('applied')}?fieldManager=alice`,
    headers: APPLY,
    text: 'a: b: c',
  },
  {
    name: 'an empty apply',
    method: 'PATCH',
    path: `${at('applied')}?fieldManager=alice`,
    headers: APPLY,
    text: ' ',
  },
  {
    name: 'an apply with a field twice',
    method: 'PATCH',
    path: `${at('applied')}?fieldManager=alice`,
    headers: APPLY,
    text: 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: applied\ndata: {a: "1", a: "2"}\n',
    showsManagers: true,
  },
  {
    name: 'an apply with a field twice, strictly',
    method: 'PATCH',
    path: `${at('applied')}?fieldManager=alice&fieldValidation=Strict`,
    headers: APPLY,
    text: 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: applied\ndata: {a: "1", a: "2"}\n',
  },
  {
    name: 'an apply in CBOR',
    method: 'PATCH',
    path: `${at('applied')}?fieldManager=alice`,
    headers: { 'content-type': 'application/apply-patch+cbor' },
    text: 'x',
  },
  applied('an apply to a status that is not there', `${PODS}/none/status`, {
    ...of('v1', 'Pod', 'none', { status: { message: 'x' } }),
  }),
];

const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';
const remembered = (data: object): object =>
  map('kubectl', data, { annotations: { [ANNOTATION]: JSON.stringify(map('kubectl', data)) } });

/** kubectl changes over from its client-side apply to server-side apply. */
const KUBECTL_REQUESTS: readonly ScriptedRequest[] = [
  {
    name: 'a ConfigMap as kubectl applies it itself',
    method: 'POST',
    path: CONFIG_MAPS,
    headers: { 'user-agent': 'before-first-apply' },
    body: remembered({ a: '1', b: '2' }),
  },
  applied('the same by the server', at('kubectl'), map('kubectl', { a: '1', b: '3' }), {
    by: 'kubectl',
  }),
  {
    name: 'a ConfigMap that was not applied',
    method: 'POST',
    path: CONFIG_MAPS,
    headers: { 'user-agent': 'before-first-apply' },
    body: map('plain', { a: '1' }),
  },
  applied('is applied', at('plain'), map('plain', { b: '1' })),
  applied('is in conflict with what was before', at('plain'), map('plain', { a: '2' })),
];

export const APPLY_REQUESTS: readonly ScriptedRequest[] = [
  ...CONFIG_MAP_REQUESTS,
  ...REFUSALS,
  ...KUBECTL_REQUESTS,
];
