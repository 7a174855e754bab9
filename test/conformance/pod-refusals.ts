/**
 * Everything that may be wrong with a Pod, one thing at a time: restart policies and rules, probes
 * and hooks, and everything else that a node honours. None of the Pods is created.
 */
import { PODS, type ScriptedRequest } from './scripted-request.ts';

function tried(name: string, spec: object, metadata: object = {}): ScriptedRequest {
  return {
    name: `a Pod: ${name}`,
    method: 'POST',
    path: `${PODS}?dryRun=All`,
    body: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'refused', ...metadata },
      spec: {
        schedulerName: 'nobody',
        automountServiceAccountToken: false,
        containers: [{ name: 'main', image: 'none' }],
        ...spec,
      },
    },
  };
}

/** A Pod with these fields in its only container. */
function inContainer(name: string, fields: object, spec: object = {}): ScriptedRequest {
  return tried(name, { containers: [{ name: 'main', image: 'none', ...fields }], ...spec });
}

function inInit(name: string, fields: object): ScriptedRequest {
  return tried(name, { initContainers: [{ name: 'init', image: 'none', ...fields }] });
}

function inVolume(name: string, source: object): ScriptedRequest {
  return tried(name, { volumes: [{ name: 'v', ...source }] });
}

function many<T>(count: number, item: (index: number) => T): readonly T[] {
  return Array.from({ length: count }, (_, index) => item(index));
}

const RULE = { action: 'Restart', exitCodes: { operator: 'In', values: [1] } };

const RULES: readonly (readonly [name: string, fields: object])[] = [
  ['rules without a policy', { restartPolicyRules: [RULE] }],
  ['an unknown policy', { restartPolicy: 'Sometimes' }],
  ['an empty policy', { restartPolicy: '' }],
  ['21 rules', { restartPolicy: 'Never', restartPolicyRules: many(21, () => RULE) }],
  ['an unknown action', { restartPolicy: 'Never', restartPolicyRules: [{ ...RULE, action: 'X' }] }],
  ['no action', { restartPolicy: 'Never', restartPolicyRules: [{ exitCodes: RULE.exitCodes }] }],
  ['no exit codes', { restartPolicy: 'Never', restartPolicyRules: [{ action: 'Restart' }] }],
  [
    'no operator',
    {
      restartPolicy: 'Never',
      restartPolicyRules: [{ action: 'Restart', exitCodes: { values: [1] } }],
    },
  ],
  [
    'an unknown operator',
    {
      restartPolicy: 'Never',
      restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'Near' } }],
    },
  ],
  [
    '256 exit codes',
    {
      restartPolicy: 'Never',
      restartPolicyRules: [
        { action: 'Restart', exitCodes: { operator: 'In', values: many(256, (index) => index) } },
      ],
    },
  ],
  [
    'exit codes twice, out of order and out of range',
    {
      restartPolicy: 'OnFailure',
      restartPolicyRules: [
        { action: 'Restart', exitCodes: { operator: 'In', values: [300, -1, 300] } },
        { action: 'RestartAllContainers', exitCodes: { operator: 'NotIn', values: [0] } },
        { action: 'Restart', exitCodes: { operator: 'In' } },
      ],
    },
  ],
  ['rules beside Always', { restartPolicy: 'Always', restartPolicyRules: [RULE] }],
];

const EXEC = { exec: { command: ['true'] } };

const PROBES: readonly (readonly [name: string, probe: object])[] = [
  ['of nothing', {}],
  ['of two kinds', { ...EXEC, tcpSocket: { port: 1 } }],
  ['of no command', { exec: {} }],
  ['of no port', { tcpSocket: { port: 0 } }],
  ['of a port beyond the last', { httpGet: { port: 65_536 } }],
  ['of a port of a bad name', { httpGet: { port: 'a_b' } }],
  ['of no path', { httpGet: { port: 1, path: '' } }],
  ['of an unknown scheme', { httpGet: { port: 1, scheme: 'FTP' } }],
  ['of a bad header', { httpGet: { port: 1, httpHeaders: [{ name: 'a b', value: 'c' }] } }],
  ['of gRPC without a port', { grpc: { port: 0 } }],
  ['with two successes', { ...EXEC, successThreshold: 2 }],
  [
    'with negative numbers',
    { ...EXEC, periodSeconds: -1, failureThreshold: -1, timeoutSeconds: -1 },
  ],
  ['with no grace', { ...EXEC, terminationGracePeriodSeconds: 0 }],
  ['with its defaults', EXEC],
];

