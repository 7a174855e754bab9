/**
 * Server-side apply. Objects are made by it, so that it is told of all their fields who owns them; what
 * others change is theirs from then on. Nobody but the script changes these objects.
 */
import {
  JSON_PATCH,
  MERGE,
  NAMESPACE,
  PODS,
  type ScriptedRequest,
  STRATEGIC,
} from './scripted-request.ts';

const CONFIG_MAPS = `${NAMESPACE}/configmaps`;
const SERVICES = `${NAMESPACE}/services`;
const JOBS = '/apis/batch/v1/namespaces/conformance/jobs';
const WIDGETS = '/apis/conformance.example.com/v1/namespaces/conformance/widgets';
const JOBSETS = '/apis/jobset.x-k8s.io/v1alpha2/namespaces/conformance/jobsets';

const APPLY = { 'content-type': 'application/apply-patch+yaml' };
const AGENT = { 'user-agent': 'controller/v1.0 (linux)' };

function applied(
  name: string,
  path: string,
  body: unknown,
  { by = 'alice', query = '', headers = {} }: AppliedHow = {},
): ScriptedRequest {
  return {
    name,
    method: 'PATCH',
    path: `${path}?fieldManager=${by}${query}`,
    headers: { ...APPLY, ...headers },
    body,
    showsManagers: true,
  };
}

interface AppliedHow {
  readonly by?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request in another way, by a manager who is told from the agent. */
function changed(
  name: string,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>>,
): ScriptedRequest {
  return {
    name,
    method: 'PATCH',
    path,
    headers: { ...headers, ...AGENT },
    body,
    showsManagers: true,
  };
}

function of(apiVersion: string, kind: string, name: string, more: object = {}, metadata = {}) {
  return { apiVersion, kind, metadata: { name, ...metadata }, ...more };
}

const map = (name: string, data?: object, metadata = {}): object =>
  of('v1', 'ConfigMap', name, data === undefined ? {} : { data }, metadata);
const at = (name: string): string => `${CONFIG_MAPS}/${name}`;

/** From then on nobody manages the object, until it is applied again. */
const RESET = [{ op: 'replace', path: '/metadata/managedFields', value: [{}] }];

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

const container = (more: object): object => ({ name: 'main', image: 'none', ...more });
const pod = (spec: object, metadata = {}): object =>
  of('v1', 'Pod', 'applied', { spec: { schedulerName: 'nobody', ...spec } }, metadata);
const POD = `${PODS}/applied`;
const POD_SPEC = {
  automountServiceAccountToken: false,
  tolerations: [{ key: 'a', operator: 'Exists' }],
  nodeSelector: { a: 'b' },
  imagePullSecrets: [{ name: 'one' }],
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'zone',
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: { matchLabels: { a: 'b' } },
    },
  ],
  hostAliases: [{ ip: '127.0.0.1', hostnames: ['a', 'b'] }],
  volumes: [{ name: 'v', emptyDir: {} }],
  containers: [
    container({
      command: ['true'],
      ports: [
        { containerPort: 80, name: 'web' },
        { containerPort: 53, protocol: 'UDP' },
      ],
      env: [
        { name: 'A', value: '1' },
        { name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      ],
      volumeMounts: [{ name: 'v', mountPath: '/v' }],
      resources: { requests: { cpu: '1' } },
      securityContext: { capabilities: { add: ['X'] } },
    }),
    { name: 'side', image: 'none' },
  ],
};

const condition = (type: string, status: string): object => {
  const time = '2026-01-01T00:00:00Z';
  return { type, status, lastProbeTime: time, lastTransitionTime: time };
};

