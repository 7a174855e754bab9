import { formatFieldError } from '@lockstep/kube/field-error.ts';
import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { expect, test } from 'vitest';
import { podErrors } from './pod.ts';
import { defaultPod } from './pod-defaults.ts';
import { podUpdateErrors } from './pod-update.ts';

const CONTAINER = { name: 'a', image: 'busybox' };

function podOf(spec: JsonObject, container: JsonObject = {}): Pod {
  const given = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'default' },
    spec: { containers: [{ ...CONTAINER, ...container }], ...spec },
  };
  return defaultPod(given) as Pod;
}

function problems(pod: Pod): string[] {
  return podErrors(pod).map(formatFieldError);
}

/** The texts come from a real API server, version 1.36. */
test.each<[name: string, container: JsonObject, problems: string[]]>([
  [
    'a name that is no label',
    { name: 'A' },
    [
      "spec.containers[0].name: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  ['no image', { image: '' }, ['spec.containers[0].image: Required value']],
  [
    'a port out of range',
    { ports: [{ containerPort: 70000 }] },
    [
      'spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive',
    ],
  ],
  [
    'a mount of no volume',
    { volumeMounts: [{ name: 'v', mountPath: '/a' }] },
    ['spec.containers[0].volumeMounts[0].name: Not found: "v"'],
  ],
  [
    'more requested than allowed',
    { resources: { limits: { cpu: '1' }, requests: { cpu: '2' } } },
    [
      'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
    ],
  ],
  [
    'a field that no variable can show',
    { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'status.phase' } } }] },
    [
      'spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Unsupported value: "status.phase": supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"',
    ],
  ],
])('a container with %s is refused', (_name, container, expected) => {
  expect(problems(podOf({}, container))).toEqual(expected);
});

test.each<[name: string, spec: JsonObject, problems: string[]]>([
  ['no containers', { containers: [] }, ['spec.containers: Required value']],
  [
    'two containers of one name',
    { initContainers: [CONTAINER] },
    ['spec.initContainers[0].name: Duplicate value: "a"'],
  ],
  [
    'two volumes of one name',
    { volumes: [{ name: 'v' }, { name: 'v' }] },
    ['spec.volumes[1].name: Duplicate value: "v"'],
  ],
  [
    'a volume that leaves its place',
    { volumes: [{ name: 'h', hostPath: { path: '/a/../b' } }] },
    ['spec.volumes[0].hostPath.path: Invalid value: "/a/../b": must not contain \'..\''],
  ],
  [
    'a gate and a node',
    { schedulingGates: [{ name: 'a/b' }], nodeName: 'n' },
    ['spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared'],
  ],
  [
    'a toleration of everything that says Equal',
    { tolerations: [{}] },
    [
      'spec.tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is empty, which means "match all values and all keys"',
    ],
  ],
  [
    'a host port that is not its own',
    {
      hostNetwork: true,
      containers: [{ ...CONTAINER, ports: [{ containerPort: 1, hostPort: 2 }] }],
    },
    [
      'spec.containers[0].ports[0].hostPort: Invalid value: 2: must match `containerPort` when `hostNetwork` is true',
    ],
  ],
])('a Pod with %s is refused', (_name, spec, expected) => {
  expect(problems(podOf(spec))).toEqual(expected);
});

test('a sidecar may restart all containers on every exit', () => {
  const agent = {
    name: 'agent',
    image: 'i',
    restartPolicy: 'Always',
    restartPolicyRules: [{ action: 'RestartPod', exitCodes: { operator: 'NotIn', values: [] } }],
    startupProbe: { httpGet: { port: 8080 }, failureThreshold: 2147483647 },
  };
  expect(problems(podOf({ initContainers: [agent] }))).toEqual([]);
});