const HOOKS: readonly ScriptedRequest[] = [
  inContainer('a hook of nothing', { lifecycle: { preStop: {} } }),
  inContainer('a hook of two kinds', {
    lifecycle: { preStop: { ...EXEC, httpGet: { port: 1 } } },
  }),
  inContainer('a hook that sleeps too long', {
    lifecycle: { preStop: { sleep: { seconds: 31 } } },
  }),
  inContainer('a hook that sleeps', { lifecycle: { postStart: { sleep: { seconds: 0 } } } }),
  inContainer('a hook that connects', { lifecycle: { postStart: { tcpSocket: { port: 0 } } } }),
  inInit('a hook of an init container', { lifecycle: { postStart: EXEC } }),
];

const CONTAINERS: readonly ScriptedRequest[] = [
  inContainer('an image with spaces', { image: ' none ' }),
  inContainer('an unknown termination message policy', { terminationMessagePolicy: 'Shout' }),
  inContainer('a port beyond the last', { ports: [{ containerPort: 65_536, hostPort: -1 }] }),
  inContainer('an unknown protocol', { ports: [{ containerPort: 1, protocol: 'ICMP' }] }),
  inContainer('two ports of one name', {
    ports: [
      { containerPort: 1, name: 'web' },
      { containerPort: 2, name: 'web' },
    ],
  }),
  inContainer('a port of a bad name', {
    ports: [{ containerPort: 1, name: 'a-very-long-name-it-is' }],
  }),
  inContainer('host ports twice', {
    ports: [
      { containerPort: 1, hostPort: 80 },
      { containerPort: 2, hostPort: 80 },
    ],
  }),
  inContainer('an address of the host that is none', {
    ports: [{ containerPort: 1, hostPort: 80, hostIP: 'here' }],
  }),
  inContainer('a variable of a bad name', { env: [{ name: 'a=b', value: 'c' }] }),
  inContainer('a variable of two sources', {
    env: [{ name: 'A', value: 'b', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
  }),
  inContainer('a variable of no source', { env: [{ name: 'A', valueFrom: {} }] }),
  inContainer('a variable of an unknown field', {
    env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.hostname' } } }],
  }),
  inContainer('a variable of an unknown resource', {
    env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.gpu' } } }],
  }),
  inContainer('a variable of a resource with a bad divisor', {
    env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '3' } } }],
  }),
  inContainer('a variable of memory in thirds', {
    env: [
      { name: 'A', valueFrom: { resourceFieldRef: { resource: 'requests.memory', divisor: '3' } } },
    ],
  }),
  inContainer('a variable of memory in mebibytes', {
    env: [
      { name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1Mi' } } },
    ],
  }),
  inContainer('a variable of a key without a name', {
    env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: '', key: '' } } }],
  }),
  inContainer('variables of nothing', { envFrom: [{ prefix: '=' }] }),
  inContainer('more memory asked for than allowed', {
    resources: { requests: { memory: '2Gi' }, limits: { memory: '1Gi' } },
  }),
  inContainer('a negative amount', { resources: { requests: { cpu: '-1' } } }),
  inContainer('an amount that is none', { resources: { requests: { cpu: 'much' } } }),
  inContainer('an unknown resource', { resources: { requests: { gpu: '1' } } }),
  inContainer('part of a device', { resources: { limits: { 'example.com/gpu': '500m' } } }),
  inContainer('a device without a limit', { resources: { requests: { 'example.com/gpu': '1' } } }),
  inContainer('a claim of resources that nobody makes', { resources: { claims: [{ name: 'c' }] } }),
  inContainer('a resize policy twice', {
    resizePolicy: [
      { resourceName: 'cpu', restartPolicy: 'NotRequired' },
      { resourceName: 'cpu', restartPolicy: 'RestartContainer' },
    ],
  }),
  inContainer(
    'mounts at one place',
    { volumeMounts: many(2, () => ({ name: 'v', mountPath: '/v' })) },
    {
      volumes: [{ name: 'v', emptyDir: {} }],
    },
  ),
  inContainer(
    'a mount of two parts, one of which leads out',
    { volumeMounts: [{ name: 'v', mountPath: '/v', subPath: '../a', subPathExpr: '$(B)' }] },
    { volumes: [{ name: 'v', emptyDir: {} }] },
  ),
  inContainer(
    'a mount that reaches back',
    { volumeMounts: [{ name: 'v', mountPath: '/v', mountPropagation: 'Bidirectional' }] },
    { volumes: [{ name: 'v', emptyDir: {} }] },
  ),
  inContainer(
    'a mount with a colon',
    { volumeMounts: [{ name: 'v', mountPath: '/v:w' }] },
    {
      volumes: [{ name: 'v', emptyDir: {} }],
    },
  ),
  inContainer('a device of no volume', { volumeDevices: [{ name: 'v', devicePath: '/dev/v' }] }),
  inContainer(
    'devices that are directories, twice, and in the way of a mount',
    {
      volumeMounts: [{ name: 'v', mountPath: '/dev/v' }],
      volumeDevices: [
        { name: 'v', devicePath: '/dev/v' },
        { name: 'w', devicePath: '/dev/../w' },
        { name: 'w', devicePath: '' },
      ],
    },
    {
      volumes: [
        { name: 'v', emptyDir: {} },
        { name: 'w', persistentVolumeClaim: { claimName: 'c' } },
      ],
    },
  ),
  inContainer(
    'a restart for a resize, under Never',
    {
      resizePolicy: [{ resourceName: 'gpu', restartPolicy: 'RestartContainer' }],
    },
    { restartPolicy: 'Never' },
  ),
  inContainer(
    'a claim of resources of another name',
    { resources: { claims: [{ name: 'd' }] } },
    {
      resourceClaims: [{ name: 'c', resourceClaimName: 'x' }],
    },
  ),
  inContainer('half of a huge page', {
    resources: { limits: { 'hugepages-2Mi': '1500m', cpu: '1' } },
  }),
  inContainer('a user below zero', { securityContext: { runAsUser: -1 } }),
  inContainer('privileges that contradict', {
    securityContext: { privileged: true, allowPrivilegeEscalation: false },
  }),
  inContainer('a stop signal without a system', { lifecycle: { stopSignal: 'SIGINT' } }),
  inContainer('no name', { name: '' }),
  inContainer('standard input once, and a terminal', { stdin: true, stdinOnce: true, tty: true }),
];