const POD_REQUESTS: readonly ScriptedRequest[] = [
  applied('a Pod is applied', POD, pod(POD_SPEC)),
  applied('the same Pod again', POD, pod(POD_SPEC)),
  applied(
    'the image of a container by another',
    POD,
    pod({ containers: [container({ image: 'other' })] }),
    { by: 'bob' },
  ),
  applied(
    'the image of a container by force',
    POD,
    pod({ containers: [container({ image: 'other' })] }),
    { by: 'bob', query: '&force=true' },
  ),
  changed(
    'the image of a container by a strategic patch',
    POD,
    { spec: { containers: [{ name: 'side', image: 'else' }] } },
    STRATEGIC,
  ),
  changed(
    'a toleration more',
    POD,
    {
      spec: {
        tolerations: [
          { key: 'a', operator: 'Exists' },
          { key: 'b', operator: 'Exists' },
        ],
      },
    },
    STRATEGIC,
  ),
  applied('a Pod with an element twice', `${PODS}/twice`, {
    ...of('v1', 'Pod', 'twice', {
      spec: { containers: [container({ env: [{ name: 'A' }, { name: 'A' }] })] },
    }),
  }),
  applied('a Pod whose port has no key', `${PODS}/twice`, {
    ...of('v1', 'Pod', 'twice', { spec: { containers: [{ image: 'none' }] } }),
  }),
  applied('the status of a Pod', `${POD}/status`, {
    ...of('v1', 'Pod', 'applied', {
      status: {
        message: 'hello',
        conditions: [condition('Ready', 'False')],
        podIP: '10.0.0.1',
        podIPs: [{ ip: '10.0.0.1' }],
      },
    }),
  }),
  applied(
    'a condition by another',
    `${POD}/status`,
    {
      ...of('v1', 'Pod', 'applied', {
        status: { conditions: [condition('example.com/Mine', 'True')] },
      }),
    },
    { by: 'bob' },
  ),
  applied(
    'a condition in conflict',
    `${POD}/status`,
    {
      ...of('v1', 'Pod', 'applied', {
        status: { conditions: [condition('Ready', 'True')] },
      }),
    },
    { by: 'bob' },
  ),
  changed(
    'the status of a Pod by a patch',
    `${POD}/status`,
    {
      status: { conditions: [condition('Ready', 'True')] },
    },
    STRATEGIC,
  ),
  applied(
    'a condition that is left out',
    `${POD}/status`,
    {
      ...of('v1', 'Pod', 'applied', { status: { message: 'hello' } }),
    },
    { by: 'bob' },
  ),
  changed('a Pod that nobody manages', POD, RESET, JSON_PATCH),
  applied('the status of a Pod that was not applied', `${POD}/status`, {
    ...of('v1', 'Pod', 'applied', { status: { message: 'hello' } }),
  }),
  changed('a Pod that nobody manages again', POD, RESET, JSON_PATCH),
  applied('a Pod that was not applied', POD, pod({}), { by: 'bob' }),
];

const service = (ports: readonly object[], more: object = {}): object =>
  of('v1', 'Service', 'applied', {
    spec: { clusterIP: 'None', selector: { a: 'b' }, ports, ...more },
  });
const SERVICE_REQUESTS: readonly ScriptedRequest[] = [
  applied('a Service is applied', `${SERVICES}/applied`, service([{ port: 80, name: 'a' }])),
  applied(
    'a port of the same number',
    `${SERVICES}/applied`,
    service([{ port: 80, protocol: 'UDP', name: 'b' }]),
    { by: 'bob' },
  ),
  applied('no ports any more', `${SERVICES}/applied`, service([]), { by: 'bob' }),
  applied('another target', `${SERVICES}/applied`, service([{ port: 80, targetPort: 'x' }]), {
    by: 'bob',
  }),
  changed('a Service that nobody manages', `${SERVICES}/applied`, RESET, JSON_PATCH),
  applied('a Service that was not applied', `${SERVICES}/applied`, service([]), { by: 'bob' }),
];

const job = (spec: object): object =>
  of('batch/v1', 'Job', 'applied', {
    spec: {
      managedBy: 'conformance.example.com/nobody',
      template: {
        spec: { restartPolicy: 'Never', containers: [container({})] },
      },
      ...spec,
    },
  });