test('a Pod gets the defaults of the original server', () => {
  const { spec } = podOf(
    { volumes: [{ name: 'e' }, { name: 's', secret: { secretName: 'x' } }] },
    {
      resources: { limits: { memory: '1024Mi', cpu: 0.5 } },
      livenessProbe: { httpGet: { port: 80 } },
    },
  );
  expect(spec).toEqual({
    containers: [
      {
        ...CONTAINER,
        imagePullPolicy: 'Always',
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        resources: {
          limits: { memory: '1Gi', cpu: '500m' },
          requests: { memory: '1Gi', cpu: '500m' },
        },
        livenessProbe: {
          httpGet: { port: 80, path: '/', scheme: 'HTTP' },
          timeoutSeconds: 1,
          periodSeconds: 10,
          successThreshold: 1,
          failureThreshold: 3,
        },
      },
    ],
    volumes: [
      { name: 'e', emptyDir: {} },
      { name: 's', secret: { secretName: 'x', defaultMode: 420 } },
    ],
    dnsPolicy: 'ClusterFirst',
    enableServiceLinks: true,
    restartPolicy: 'Always',
    schedulerName: 'default-scheduler',
    securityContext: {},
    terminationGracePeriodSeconds: 30,
  });
});

test.each([
  ['', 'IfNotPresent'],
  ['a', 'Always'],
  ['a:latest', 'Always'],
  ['a:1', 'IfNotPresent'],
  ['registry:5000/a', 'Always'],
  ['registry:5000/a:2', 'IfNotPresent'],
  ['a@sha256:00', 'IfNotPresent'],
])('image %o is pulled %s', (image, policy) => {
  expect(podOf({}, { image }).spec.containers[0]?.imagePullPolicy).toBe(policy);
});

const FORBIDDEN =
  'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

test.each<[name: string, after: Pod, before: Pod, problems: string[]]>([
  ['another image', podOf({}, { image: 'x:1', imagePullPolicy: 'Always' }), podOf({}), []],
  ['another command', podOf({}, { command: ['x'] }), podOf({}), [FORBIDDEN]],
  ['another node', podOf({ nodeName: 'n' }), podOf({}), [FORBIDDEN]],
  [
    'one more container',
    podOf({ containers: [CONTAINER, { ...CONTAINER, name: 'b' }] }),
    podOf({}),
    ['spec.containers: Forbidden: pod updates may not add or remove containers'],
  ],
  [
    'a shorter deadline',
    podOf({ activeDeadlineSeconds: 5 }),
    podOf({ activeDeadlineSeconds: 6 }),
    [],
  ],
  [
    'a longer deadline',
    podOf({ activeDeadlineSeconds: 6 }),
    podOf({ activeDeadlineSeconds: 5 }),
    ['spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to previous value'],
  ],
  ['one more toleration', podOf({ tolerations: [{ operator: 'Exists' }] }), podOf({}), []],
  [
    'one less toleration',
    podOf({}),
    podOf({ tolerations: [{ operator: 'Exists' }] }),
    [
      'spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds',
    ],
  ],
  ['one less gate', podOf({}), podOf({ schedulingGates: [{ name: 'a/b' }] }), []],
  [
    'one more gate',
    podOf({ schedulingGates: [{ name: 'a/b' }] }),
    podOf({}),
    [
      "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'a/b'",
    ],
  ],
  [
    'fewer nodes while gated',
    podOf({ schedulingGates: [{ name: 'a/b' }], nodeSelector: { a: 'b' } }),
    podOf({ schedulingGates: [{ name: 'a/b' }] }),
    [],
  ],
])('an update to %s', (_name, after, before, expected) => {
  const lines = podUpdateErrors(after, before).map(
    (error) => formatFieldError(error).split('\n')[0],
  );
  expect(lines).toEqual(expected);
});

test('a refused update shows what it would have changed', () => {
  const [error] = podUpdateErrors(podOf({ hostname: 'b' }), podOf({ hostname: 'a' }));
  expect(error?.detail.split('\n').slice(1)).toEqual(['- hostname: "a"', '+ hostname: "b"']);
});