const SPREAD = {
  maxSkew: 1,
  topologyKey: 'zone',
  whenUnsatisfiable: 'DoNotSchedule',
  labelSelector: {},
};

const WHOLE: readonly ScriptedRequest[] = [
  tried('an empty restart policy', { restartPolicy: '' }),
  tried('a deadline too far', { activeDeadlineSeconds: 2_147_483_648 }),
  tried('a long host name', { hostname: 'a'.repeat(64) }),
  tried('a bad subdomain', { subdomain: 'a.b' }),
  tried('a bad account', { serviceAccountName: 'A' }),
  tried('a bad node', { nodeName: 'A' }),
  tried('a bad readiness gate', { readinessGates: [{ conditionType: 'a b' }] }),
  tried('a scheduling gate twice', { schedulingGates: many(2, () => ({ name: 'a' })) }),
  tried('names of hosts that are none', { hostAliases: [{ ip: 'here', hostnames: ['a b'] }] }),
  tried('own DNS without servers', { dnsPolicy: 'None' }),
  tried('bad DNS', {
    dnsConfig: { nameservers: ['here'], searches: ['a b'], options: [{ value: 'x' }] },
  }),
  tried('too many name servers', { dnsConfig: { nameservers: many(4, (i) => `1.1.1.${i}`) } }),
  tried('too many searches', {
    dnsConfig: { searches: many(33, (i) => `${'a'.repeat(63)}.${i}`), nameservers: ['::1'] },
  }),
  tried('DNS of no servers', { dnsPolicy: 'None', dnsConfig: {} }),
  tried('DNS as many have it', {
    dnsConfig: {
      nameservers: ['10.0.0.10', '2001:db8::1'],
      searches: ['ns.svc.cluster.local', '_x.example.com.', '.'],
      options: [{ name: 'ndots', value: '5' }],
    },
  }),
  tried('processes of the host that are shared', { hostPID: true, shareProcessNamespace: true }),
  tried('a host port that is not its own, on the network of the host', {
    hostNetwork: true,
    containers: [{ name: 'main', image: 'none', ports: [{ containerPort: 1, hostPort: 2 }] }],
  }),
  tried('an unknown class of priority', { priorityClassName: 'none' }),
  tried('a priority of its own', { priority: 1 }),
  tried('a preemption policy of its own', { preemptionPolicy: 'Never' }),
  tried('spread over nothing', {
    topologySpreadConstraints: [
      { maxSkew: 0, topologyKey: '', whenUnsatisfiable: 'Perhaps', labelSelector: {} },
    ],
  }),
  tried('spread over one place twice', {
    topologySpreadConstraints: many(2, () => SPREAD),
  }),
  tried('spread over domains that are only preferred', {
    topologySpreadConstraints: [
      {
        ...SPREAD,
        whenUnsatisfiable: 'ScheduleAnyway',
        minDomains: 0,
        labelSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] },
      },
    ],
  }),
  tried('a toleration of an unknown kind', {
    tolerations: [{ key: 'a', operator: 'Near', effect: 'Later' }],
  }),
  tried('a toleration for some time of what is for ever', {
    tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoSchedule', tolerationSeconds: 1 }],
  }),
  tried('a group below zero', { securityContext: { runAsGroup: -1, fsGroup: -1 } }),
  tried('a sysctl twice, and one of no name', {
    securityContext: {
      sysctls: ['net.ipv4.tcp_syncookies', 'net.ipv4.tcp_syncookies', ''].map((name) => ({
        name,
        value: '1',
      })),
      supplementalGroups: [1, -1],
    },
  }),
  tried('a sysctl of a bad name', { securityContext: { sysctls: [{ name: 'a b', value: '1' }] } }),
  tried('a system that needs other fields', {
    os: { name: 'windows' },
    securityContext: { runAsUser: 1 },
  }),
  tried('an unknown system', { os: { name: 'plan9' } }),
  tried('claims of resources of one name, of two kinds', {
    resourceClaims: [
      { name: 'c', resourceClaimName: 'x' },
      { name: 'c', resourceClaimName: 'x', resourceClaimTemplateName: 'y' },
      { name: '', resourceClaimName: 'x' },
      { name: 'C', resourceClaimName: 'x' },
    ],
  }),
  tried('a claim of resources of no kind', { resourceClaims: [{ name: 'c' }] }),
  tried('a label that is none', {}, { labels: { 'a b': 'c d' } }),
  tried('an ephemeral container', {
    ephemeralContainers: [{ name: 'look', image: 'none', restartPolicy: 'Always' }],
  }),
  tried('two containers of one name', {
    initContainers: [{ name: 'main', image: 'none' }],
  }),
];

