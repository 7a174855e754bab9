/**
 * Pods and Jobs that are valid but probably wrong: what the API server warns of. None of them is
 * created.
 */
import { MERGE, PODS, type ScriptedRequest } from './scripted-request.ts';

const JOBS = '/apis/batch/v1/namespaces/conformance/jobs';

function podSpec(spec: object): object {
  return {
    automountServiceAccountToken: false,
    restartPolicy: 'Never',
    containers: [{ name: 'main', image: 'none' }],
    ...spec,
  };
}

function warned(name: string, spec: object, metadata: object = {}): ScriptedRequest {
  return {
    name,
    method: 'POST',
    path: `${PODS}?dryRun=All`,
    body: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'warned', ...metadata },
      spec: podSpec({ schedulerName: 'nobody', ...spec }),
    },
  };
}

function job(name: string, spec: object, metadata: object = {}): object {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name },
    spec: {
      managedBy: 'conformance.example.com/nobody',
      suspend: true,
      template: { metadata, spec: podSpec(spec) },
    },
  };
}

/** A Pod with these fields in its only container. */
function container(fields: object): object {
  return { containers: [{ name: 'main', image: 'none', ...fields }] };
}

function volume(source: object): object {
  return { volumes: [{ name: 'v', ...source }] };
}

const item = (key: string, path: string): object => ({ key, path });
const label = (path: string): object => ({ path, fieldRef: { fieldPath: 'metadata.labels' } });

const VARIABLES = [
  { name: 'A', value: '1' },
  { name: 'A', value: '2' },
  { name: 'B', value: '1' },
  { name: 'B', value: '$(B):2' },
  { name: 'C', value: '1' },
  { name: 'C', value: '$(C)' },
  { name: 'D', value: '1' },
  { name: 'D', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
];

const OLD_LABELS = [
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'failure-domain.beta.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'beta.kubernetes.io/instance-type',
  'app.kubernetes.io/created-by',
  'scheduler.alpha.kubernetes.io/preferAvoidPods',
  'node-role.kubernetes.io/master',
];

const EXISTS = OLD_LABELS.map((key) => ({ key, operator: 'Exists' }));
const EMPTY_TERM = { topologyKey: 'kubernetes.io/hostname' };
const WEIGHED_EMPTY_TERM = { weight: 1, podAffinityTerm: EMPTY_TERM };

const LISTS: readonly ScriptedRequest[] = [
  warned('a Pod of an odd name', {}, { name: 'a.b' }),
  warned('variables twice', container({ env: VARIABLES })),
  warned('a negative grace period', { terminationGracePeriodSeconds: -1 }),
  warned('addresses of hosts twice', {
    hostAliases: [
      { ip: '1.2.3.4', hostnames: ['a'] },
      { ip: '1.2.3.4', hostnames: ['b'] },
    ],
  }),
  warned('secrets of images twice, and without a name', {
    imagePullSecrets: [{ name: 'a' }, { name: 'a' }, {}],
  }),
  warned(
    'parts of a byte',
    container({
      resources: {
        requests: { memory: '100m', 'ephemeral-storage': '1500m' },
        limits: { memory: '1.5', 'ephemeral-storage': '2500m' },
      },
    }),
  ),
  warned('ports twice', {
    initContainers: [
      { name: 'side', image: 'none', restartPolicy: 'Always', ports: [{ containerPort: 80 }] },
    ],
    containers: [
      { name: 'a', image: 'none', ports: [{ containerPort: 80, name: 'web' }] },
      {
        name: 'b',
        image: 'none',
        ports: [
          { containerPort: 80, hostPort: 80, name: 'web' },
          { containerPort: 80, hostPort: 80, hostIP: '127.0.0.1' },
          { containerPort: 80, protocol: 'UDP' },
          { containerPort: 81, hostIP: '127.0.0.1' },
        ],
      },
    ],
  }),
];

const PLACES: readonly ScriptedRequest[] = [
  ...OLD_LABELS.map((key) =>
    warned(`an old label of nodes: ${key}`, { nodeSelector: { [key]: '' } }),
  ),
  warned('old labels of nodes in an affinity', {
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: EXISTS }],
        },
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 1,
            preference: {
              matchExpressions: [
                ...EXISTS.slice(0, 1),
                { key: 'a', operator: 'In', values: ['b', '-c-'] },
              ],
            },
          },
        ],
      },
    },
  }),
  warned('neighbours that are nobody', {
    affinity: {
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [EMPTY_TERM],
        preferredDuringSchedulingIgnoredDuringExecution: [WEIGHED_EMPTY_TERM],
      },
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [EMPTY_TERM],
        preferredDuringSchedulingIgnoredDuringExecution: [WEIGHED_EMPTY_TERM],
      },
    },
  }),
  warned('nobody to spread', {
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'failure-domain.beta.kubernetes.io/zone',
        whenUnsatisfiable: 'DoNotSchedule',
      },
    ],
  }),
];

