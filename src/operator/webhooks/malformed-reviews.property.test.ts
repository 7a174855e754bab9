import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_FEATURE_GATES } from '../../jobset/feature-gates.ts';
import { admissionEndpoint } from './admission-endpoint.ts';
import { WEBHOOK_PATHS } from './webhook-configurations.ts';
import { webhookHandlers } from './webhook-handlers.ts';

const TEMPLATE = {
  metadata: { labels: { a: 'b' }, annotations: { c: 'd' }, creationTimestamp: null },
  spec: {
    nodeSelector: { zone: 'a' },
    tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoSchedule' }],
    affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [] } },
    volumes: [{ name: 'v', emptyDir: {} }],
    initContainers: [{ name: 'i', image: 'i', restartPolicy: 'Always' }],
    containers: [
      {
        name: 'c',
        image: 'i',
        command: ['run'],
        args: ['x'],
        env: [{ name: 'A', value: 'b' }],
        ports: [{ containerPort: 80 }],
        resources: { requests: { cpu: '1' }, limits: { memory: '1Gi' } },
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
        restartPolicy: 'Never',
        restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [3] } }],
      },
    ],
  },
};

const JOBSET = {
  apiVersion: 'jobset.x-k8s.io/v1alpha2',
  kind: 'JobSet',
  metadata: {
    name: 'train',
    namespace: 'ns',
    labels: { a: 'b' },
    annotations: { 'lockstep/restart-mode': 'Supervisor', 'lockstep/lost-node-deadline': '60s' },
  },
  spec: {
    replicatedJobs: [
      {
        name: 'w',
        replicas: 2,
        groupName: 'default',
        template: {
          metadata: { annotations: { x: 'y' } },
          spec: { parallelism: 2, completions: 2, backoffLimit: 1, template: TEMPLATE },
        },
      },
      {
        name: 'v',
        dependsOn: [{ name: 'w', status: 'Ready' }],
        template: { spec: { template: TEMPLATE } },
      },
    ],
    network: { enableDNSHostnames: true, subdomain: 'sub' },
    successPolicy: { operator: 'All', targetReplicatedJobs: ['w'] },
    failurePolicy: {
      maxRestarts: 3,
      restartStrategy: 'InPlaceRestart',
      rules: [
        {
          name: 'r',
          action: 'FailJobSet',
          targetReplicatedJobs: ['w'],
          onJobFailureReasons: ['DeadlineExceeded'],
          onJobFailureMessagePatterns: ['x.*'],
        },
      ],
    },
    startupPolicy: { startupPolicyOrder: 'AnyOrder' },
    coordinator: { replicatedJob: 'w', jobIndex: 0, podIndex: 0 },
    volumeClaimPolicies: [
      {
        templates: [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'] } }],
        retentionPolicy: { whenDeleted: 'Retain' },
      },
    ],
    suspend: false,
    managedBy: 'jobset.sigs.k8s.io/jobset-controller',
    ttlSecondsAfterFinished: 5,
  },
  status: { conditions: [{ type: 'Completed', status: 'True' }], restarts: 1 },
};

const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'train-w-0-1-abcde',
    labels: {
      'jobset.sigs.k8s.io/jobset-name': 'train',
      'jobset.sigs.k8s.io/replicatedjob-name': 'w',
      'jobset.sigs.k8s.io/job-index': '0',
      'jobset.sigs.k8s.io/job-key': 'k',
    },
    annotations: {
      'alpha.jobset.sigs.k8s.io/exclusive-topology': 'zone',
      'jobset.sigs.k8s.io/jobset-name': 'train',
      'batch.kubernetes.io/job-completion-index': '0',
    },
    ownerReferences: [
      { apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'u', controller: true },
    ],
  },
  spec: { ...TEMPLATE.spec, priority: 3 },
};

function review(object: object, operation: string, of: object) {
  const request = {
    uid: 'u',
    kind: { ...of, kind: 'JobSet' },
    resource: of,
    subResource: '',
    name: 'train',
    namespace: 'ns',
    operation,
    userInfo: { username: 'admin' },
    object,
    oldObject: operation === 'UPDATE' ? { ...object, metadata: { name: 'old' } } : null,
    options: {},
  };
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request };
}

