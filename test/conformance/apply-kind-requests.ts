/** Server-side apply of built-in kinds whose lists have several keys. */
import { applied, changed, of, RESET } from './apply-request.ts';
import {
  JSON_PATCH,
  MERGE,
  NAMESPACE,
  PODS,
  type ScriptedRequest,
  STRATEGIC,
} from './scripted-request.ts';

const SERVICES = `${NAMESPACE}/services`;
const JOBS = '/apis/batch/v1/namespaces/conformance/jobs';

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

/**
 * An object is applied, loses all its managers, and is applied by another: the old fields get an
 * owner.
 */
function taken(path: string, object: object, part: object): readonly ScriptedRequest[] {
  const { kind, metadata } = object as { kind: string; metadata: { name: string } };
  const at = `${path}/${metadata.name}`;
  return [
    applied(`a ${kind} of its own`, at, object),
    changed(`a ${kind} of nobody`, at, RESET, JSON_PATCH),
    applied(`a ${kind} of another`, at, part, { by: 'bob' }),
  ];
}

/** The finalizer that the controller of volumes adds. */
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

export const APPLY_KIND_REQUESTS: readonly ScriptedRequest[] = [
  ...POD_REQUESTS,
  ...SERVICE_REQUESTS,
  ...JOB_REQUESTS,
  ...SMALL_KINDS,
];