const JOB_REQUESTS: readonly ScriptedRequest[] = [
  applied('a Job is applied', `${JOBS}/applied`, job({ suspend: true, parallelism: 2 })),
  changed('a Job that is resumed', `${JOBS}/applied`, { spec: { suspend: false } }, MERGE),
  applied('a Job in conflict', `${JOBS}/applied`, job({ suspend: true, parallelism: 2 })),
  applied('a Job without what was changed', `${JOBS}/applied`, job({ parallelism: 3 })),
  applied('the status of a Job', `${JOBS}/applied/status`, {
    ...of('batch/v1', 'Job', 'applied', { status: { ready: 1, active: 1 } }),
  }),
  changed('a Job that nobody manages', `${JOBS}/applied`, RESET, JSON_PATCH),
  applied('a Job that was not applied', `${JOBS}/applied`, job({ parallelism: 3 }), { by: 'bob' }),
];

const widget = (spec: object, name = 'applied'): object =>
  of('conformance.example.com/v1', 'Widget', name, { spec });
const WIDGET = `${WIDGETS}/applied`;

/** Of a custom resource. */
export const WIDGET_APPLY_REQUESTS: readonly ScriptedRequest[] = [
  applied('a Widget is applied', WIDGET, widget({ size: 1, parts: [{ name: 'a', count: 1 }] })),
  applied('a part of a Widget', WIDGET, widget({ parts: [{ name: 'b' }] }), { by: 'bob' }),
  applied('a Widget in conflict', WIDGET, widget({ size: 2, parts: [{ name: 'a', count: 2 }] }), {
    by: 'bob',
  }),
  applied('a Widget without parts', WIDGET, widget({ size: 1 })),
  applied('a Widget with an unknown field', WIDGET, widget({ size: 1, szie: 2 })),
  applied('a Widget with an unknown field, strictly', WIDGET, widget({ size: 1, szie: 2 }), {
    query: '&fieldValidation=Strict',
  }),
  applied('a Widget that is invalid', WIDGET, widget({ size: 100 })),
  applied('the status of a Widget by apply', `${WIDGET}/status`, {
    ...of('conformance.example.com/v1', 'Widget', 'applied', {
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    }),
  }),
  changed('a Widget by a patch', WIDGET, { spec: { size: 3, labels: { a: 'b' } } }, MERGE),
  changed('a Widget that nobody manages', WIDGET, RESET, JSON_PATCH),
  applied('a Widget that was not applied', WIDGET, widget({ size: 3 }), { by: 'bob' }),
  applied('a Widget that lacks a field', `${WIDGETS}/new`, {
    ...of('conformance.example.com/v1', 'Widget', 'new', { spec: {} }),
  }),
  applied('a Widget with a map', `${WIDGETS}/map`, widget({ size: 3, labels: { x: 'y' } }, 'map')),
  applied('a Widget with an empty map', `${WIDGETS}/map`, widget({ size: 3, labels: {} }, 'map')),
];

const jobSet = (spec: object): object =>
  of('jobset.x-k8s.io/v1alpha2', 'JobSet', 'applied', { spec });
const replicated = (name: string, more: object = {}): object => ({
  name,
  replicas: 1,
  template: {
    spec: { template: { spec: { restartPolicy: 'Never', containers: [container({})] } } },
  },
  ...more,
});