const VOLUMES: readonly ScriptedRequest[] = [
  inVolume('a volume of nothing', {}),
  tried('a volume of a bad name', { volumes: [{ name: 'A', emptyDir: {} }] }),
  inVolume('a path of the host of an unknown kind', { hostPath: { path: '/a', type: 'Pipe' } }),
  inVolume('a path of the host that leads back', { hostPath: { path: '/a/../b' } }),
  inVolume('an empty directory of negative size', { emptyDir: { sizeLimit: '-1' } }),
  inVolume('a ConfigMap without a name', { configMap: {} }),
  inVolume('files of bad places and modes', {
    configMap: { name: 'm', defaultMode: 512, items: [{ key: '', path: '/a', mode: -1 }] },
  }),
  inVolume('a Secret without a name', { secret: {} }),
  inVolume('a file of two fields', {
    downwardAPI: {
      items: [
        {
          path: 'x',
          fieldRef: { fieldPath: 'metadata.name' },
          resourceFieldRef: { containerName: 'main', resource: 'limits.cpu' },
        },
      ],
    },
  }),
  inVolume('a file of no field', { downwardAPI: { items: [{ path: 'x' }] } }),
  inVolume('a file of a resource of no container', {
    downwardAPI: { items: [{ path: 'x', resourceFieldRef: { resource: 'limits.cpu' } }] },
  }),
  inVolume('a file of a field that is none', {
    downwardAPI: { items: [{ path: 'x', fieldRef: { fieldPath: 'status.podIP' } }] },
  }),
  inVolume('a token that lives too short', {
    projected: { sources: [{ serviceAccountToken: { path: 'x', expirationSeconds: 60 } }] },
  }),
  inVolume('two sources in one', {
    projected: { sources: [{ configMap: { name: 'm' }, secret: { name: 's' } }] },
  }),
  inVolume('a claim without a name', { persistentVolumeClaim: { claimName: '' } }),
  inVolume('an image of nothing', { image: { reference: '' } }),
];

export const POD_REFUSALS: readonly ScriptedRequest[] = [
  ...RULES.map(([name, fields]) => inContainer(name, fields)),
  ...RULES.map(([name, fields]) => inInit(`${name}, of an init container`, fields)),
  ...(['livenessProbe', 'readinessProbe', 'startupProbe'] as const).flatMap((kind) =>
    PROBES.map(([name, probe]) => inContainer(`a ${kind} ${name}`, { [kind]: probe })),
  ),
  ...(['livenessProbe', 'readinessProbe', 'startupProbe'] as const).flatMap((kind) => [
    inInit(`a ${kind} of an init container`, { [kind]: EXEC }),
    inInit(`a ${kind} of a sidecar`, { restartPolicy: 'Always', [kind]: EXEC }),
  ]),
  ...HOOKS,
  ...CONTAINERS,
  ...WHOLE,
  ...VOLUMES,
];
