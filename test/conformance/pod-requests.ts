/** Pods. Their scheduler does not exist, so only the script changes them. */
import { MERGE, PODS, type ScriptedRequest, STRATEGIC } from './scripted-request.ts';

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

/** Patches each change into the Pod; it is refused or kept. */
function changes(
  name: string,
  specs: readonly (readonly [change: string, spec: object])[],
): readonly ScriptedRequest[] {
  return specs.map(([change, spec]) => ({
    name: `a Pod that gets ${change}`,
    method: 'PATCH',
    path: `${PODS}/${name}`,
    headers: STRATEGIC,
    body: { spec },
  }));
}

function statusOf(name: string, exitCode?: number): object {
  const startedAt = '2026-01-01T00:00:00Z';
  const state =
    exitCode === undefined
      ? { running: { startedAt } }
      : { terminated: { exitCode, startedAt, finishedAt: startedAt } };
  return { name, state, lastState: {}, ready: false, restartCount: 0, image: '', imageID: '' };
}

/**
 * Statuses of a Pod under Never whose containers end and run again, which a rule may or may not
 * allow.
 */
function told(name: string, spec: object): readonly ScriptedRequest[] {
  const init = [statusOf('init', 0)];
  const tell = (what: string, containers: readonly object[], inits = init): ScriptedRequest => ({
    name: `a Pod whose ${what}`,
    method: 'PATCH',
    path: `${PODS}/${name}/status`,
    headers: MERGE,
    body: { status: { containerStatuses: containers, initContainerStatuses: inits } },
  });
  return [
    {
      name: 'a Pod under Never',
      method: 'POST',
      path: PODS,
      body: pod(name, { restartPolicy: 'Never', ...spec }),
    },
    tell('containers have ended', [statusOf('main', 0), statusOf('own', 1)]),
    tell('container comes back from its end', [statusOf('main'), statusOf('own', 1)]),
    tell(
      'init container comes back',
      [statusOf('main', 0), statusOf('own', 1)],
      [statusOf('init')],
    ),
    tell('other container restarts by its policy', [statusOf('main', 0), statusOf('own')]),
    tell('other container succeeds', [statusOf('main', 0), statusOf('own', 0)]),
    tell('other container restarts by a rule', [statusOf('main', 0), statusOf('own')]),
    tell('ended container is not told of any more', [statusOf('own', 3)]),
  ];
}

export const POD_REQUESTS: readonly ScriptedRequest[] = [
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
  ...changes('rules', [
    ['other restart rules', { containers: [{ name: 'main', restartPolicyRules: [] }] }],
    ['another policy of a container', { containers: [{ name: 'main', restartPolicy: 'Always' }] }],
    ['another policy of a Pod', { restartPolicy: 'Always' }],
    ['another grace period', { terminationGracePeriodSeconds: 5 }],
    ['a deadline', { activeDeadlineSeconds: 60 }],
    ['a longer deadline', { activeDeadlineSeconds: 90 }],
    ['no deadline', { activeDeadlineSeconds: null }],
    ['a toleration more', { tolerations: [{ key: 'a', operator: 'Exists' }] }],
    ['a scheduling gate', { schedulingGates: [{ name: 'a' }] }],
    ['a container more', { containers: [{ name: 'other', image: 'none' }] }],
    ['an image with spaces', { containers: [{ name: 'main', image: ' x' }] }],
    ['the same again', { containers: [{ name: 'main', image: 'x' }] }],
  ]),
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
  ...told('ended', {
    initContainers: [{ name: 'init', image: 'none' }],
    containers: [
      { name: 'main', image: 'none' },
      {
        name: 'own',
        image: 'none',
        restartPolicy: 'OnFailure',
        restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [0] } }],
      },
    ],
  }),
  { name: 'the log of a Pod without a node', method: 'GET', path: `${PODS}/p/log` },
  { name: 'a Pod by phase', method: 'GET', path: `${PODS}?fieldSelector=status.phase%3DFailed` },
  {
    name: 'a binding to nothing',
    method: 'POST',
    path: `${PODS}/p/binding`,
    body: { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { name: '' } },
  },
  { name: 'delete a Pod at once', method: 'DELETE', path: `${PODS}/p?gracePeriodSeconds=0` },
];