/** Of JobSets. */
export const JOBSET_APPLY_REQUESTS: readonly ScriptedRequest[] = [
  applied('a JobSet is applied', `${JOBSETS}/applied`, {
    ...jobSet({ replicatedJobs: [replicated('a'), replicated('b')], suspend: true }),
  }),
  applied('a JobSet that is resumed by another', `${JOBSETS}/applied`, jobSet({ suspend: false }), {
    by: 'bob',
  }),
  applied('a JobSet that is resumed by force', `${JOBSETS}/applied`, jobSet({ suspend: false }), {
    by: 'bob',
    query: '&force=true',
  }),
  applied('the status of a JobSet by apply', `${JOBSETS}/applied/status`, {
    ...of('jobset.x-k8s.io/v1alpha2', 'JobSet', 'applied', {
      status: {
        restarts: 1,
        conditions: [
          {
            type: 'Suspended',
            status: 'False',
            reason: 'Resumed',
            message: 'm',
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
        ],
      },
    }),
  }),
];

const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';
const remembered = (data: object): object =>
  map('kubectl', data, { annotations: { [ANNOTATION]: JSON.stringify(map('kubectl', data)) } });

/** As kubectl changes over from its own way to apply to that of the server. */
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

/** An object is applied, managed by nobody any more, and applied by another: what was there is told. */
function taken(path: string, object: object, part: object): readonly ScriptedRequest[] {
  const { kind, metadata } = object as { kind: string; metadata: { name: string } };
  const at = `${path}/${metadata.name}`;
  return [
    applied(`a ${kind} of its own`, at, object),
    changed(`a ${kind} of nobody`, at, RESET, JSON_PATCH),
    applied(`a ${kind} of another`, at, part, { by: 'bob' }),
  ];
}

/** As the controller of volumes adds it. */
const PROTECTED = { finalizers: ['kubernetes.io/pvc-protection'] };
const CLAIM = {
  accessModes: ['ReadWriteOnce'],
  storageClassName: 'none',
  resources: { requests: { storage: '1Gi' } },
};

const SMALL_KINDS: readonly ScriptedRequest[] = [
  ...taken(
    `${NAMESPACE}/secrets`,
    of('v1', 'Secret', 'applied', { stringData: { a: 'b' }, data: { c: 'ZA==' } }),
    of('v1', 'Secret', 'applied', { data: { c: 'ZA==' } }),
  ),
  ...taken(
    `${NAMESPACE}/serviceaccounts`,
    of('v1', 'ServiceAccount', 'applied', {
      secrets: [{ name: 's' }],
      imagePullSecrets: [{ name: 'p' }],
      automountServiceAccountToken: false,
    }),
    of('v1', 'ServiceAccount', 'applied', { imagePullSecrets: [{ name: 'p' }] }),
  ),
  ...taken(
    `${NAMESPACE}/persistentvolumeclaims`,
    of('v1', 'PersistentVolumeClaim', 'applied', { spec: CLAIM }, PROTECTED),
    of('v1', 'PersistentVolumeClaim', 'applied', { spec: { storageClassName: 'none' } }, PROTECTED),
  ),
  ...taken(
    '/apis/rbac.authorization.k8s.io/v1/namespaces/conformance/roles',
    of('rbac.authorization.k8s.io/v1', 'Role', 'applied', {
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
    }),
    of('rbac.authorization.k8s.io/v1', 'Role', 'applied', {}, { labels: { a: 'b' } }),
  ),
  ...taken(
    '/apis/coordination.k8s.io/v1/namespaces/conformance/leases',
    of('coordination.k8s.io/v1', 'Lease', 'applied', { spec: { holderIdentity: 'a' } }),
    of('coordination.k8s.io/v1', 'Lease', 'applied', { spec: { leaseDurationSeconds: 5 } }),
  ),
  ...taken(
    '/apis/discovery.k8s.io/v1/namespaces/conformance/endpointslices',
    of('discovery.k8s.io/v1', 'EndpointSlice', 'applied', {
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true } }],
      ports: [{ name: 'a', port: 80, protocol: 'TCP' }],
    }),
    of('discovery.k8s.io/v1', 'EndpointSlice', 'applied', { addressType: 'IPv4' }),
  ),
  ...taken(
    '/api/v1/namespaces',
    of('v1', 'Namespace', 'applied', {}, { labels: { a: 'b' } }),
    of('v1', 'Namespace', 'applied', {}, { labels: { c: 'd' } }),
  ),
];

export const APPLY_REQUESTS: readonly ScriptedRequest[] = [
  ...CONFIG_MAP_REQUESTS,
  ...REFUSALS,
  ...POD_REQUESTS,
  ...SERVICE_REQUESTS,
  ...JOB_REQUESTS,
  ...KUBECTL_REQUESTS,
  ...SMALL_KINDS,
];
