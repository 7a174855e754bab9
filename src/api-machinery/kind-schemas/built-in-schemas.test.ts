import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { JOB } from '../../kube/pod-schema/job-schema.ts';
import { DELETE_OPTIONS } from '../../kube/pod-schema/meta-schema.ts';
import { POD } from '../../kube/pod-schema/pod-schema.ts';
import { PERSISTENT_VOLUME_CLAIM } from '../../kube/pod-schema/volume-claim-schema.ts';
import { applyDefaults } from '../../kube/schema/defaults.ts';
import type { JsonSchema } from '../../kube/schema/json-schema.ts';
import { prune } from '../../kube/schema/prune.ts';
import { validate } from '../../kube/schema/validate.ts';
import { CUSTOM_RESOURCE_DEFINITION } from '../definitions/custom-resource-definition-schema.ts';
import {
  BINDING,
  CONFIG_MAP,
  EVICTION,
  NAMESPACE,
  SECRET,
  SERVICE_ACCOUNT,
} from './core-schema.ts';
import { EVENT, EVENTS_EVENT } from './event-schema.ts';
import { LEASE } from './lease-schema.ts';
import { NODE } from './node-schema.ts';
import { CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING } from './rbac-schema.ts';
import {
  SELF_SUBJECT_ACCESS_REVIEW,
  SELF_SUBJECT_REVIEW,
  SELF_SUBJECT_RULES_REVIEW,
  SUBJECT_ACCESS_REVIEW,
  TOKEN_REQUEST,
  TOKEN_REVIEW,
} from './review-schema.ts';
import { ENDPOINT_SLICE, SERVICE } from './service-schema.ts';
import {
  MUTATING_WEBHOOK_CONFIGURATION,
  VALIDATING_WEBHOOK_CONFIGURATION,
} from './webhook-configuration-schema.ts';

const KINDS: readonly JsonSchema[] = [
  POD,
  JOB,
  SERVICE,
  ENDPOINT_SLICE,
  NODE,
  LEASE,
  EVENT,
  EVENTS_EVENT,
  BINDING,
  EVICTION,
  NAMESPACE,
  CONFIG_MAP,
  SECRET,
  SERVICE_ACCOUNT,
  PERSISTENT_VOLUME_CLAIM,
  DELETE_OPTIONS,
  ROLE,
  ROLE_BINDING,
  CLUSTER_ROLE,
  CLUSTER_ROLE_BINDING,
  CUSTOM_RESOURCE_DEFINITION,
  MUTATING_WEBHOOK_CONFIGURATION,
  VALIDATING_WEBHOOK_CONFIGURATION,
  SELF_SUBJECT_ACCESS_REVIEW,
  SELF_SUBJECT_REVIEW,
  SELF_SUBJECT_RULES_REVIEW,
  SUBJECT_ACCESS_REVIEW,
  TOKEN_REQUEST,
  TOKEN_REVIEW,
];

/** All named schemas below `schemas`, each once; a schema may contain itself. */
function definitionsIn(schemas: readonly JsonSchema[]): ReadonlyMap<string, JsonSchema> {
  const found = new Map<string, JsonSchema>();
  const visit = (schema: JsonSchema): void => {
    const { title, properties = {}, items, additionalProperties } = schema;
    if (title !== undefined) {
      if (found.has(title)) return;
      found.set(title, schema);
    }
    for (const property of Object.values(properties)) visit(property);
    if (items !== undefined) visit(items);
    if (typeof additionalProperties === 'object') visit(additionalProperties);
  };
  schemas.forEach(visit);
  return found;
}

/** Names of all types of Kubernetes 1.36 that these kinds consist of, and of all their fields. */
const RECORDED = readFileSync(new URL('testdata/kubernetes-1.36.fields', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => line.split(': '))
  .map(([type = '', fields = '']) => [`io.k8s.${type}`, fields.split(' ')] as const);

describe('the schemas of the built-in kinds', () => {
  const definitions = definitionsIn(KINDS);

  test.each(RECORDED)('have all fields of %s, and no others', (type, fields) => {
    const { properties = {} } = definitions.get(type) ?? {};
    expect(Object.keys(properties).sort()).toEqual(fields);
  });

  test('merge the lists of a Pod by the keys that strategic merge patches use', () => {
    const keys = ['Container', 'PodSpec'].map((type) => {
      const { properties = {} } = definitions.get(`io.k8s.api.core.v1.${type}`) ?? {};
      const merged = Object.entries(properties).map(([field, schema]) => [
        field,
        schema['x-kubernetes-patch-merge-key'],
      ]);
      return Object.fromEntries(merged.filter(([, mergeKey]) => mergeKey !== undefined));
    });
    expect(keys).toEqual([
      {
        ports: 'containerPort',
        env: 'name',
        volumeMounts: 'mountPath',
        volumeDevices: 'devicePath',
      },
      {
        volumes: 'name',
        initContainers: 'name',
        containers: 'name',
        ephemeralContainers: 'name',
        imagePullSecrets: 'name',
        hostAliases: 'ip',
        topologySpreadConstraints: 'topologyKey',
        schedulingGates: 'name',
        resourceClaims: 'name',
      },
    ]);
  });
});

test('a Pod as controllers write it passes unharmed', () => {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', labels: { x: 'y' }, ownerReferences: [] },
    spec: {
      restartPolicy: 'Never',
      schedulingGroup: { podGroupName: 'g' },
      tolerations: [{ operator: 'Exists', effect: '' }],
      initContainers: [
        {
          name: 'agent',
          image: 'i',
          restartPolicy: 'Always',
          restartPolicyRules: [
            { action: 'RestartPod', exitCodes: { operator: 'NotIn', values: [] } },
          ],
          startupProbe: { httpGet: { path: '/x', port: 8080 }, failureThreshold: 2147483647 },
        },
      ],
      containers: [
        {
          name: 'worker',
          image: 'i',
          ports: [{ containerPort: 80, protocol: 'TCP' }],
          resources: { limits: { cpu: 0.5, memory: '1Gi', 'nvidia.com/gpu': 1 } },
          env: [
            {
              name: 'A',
              valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } },
            },
          ],
          volumeMounts: [{ name: 'v', mountPath: '/v' }],
        },
      ],
      volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }],
    },
  };
  const { value, pruned } = prune(POD, pod);
  expect(pruned).toEqual([]);
  expect(applyDefaults(POD, value)).toBe(pod);
  expect(validate(POD, pod)).toEqual([]);
});

test('what a client leaves out of a status counts as nothing, as in the original server', () => {
  const status = {
    containerStatuses: [{ name: 'a', state: { terminated: { finishedAt: null } } }],
  };
  expect(applyDefaults(POD, { status })).toEqual({
    spec: {},
    status: {
      containerStatuses: [
        {
          name: 'a',
          ready: false,
          restartCount: 0,
          image: '',
          imageID: '',
          state: { terminated: { exitCode: 0 } },
        },
      ],
    },
  });
});