const VOLUMES: readonly ScriptedRequest[] = [
  warned('kinds of volumes that are gone', {
    volumes: [
      { name: 'a', gitRepo: { repository: 'x' } },
      { name: 'b', glusterfs: { endpoints: 'x', path: 'y' } },
      { name: 'c', cephfs: { monitors: ['x'] } },
      { name: 'd', rbd: { monitors: ['x'], image: 'y' } },
      { name: 'e', flocker: { datasetName: 'x' } },
      { name: 'f', quobyte: { registry: 'x:1', volume: 'y' } },
      { name: 'g', storageos: { volumeName: 'x' } },
      {
        name: 'h',
        scaleIO: { gateway: 'x', system: 'y', volumeName: 'z', secretRef: { name: 's' } },
      },
      { name: 'i', photonPersistentDisk: { pdID: 'x' } },
    ],
  }),
  warned(
    'files of a ConfigMap in each other’s place',
    volume({ configMap: { name: 'm', items: [item('a', 'x'), item('b', 'x/y'), item('c', 'z')] } }),
  ),
  warned(
    'files of a Secret in each other’s place',
    volume({ secret: { secretName: 's', items: [item('a', 'x/y/'), item('b', 'x')] } }),
  ),
  warned(
    'fields of the Pod in each other’s place',
    volume({ downwardAPI: { items: [label('x'), label('x')] } }),
  ),
  warned(
    'projected files in each other’s place',
    volume({
      projected: {
        sources: [
          { configMap: { name: 'm', items: [item('a', 'x')] } },
          { secret: { name: 's', items: [item('a', 'x/y')] } },
          { downwardAPI: { items: [label('x/z')] } },
          { configMap: { name: 'whole' } },
        ],
      },
    }),
  ),
  warned(
    'projected files of one name',
    volume({
      projected: {
        sources: [
          { configMap: { name: 'm', items: [item('a', 'x'), item('b', 'y')] } },
          { secret: { name: 's', items: [item('a', 'y')] } },
          { downwardAPI: { items: [label('y')] } },
          { serviceAccountToken: { path: 'x' } },
        ],
      },
    }),
  ),
  warned('a source of nothing', volume({ projected: { sources: [{}] } })),
];

const ANNOTATIONS: readonly ScriptedRequest[] = [
  'scheduler.alpha.kubernetes.io/critical-pod',
  'security.alpha.kubernetes.io/sysctls',
  'security.alpha.kubernetes.io/unsafe-sysctls',
  'seccomp.security.alpha.kubernetes.io/pod',
  'container.seccomp.security.alpha.kubernetes.io/main',
].map((key) =>
  warned(
    `an annotation without effect: ${key}`,
    {},
    { annotations: { [key]: key.includes('seccomp') ? 'runtime/default' : '' } },
  ),
);

const TEMPLATE = {
  ...container({ env: VARIABLES, resources: { requests: { memory: '100m' } } }),
  terminationGracePeriodSeconds: -1,
  nodeSelector: { 'beta.kubernetes.io/os': 'linux' },
};

const OF_JOBS: readonly ScriptedRequest[] = [
  {
    name: 'a Job whose Pods one would be warned of',
    method: 'POST',
    path: JOBS,
    body: job('warned', TEMPLATE, {
      annotations: { 'scheduler.alpha.kubernetes.io/critical-pod': '' },
    }),
  },
  {
    name: 'a Job that stays as it is, whose Pods one was warned of',
    method: 'PATCH',
    path: `${JOBS}/warned`,
    headers: MERGE,
    body: { metadata: { labels: { a: 'b' } } },
  },
  {
    name: 'a Job that changes, whose Pods one was warned of',
    method: 'PATCH',
    path: `${JOBS}/warned`,
    headers: MERGE,
    body: { spec: { parallelism: 2 } },
  },
  {
    name: 'a Pod to be warned of no more',
    method: 'POST',
    path: PODS,
    body: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'odd' },
      spec: podSpec({ schedulerName: 'nobody', ...container({ env: VARIABLES }) }),
    },
  },
  {
    name: 'a Pod that changes, of which one was warned',
    method: 'PATCH',
    path: `${PODS}/odd`,
    headers: MERGE,
    body: { metadata: { labels: { a: 'b' } } },
  },
];

export const WARNING_REQUESTS: readonly ScriptedRequest[] = [
  ...LISTS,
  ...PLACES,
  ...VOLUMES,
  ...ANNOTATIONS,
  ...OF_JOBS,
];
