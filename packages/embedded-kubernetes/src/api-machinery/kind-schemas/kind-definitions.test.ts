import { POD_AMENDMENTS } from '@lockstep/kube/pod-schema/pod-amendments.ts';
import { POD_DEFINITION_TEXTS } from '@lockstep/kube/pod-schema/pod-definitions.generated.ts';
import { POD_DEFINITIONS } from '@lockstep/kube/pod-schema/pod-definitions.ts';
import { applyDefaults } from '@lockstep/kube/schema/defaults.ts';
import { Definitions } from '@lockstep/kube/schema/definitions.ts';
import { prune } from '@lockstep/kube/schema/prune.ts';
import { validate } from '@lockstep/kube/schema/validate.ts';
import { describe, expect, test } from 'vitest';
import { KIND_AMENDMENTS } from './kind-amendments.ts';
import { KIND_DEFINITION_TEXTS } from './kind-definitions.generated.ts';
import { KIND_DEFINITIONS, kindSchema } from './kind-definitions.ts';

const TABLES = [
  ['Pods and Jobs', POD_DEFINITION_TEXTS, POD_AMENDMENTS, POD_DEFINITIONS],
  ['other kinds', KIND_DEFINITION_TEXTS, KIND_AMENDMENTS, KIND_DEFINITIONS],
] as const;

describe.each(TABLES)('the definitions of %s', (_of, texts, amendments, definitions) => {
  const published = new Definitions({ texts, amendments: {}, base: definitions });
  const titles = Object.entries(texts).flatMap(([prefix, text]) =>
    [...text.matchAll(/^\w+/gm)].map(([name]) => `${prefix}.${name}`),
  );

  test.each(titles)('say what %s is', (title) => {
    expect(definitions.get(title)).toMatchObject({ title, type: 'object' });
  });

  const amended = Object.entries(amendments).flatMap(([prefix, byName]) =>
    Object.entries(byName).flatMap(([name, byField]) =>
      Object.entries(byField).map(
        ([field, amendment]) => [`${prefix}.${name}`, field, amendment] as const,
      ),
    ),
  );

  test.each(amended)(
    'are amended for %s, field "%s", which is there, with something new',
    (title, field, amendment) => {
      expect(titles).toContain(title);
      const schema = published.get(title);
      const target = field === '' ? schema : schema.properties?.[field];
      expect(target).toBeDefined();
      const keywords = typeof amendment === 'string' ? { description: amendment } : amendment;
      expect({ ...target, ...keywords }).not.toEqual(target);
    },
  );
});

describe('the schema of a kind', () => {
  test('is found by group, version and kind', () => {
    const titles = [
      { group: '', version: 'v1', kind: 'Pod' },
      { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'Role' },
      { group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition' },
    ].map((of) => kindSchema(of).title);
    expect(titles).toEqual([
      'io.k8s.api.core.v1.Pod',
      'io.k8s.api.rbac.v1.Role',
      'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition',
    ]);
  });

  test('of a kind that is not built in is not there', () => {
    const jobSet = { group: 'jobset.x-k8s.io', version: 'v1alpha2', kind: 'JobSet' };
    expect(() => kindSchema(jobSet)).toThrow('there is no definition io.k8s.api.jobset.v1alpha2');
  });

  test('of schemas contains itself', () => {
    const of = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps';
    const { properties = {} } = KIND_DEFINITIONS.get(of);
    expect(properties['not']).toBe(KIND_DEFINITIONS.get(of));
    expect(properties['items']).toBe(KIND_DEFINITIONS.get(of));
    expect(properties['additionalProperties']?.properties).toBe(properties);
  });
});

test('lists of a Pod are merged by the keys that strategic merge patches use', () => {
  const keys = ['Container', 'PodSpec'].map((type) => {
    const { properties = {} } = KIND_DEFINITIONS.get(`io.k8s.api.core.v1.${type}`);
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

const POD = kindSchema({ group: '', version: 'v1', kind: 'Pod' });

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
