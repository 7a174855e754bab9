/**
 * A script of requests that every Kubernetes API server must answer in the same way: what clients of
 * Lockstep do, and what they do wrong. Controllers keep their hands off these objects: Pods name a
 * scheduler that does not exist, Jobs another controller.
 */
export interface ScriptedRequest {
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  /** Sent as they are instead of `body` as JSON. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const NS = '/api/v1/namespaces/conformance';
const CONFIG_MAPS = `${NS}/configmaps`;
const PODS = `${NS}/pods`;
const JOBS = '/apis/batch/v1/namespaces/conformance/jobs';
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
export const WIDGETS = '/apis/conformance.example.com/v1/namespaces/conformance/widgets';

const MERGE = { 'content-type': 'application/merge-patch+json' };
const JSON_PATCH = { 'content-type': 'application/json-patch+json' };
const STRATEGIC = { 'content-type': 'application/strategic-merge-patch+json' };
const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
const METADATA = { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' };

function configMap(name: string, more: object = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: '1' }, ...more };
}

function pod(name: string, spec: object, metadata: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...metadata },
    spec: {
      schedulerName: 'nobody',
      automountServiceAccountToken: false,
      containers: [{ name: 'main', image: 'none', command: ['true'] }],
      ...spec,
    },
  };
}

function job(name: string, spec: object, podSpec: object = {}): object {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name },
    spec: {
      managedBy: 'conformance.example.com/nobody',
      template: {
        spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'none' }], ...podSpec },
      },
      ...spec,
    },
  };
}

export const WIDGET_CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.conformance.example.com' },
  spec: {
    group: 'conformance.example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          {
            name: 'Ready',
            type: 'string',
            jsonPath: '.status.conditions[?(@.type=="Ready")].status',
          },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['size'],
                properties: {
                  size: { type: 'integer', minimum: 1, maximum: 9 },
                  color: { type: 'string', enum: ['red', 'blue'], default: 'red' },
                  frozen: {
                    type: 'string',
                    'x-kubernetes-validations': [
                      { rule: 'self == oldSelf', message: 'Value is immutable' },
                    ],
                  },
                  parts: {
                    type: 'array',
                    maxItems: 3,
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name'],
                    items: {
                      type: 'object',
                      required: ['name'],
                      properties: {
                        name: { type: 'string', maxLength: 5 },
                        count: { type: 'integer', default: 1 },
                      },
                    },
                  },
                  port: { 'x-kubernetes-int-or-string': true },
                  labels: { type: 'object', additionalProperties: { type: 'string' } },
                },
                'x-kubernetes-validations': [
                  {
                    rule: "self.color != 'blue' || self.size > 2",
                    message: 'blue needs a size of more than 2',
                  },
                ],
              },
              status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        },
      },
    ],
  },
};

function widget(name: string, spec: object, more: object = {}): object {
  return {
    apiVersion: 'conformance.example.com/v1',
    kind: 'Widget',
    metadata: { name },
    spec,
    ...more,
  };
}

function withSchema(name: string, openAPIV3Schema: object): object {
  const [version] = WIDGET_CRD.spec.versions;
  const plural = name.split('.')[0] ?? '';
  return {
    ...WIDGET_CRD,
    metadata: { name },
    spec: {
      ...WIDGET_CRD.spec,
      names: { plural, kind: `X${plural}` },
      versions: [{ ...version, additionalPrinterColumns: [], schema: { openAPIV3Schema } }],
    },
  };
}

/** Before the Widgets are served. */
export const REQUESTS: readonly ScriptedRequest[] = [
  // Paths and media types.
  { name: 'no such path', method: 'GET', path: '/nothing' },
  { name: 'no such group', method: 'GET', path: '/apis/none.example.com' },
  { name: 'no such resource', method: 'GET', path: `${NS}/wheels` },
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
      metadata: { name: 'b', labels: { 'a b': 'c d', ok: '-no-' }, annotations: { 'x/y/z': '' } },
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

  // Pods.
  { name: 'a Pod with its defaults', method: 'POST', path: PODS, body: pod('p', {}) },
  {
    name: 'a Pod without containers',
    method: 'POST',
    path: PODS,
    body: pod('q', { containers: [] }),
  },
  {
    name: 'a Pod with many mistakes',
    method: 'POST',
    path: PODS,
    body: pod('q', {
      restartPolicy: 'Sometimes',
      dnsPolicy: 'Nowhere',
      terminationGracePeriodSeconds: -1,
      activeDeadlineSeconds: 0,
      containers: [
        { name: 'a', image: '' },
        { name: 'a', image: 'x', imagePullPolicy: 'Later', ports: [{ containerPort: 0 }] },
        {
          name: 'B_c',
          image: 'x',
          env: [{ name: '' }],
          volumeMounts: [{ name: 'none', mountPath: '' }],
        },
      ],
      volumes: [
        { name: 'v', emptyDir: {}, hostPath: { path: '/x' } },
        { name: 'v', emptyDir: {} },
      ],
      tolerations: [{ operator: 'Exists', value: 'x' }],
      nodeSelector: { 'a b': 'c' },
    }),
  },
  {
    name: 'restart rules',
    method: 'POST',
    path: PODS,
    body: pod('rules', {
      restartPolicy: 'Never',
      containers: [
        {
          name: 'main',
          image: 'x',
          restartPolicy: 'Never',
          restartPolicyRules: [
            { action: 'Restart', exitCodes: { operator: 'In', values: [42] } },
            { action: 'RestartAllContainers', exitCodes: { operator: 'NotIn', values: [0] } },
          ],
        },
      ],
    }),
  },
  {
    name: 'bad restart rules',
    method: 'POST',
    path: PODS,
    body: pod('q', {
      containers: [
        {
          name: 'main',
          image: 'x',
          restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [1] } }],
        },
        {
          name: 'other',
          image: 'x',
          restartPolicy: 'Never',
          restartPolicyRules: [
            { action: 'Explode', exitCodes: { operator: 'Near', values: [] } },
            { action: 'Restart' },
          ],
        },
      ],
    }),
  },
  {
    name: 'a Pod that changes its node selector',
    method: 'PATCH',
    path: `${PODS}/p`,
    headers: MERGE,
    body: { spec: { nodeSelector: { a: 'b' } } },
  },
  {
    name: 'a Pod that changes its image',
    method: 'PATCH',
    path: `${PODS}/p`,
    headers: STRATEGIC,
    body: { spec: { containers: [{ name: 'main', image: 'other' }] } },
  },
  {
    name: 'a Pod whose status is patched',
    method: 'PATCH',
    path: `${PODS}/p/status`,
    headers: MERGE,
    body: { spec: { nodeName: 'x' }, status: { phase: 'Running', message: 'hello' } },
  },
  { name: 'the log of a Pod without a node', method: 'GET', path: `${PODS}/p/log` },
  { name: 'a Pod by phase', method: 'GET', path: `${PODS}?fieldSelector=status.phase%3DFailed` },
  {
    name: 'a binding to nothing',
    method: 'POST',
    path: `${PODS}/p/binding`,
    body: { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { name: '' } },
  },
  { name: 'delete a Pod at once', method: 'DELETE', path: `${PODS}/p?gracePeriodSeconds=0` },

  // Jobs.
  { name: 'a Job with its defaults', method: 'POST', path: JOBS, body: job('j', {}) },
  {
    name: 'an Indexed Job',
    method: 'POST',
    path: JOBS,
    body: job('i', { completionMode: 'Indexed', completions: 2, parallelism: 2 }),
  },
  {
    name: 'a Job with many mistakes',
    method: 'POST',
    path: JOBS,
    body: job(
      'x',
      {
        completionMode: 'Indexed',
        parallelism: -1,
        backoffLimit: -1,
        activeDeadlineSeconds: -1,
        ttlSecondsAfterFinished: -1,
        maxFailedIndexes: 1,
        podReplacementPolicy: 'Later',
        podFailurePolicy: {
          rules: [{ action: 'FailIndex', onExitCodes: { operator: 'In', values: [0, 3, 2] } }],
        },
        successPolicy: { rules: [] },
        managedBy: 'no-domain',
      },
      { restartPolicy: 'Always' },
    ),
  },
  {
    name: 'a Job with a selector of its own',
    method: 'POST',
    path: JOBS,
    body: job('x', { selector: { matchLabels: { a: 'b' } } }),
  },
  {
    name: 'a Job that changes what it may not',
    method: 'PATCH',
    path: `${JOBS}/i`,
    headers: MERGE,
    body: { spec: { completionMode: 'NonIndexed', backoffLimitPerIndex: 1, completions: 5 } },
  },
  {
    name: 'an elastic Job',
    method: 'PATCH',
    path: `${JOBS}/i`,
    headers: MERGE,
    body: { spec: { completions: 3, parallelism: 3 } },
  },
  {
    name: 'a template that changes on a Job that is not suspended',
    method: 'PATCH',
    path: `${JOBS}/i`,
    headers: MERGE,
    body: { spec: { template: { spec: { nodeSelector: { a: 'b' } } } } },
  },
  {
    name: 'a Job completed by hand, wrongly',
    method: 'PATCH',
    path: `${JOBS}/i/status`,
    headers: MERGE,
    body: {
      status: { conditions: [{ type: 'Complete', status: 'True' }], active: 1, ready: 2 },
    },
  },
  {
    name: 'Jobs as a table',
    method: 'GET',
    path: `${JOBS}?fieldSelector=metadata.name%3Dj`,
    headers: TABLE,
  },

  // Smaller kinds.
  {
    name: 'a headless Service',
    method: 'POST',
    path: `${NS}/services`,
    body: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 's' },
      spec: { clusterIP: 'None', selector: { a: 'b' } },
    },
  },
  {
    name: 'a Service with mistakes',
    method: 'POST',
    path: `${NS}/services`,
    body: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 't' },
      spec: { type: 'Headless', ports: [{ port: 0 }, { port: 80 }] },
    },
  },
  {
    name: 'a volume claim',
    method: 'POST',
    path: `${NS}/persistentvolumeclaims`,
    body: {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'v' },
      spec: {
        storageClassName: 'none',
        accessModes: ['ReadWriteMany'],
        resources: { requests: { storage: '1Gi' } },
      },
    },
  },
  {
    name: 'a volume claim of nothing',
    method: 'POST',
    path: `${NS}/persistentvolumeclaims`,
    body: {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'w' },
      spec: { accessModes: [] },
    },
  },
  {
    name: 'a Lease',
    method: 'POST',
    path: '/apis/coordination.k8s.io/v1/namespaces/conformance/leases',
    body: {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'l' },
      spec: { holderIdentity: 'me', leaseDurationSeconds: 0 },
    },
  },
  {
    name: 'an Event without what it needs',
    method: 'POST',
    path: '/apis/events.k8s.io/v1/namespaces/conformance/events',
    body: {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: 'e' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      regarding: { kind: 'Pod', namespace: 'conformance', name: 'p' },
      type: 'Fatal',
    },
  },

  // Definitions of custom resources.
  {
    name: 'a definition with mistakes',
    method: 'POST',
    path: CRDS,
    body: {
      ...WIDGET_CRD,
      metadata: { name: 'wrong.conformance.example.com' },
      spec: { ...WIDGET_CRD.spec, names: { plural: 'Widgets', kind: 'widget!' } },
    },
  },
  {
    name: 'a schema that is not structural',
    method: 'POST',
    path: CRDS,
    body: withSchema('unstructurals.conformance.example.com', {
      type: 'object',
      properties: { spec: { properties: { a: { type: 'number', default: 'x' } } } },
    }),
  },
  {
    name: 'a schema with a rule that does not compile',
    method: 'POST',
    path: CRDS,
    body: withSchema('rules.conformance.example.com', {
      type: 'object',
      properties: {
        spec: { type: 'object', 'x-kubernetes-validations': [{ rule: 'self.missing > 1' }] },
      },
    }),
  },
  {
    name: 'a schema with a rule that may cost too much',
    method: 'POST',
    path: CRDS,
    body: withSchema('costs.conformance.example.com', {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: { names: { type: 'array', items: { type: 'string' } } },
          'x-kubernetes-validations': [{ rule: 'self.names.all(a, self.names.exists(b, a == b))' }],
        },
      },
    }),
  },
  { name: 'the Widgets', method: 'POST', path: CRDS, body: WIDGET_CRD },
];

/** Once the Widgets are served. */
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
