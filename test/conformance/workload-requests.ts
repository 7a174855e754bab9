/** Workloads and groups of Pods that are scheduled as a whole: an API that real servers have off by default. */
import { MERGE, type ScriptedRequest, TABLE } from './scripted-request.ts';

const API = '/apis/scheduling.k8s.io/v1alpha2/namespaces/conformance';
const WORKLOADS = `${API}/workloads`;
const POD_GROUPS = `${API}/podgroups`;

const GANG = { gang: { minCount: 4 } };
const of = (kind: string, name: string, spec: object): object => ({
  apiVersion: 'scheduling.k8s.io/v1alpha2',
  kind,
  metadata: { name },
  spec,
});

const workload = (name: string, called: string, spec: object): ScriptedRequest => ({
  name: called,
  method: 'POST',
  path: WORKLOADS,
  body: of('Workload', name, spec),
});

const podGroup = (name: string, called: string, spec: object): ScriptedRequest => ({
  name: called,
  method: 'POST',
  path: POD_GROUPS,
  body: of('PodGroup', name, spec),
});

const templateOf = (workloadName: string, podGroupTemplateName: string): object => ({
  podGroupTemplateRef: { workload: { workloadName, podGroupTemplateName } },
});

export const WORKLOAD_REQUESTS: readonly ScriptedRequest[] = [
  workload('gang', 'a Workload', {
    controllerRef: { apiGroup: 'jobset.x-k8s.io', kind: 'JobSet', name: 'train' },
    podGroupTemplates: [
      { name: 'workers', schedulingPolicy: GANG },
      {
        name: 'driver',
        schedulingPolicy: { basic: {} },
        schedulingConstraints: { topology: [{ key: 'topology.kubernetes.io/rack' }] },
        resourceClaims: [{ name: 'nic', resourceClaimName: 'nics' }],
        disruptionMode: 'PodGroup',
        priorityClassName: 'high',
        priority: 10,
      },
    ],
  }),
  workload('empty', 'a Workload of nothing', {}),
  {
    name: 'a Workload without a spec',
    method: 'POST',
    path: WORKLOADS,
    body: { ...of('Workload', 'w', {}), spec: undefined },
  },
  {
    name: 'a label of a Workload',
    method: 'PATCH',
    path: `${WORKLOADS}/gang`,
    headers: MERGE,
    body: { metadata: { labels: { a: 'b' } } },
  },
  { name: 'a table of Workloads', method: 'GET', path: WORKLOADS, headers: TABLE },
  podGroup('workers', 'a PodGroup', {
    ...templateOf('gang', 'workers'),
    schedulingPolicy: GANG,
    schedulingConstraints: { topology: [{ key: 'topology.kubernetes.io/rack' }] },
  }),
  podGroup('alone', 'a PodGroup of its own', { schedulingPolicy: { basic: {} } }),
  ...['workers', 'alone'].map((name) => ({
    // Its controller takes that away, which has to act before the namespace can go.
    name: `the PodGroup ${name} without protection`,
    method: 'PATCH' as const,
    path: `${POD_GROUPS}/${name}`,
    headers: MERGE,
    body: { metadata: { finalizers: null } },
  })),
  {
    name: 'the status of a PodGroup',
    method: 'PATCH',
    path: `${POD_GROUPS}/workers/status`,
    headers: MERGE,
    body: {
      status: {
        conditions: [
          {
            type: 'PodGroupScheduled',
            status: 'False',
            reason: 'Unschedulable',
            message: 'no rack has room',
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
        ],
      },
    },
  },
  { name: 'a table of PodGroups', method: 'GET', path: POD_GROUPS, headers: TABLE },
  { name: 'the end of a PodGroup', method: 'DELETE', path: `${POD_GROUPS}/alone` },
  { name: 'the end of a Workload', method: 'DELETE', path: `${WORKLOADS}/gang` },
];