const JOBSETS = { group: 'jobset.x-k8s.io', version: 'v1alpha2', resource: 'jobsets' };
const REVIEWS = [
  [WEBHOOK_PATHS.mutateJobSet, review(JOBSET, 'CREATE', JOBSETS)],
  [WEBHOOK_PATHS.mutateJobSet, review(JOBSET, 'UPDATE', JOBSETS)],
  [WEBHOOK_PATHS.validateJobSet, review(JOBSET, 'CREATE', JOBSETS)],
  [WEBHOOK_PATHS.validateJobSet, review(JOBSET, 'UPDATE', JOBSETS)],
  [WEBHOOK_PATHS.mutatePod, review(POD, 'CREATE', { group: '', version: 'v1', resource: 'pods' })],
  [
    WEBHOOK_PATHS.validatePod,
    review(POD, 'CREATE', { group: '', version: 'v1', resource: 'pods' }),
  ],
] as const;

/** The keys that lead to every value in `value`. */
function pathsIn(value: unknown, at: readonly string[] = []): (readonly string[])[] {
  const isContainer = Array.isArray(value) || isJsonObject(value);
  const below = isContainer ? Object.entries(value) : [];
  return [at, ...below.flatMap(([key, member]) => pathsIn(member, [...at, key]))];
}

function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value)) {
    return value.map((item, index) => (`${index}` === key ? replaced(item, rest, by) : item));
  }
  if (!isJsonObject(value)) return value;
  return { ...value, [key]: replaced(value[key], rest, by) };
}

const endpoint = admissionEndpoint({
  clock: new VirtualClock(),
  logger: SILENT,
  handlers: webhookHandlers(
    { gates: DEFAULT_FEATURE_GATES, limits: { maxJobs: 100, maxPods: 100 } },
    {
      jobSets: {
        claim: () => Promise.reject(new Error('no claims here')),
        minimums: () => Promise.resolve({}),
        restartAllProblem: () => Promise.resolve(undefined),
      },
      pods: {
        leaderOf: () => Promise.resolve({ kind: 'NoLeader', why: 'there is none' }),
        node: () => Promise.resolve(undefined),
        avoidedNodes: () => Promise.resolve([]),
      },
    },
  ),
});

async function answerTo(path: string, body: unknown): Promise<{ status: number; text: string }> {
  const { status, body: answer } = await endpoint({
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(body)),
    signal: new AbortController().signal,
  });
  return { status, text: Buffer.from(answer as Uint8Array).toString() };
}

/** The texts of errors from our own mistakes. */
const OWN_MISTAKE =
  /Cannot read|Cannot convert|not a function|not iterable|is not defined|Cannot use|undefined|the webhook failed/;

const WRONG = fc.oneof(
  fc.constantFrom<unknown>(null, [], {}, '', 'x', 0, -1, 1.5, true, [null], [[]], [{}], [7], {
    x: null,
  }),
  fc.jsonValue({ maxDepth: 3 }),
);

describe('a review with something wrong in it', () => {
  it.each(REVIEWS)('is answered by %s without a mistake of ours', async (path, whole) => {
    const places = pathsIn(whole);
    const change = fc.tuple(fc.constantFrom(...places), WRONG);
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        let body: unknown = whole;
        for (const [place, value] of changes) body = replaced(body, place, value);
        const { status, text } = await answerTo(path, body);
        expect([200, 400]).toContain(status);
        expect(text).not.toMatch(OWN_MISTAKE);
      }),
      { numRuns: 500 },
    );
  });

  it.each(REVIEWS)('is answered by %s wherever a null is', async (path, whole) => {
    for (const place of pathsIn(whole)) {
      for (const value of [null, [null], { a: null }, 'text', 7]) {
        const { text } = await answerTo(path, replaced(whole, place, value));
        expect(text, place.join('.')).not.toMatch(OWN_MISTAKE);
      }
    }
  });

  it('is answered with the field, what it is and what it should be', async () => {
    const at = (place: string, value: unknown) =>
      answerTo(WEBHOOK_PATHS.validateJobSet, replaced(REVIEWS[3][1], place.split('.'), value));
    expect((await at('request', null)).text).toContain('request: expected an object, not null');
    expect((await at('request.object', [])).text).toContain(
      'request.object: expected an object, not array',
    );
    expect((await at('request.object.spec.replicatedJobs.0', null)).text).toContain(
      'spec.replicatedJobs[0] in body must be of type object',
    );
    expect((await at('request.oldObject.spec.replicatedJobs.1.template.spec', 7)).text).toContain(
      'request.oldObject: spec.replicatedJobs[1].template.spec',
    );
  });
});
