import {
  customResourceDefinitionErrors,
  defaultCustomResourceDefinition,
  kindSchema,
} from '@lockstep/embedded-kubernetes/kinds';
import { formatFieldErrors } from '@lockstep/kube/field-error.ts';
import type { PersistentVolumeClaim } from '@lockstep/kube/objects/core.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '@lockstep/kube/objects/custom-resource-definition.ts';
import { resourceSchema } from '@lockstep/kube/pod-schema/resource-schema.ts';
import { applyDefaults } from '@lockstep/kube/schema/defaults.ts';
import { validateListTypes } from '@lockstep/kube/schema/list-types.ts';
import { prune } from '@lockstep/kube/schema/prune.ts';
import { validate } from '@lockstep/kube/schema/validate.ts';
import { describe, expect, test } from 'vitest';
import type { JobSetSpec, RestartStrategy } from '../jobset.ts';
import type { JobSetStatus, RestartCause } from '../jobset-status.ts';
import { JOBSET_CRD } from './crd.ts';
import { JOBSET_SCHEMA } from './schema.ts';

/** Every field present: a new field of the types must be added here, and so be known. */
type Whole<T> = T extends readonly (infer Item)[]
  ? readonly Whole<Item>[]
  : T extends object
    ? { readonly [K in keyof T]-?: Whole<Exclude<T[K], undefined>> }
    : T;

type Template = NonNullable<JobSetSpec['replicatedJobs']>[number]['template'];
type Claims = NonNullable<JobSetSpec['volumeClaimPolicies']>[number];
type WithoutTemplates = Omit<Whole<JobSetSpec>, 'replicatedJobs' | 'volumeClaimPolicies'> & {
  readonly replicatedJobs: readonly (Omit<
    Whole<NonNullable<JobSetSpec['replicatedJobs']>[number]>,
    'template'
  > & { readonly template: Template })[];
  readonly volumeClaimPolicies: readonly (Omit<Whole<Claims>, 'templates'> &
    Pick<Claims, 'templates'>)[];
};

const TEMPLATE: Template = {
  metadata: { labels: { a: 'b' }, annotations: { c: 'd' } },
  spec: {
    completions: 4,
    parallelism: 4,
    completionMode: 'Indexed',
    backoffLimit: 3,
    podReplacementPolicy: 'Failed',
    template: {
      metadata: { labels: { a: 'b' } },
      spec: {
        restartPolicy: 'Never',
        schedulingGates: [{ name: 'a/b' }],
        containers: [
          {
            name: 'worker',
            image: 'i',
            command: ['train'],
            ports: [{ containerPort: 80 }],
            resources: { limits: { cpu: '500m', 'nvidia.com/gpu': '8' } },
            restartPolicy: 'Never',
            restartPolicyRules: [
              { action: 'RestartPod', exitCodes: { operator: 'NotIn', values: [0, 1] } },
              { action: 'Terminate', exitCodes: { operator: 'In', values: [3] } },
            ],
          },
        ],
      },
    },
  },
};

const CLAIM: PersistentVolumeClaim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', labels: { a: 'b' } },
  spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '1Gi' } } },
};

const SPEC: WithoutTemplates = {
  replicatedJobs: [
    {
      name: 'workers',
      groupName: 'g',
      replicas: 2,
      template: TEMPLATE,
      dependsOn: [{ name: 'driver', status: 'Ready' }],
    },
  ],
  network: { enableDNSHostnames: true, subdomain: 's', publishNotReadyAddresses: true },
  successPolicy: { operator: 'All', targetReplicatedJobs: ['workers'] },
  failurePolicy: {
    maxRestarts: 3,
    restartStrategy: 'InPlaceRestart',
    rules: [
      {
        name: 'oom',
        action: 'RestartJobAndIgnoreMaxRestarts',
        onJobFailureReasons: ['BackoffLimitExceeded'],
        onJobFailureMessagePatterns: ['exit code 13\\d'],
        targetReplicatedJobs: ['workers'],
      },
    ],
  },
  startupPolicy: { startupPolicyOrder: 'AnyOrder' },
  suspend: false,
  coordinator: { replicatedJob: 'workers', jobIndex: 0, podIndex: 0 },
  managedBy: 'jobset.sigs.k8s.io/jobset-controller',
  activeDeadlineSeconds: 3600,
  ttlSecondsAfterFinished: 60,
  volumeClaimPolicies: [{ templates: [CLAIM], retentionPolicy: { whenDeleted: 'Retain' } }],
};

const TIME = '2026-01-02T03:04:05.123456Z';
const STATUS: Whole<JobSetStatus> = {
  observedGeneration: 1,
  conditions: [
    {
      type: 'RestartingInPlace',
      status: 'True',
      observedGeneration: 1,
      lastTransitionTime: TIME,
      reason: 'WorkerFailed',
      message: 'm',
    },
  ],
  terminalState: '',
  startTime: '2026-01-02T03:04:05Z',
  restarts: 1,
  restartsCountTowardsMax: 1,
  replicatedJobsStatus: [
    {
      name: 'workers',
      ready: 1,
      succeeded: 0,
      failed: 0,
      active: 1,
      suspended: 0,
      jobRestarts: [0, 2],
      jobRestartsCountTowardsMax: [0, 1],
      succeededIndexes: '0',
      syncedEpoch: 2,
      failedPods: [0, 3],
    },
  ],
  deprecatedEpoch: 1,
  syncedEpoch: 2,
  syncedTime: TIME,
  releasedGeneration: 1,
  inPlaceRestarts: 1,
  inPlaceRestartsCountTowardsMax: 1,
  previousInPlaceRestartAttempt: 0,
  currentInPlaceRestartAttempt: 1,
  executionAttempts: 0,
  recordedAnnotations: { 'lockstep/max-restarts': '3' },
  restartMode: 'Supervisor',
  restartHistory: [
    {
      epoch: 1,
      time: TIME,
      cause: 'WorkerFailed',
      counted: true,
      generation: 1,
      ranMs: 5,
      witness: {
        pod: 'p',
        worker: 'worker 5 of workers (workers-0, index 5)',
        process: 3,
        rank: 43,
        node: 'n',
        container: 'worker',
        exitCode: null,
        signal: 'SIGKILL',
        reason: 'WorkerHung',
        message: 'made no progress for 61 s at step 330',
      },
      suspects: [
        {
          worker: 'worker 5 of workers (workers-0, index 5)',
          replicatedJob: 'workers',
          jobIndex: 0,
          completionIndex: 5,
          process: 3,
          rank: 43,
          pod: 'p',
          node: 'n',
          why: 'its processes were stopped',
          confidence: 'Certain',
        },
      ],
      lastWords: { pod: 'p', text: 'out of memory', beforeEndMs: 12_000 },
      phases: { detectMs: 1, announceMs: 2, releaseMs: 3, backoffMs: 1 },
      course: { fromMs: 10, parts: [{ class: 'Lost', ms: 11 }] },
    },
  ],
  avoidedNodes: [
    {
      node: 'n',
      time: TIME,
      reason: 'failed 3 times in 1h',
      pod: 'p',
      worker: 'worker 5 of workers (workers-0, index 5)',
    },
  ],
  progress: { checkpoint: 300, step: 330, restartsWithoutProgress: 1 },
  goodput: {
    time: TIME,
    phase: 'Running',
    checkpoint: 300,
    stepped: true,
    waitingMs: 1,
    suspendedMs: 2,
    startingMs: 3,
    productiveMs: 4,
    lostMs: 5,
    hungMs: 6,
    restartingMs: 7,
    runningMs: 8,
    pendingMs: 9,
    held: { fromMs: 10, ms: 11 },
    course: { fromMs: 21, parts: [{ class: 'Restarting', ms: 15 }] },
  },
  ranks: {
    epoch: 3,
    mixed: true,
    world: 16,
    groups: 2,
    master: 'train-workers-0-0.train',
    replicatedJobs: [
      { name: 'workers', firstGroupRank: 0, firstRank: 0, processesPerPod: 8, podsPerJob: 2 },
    ],
  },
};

const JOBSET = {
  apiVersion: 'jobset.x-k8s.io/v1alpha2',
  kind: 'JobSet',
  metadata: { name: 'a', namespace: 'default' },
  spec: SPEC,
  status: STATUS,
};

test('the schema allows exactly the values that the types have', () => {
  const causes: Record<RestartCause, true> = {
    WorkerFailed: true,
    StartFailed: true,
    JobsRecreated: true,
    Resumed: true,
    Scaled: true,
  };
  const strategies: Record<RestartStrategy, true> = {
    Recreate: true,
    BlockingRecreate: true,
    InPlaceRestart: true,
  };
  const { spec, status } = JOBSET_SCHEMA.properties ?? {};
  const record = status?.properties?.['restartHistory']?.items;
  const policy = spec?.properties?.['failurePolicy'];
  expect(record?.properties?.['cause']?.enum).toEqual(Object.keys(causes));
  expect(policy?.properties?.['restartStrategy']?.enum).toEqual(Object.keys(strategies));
});

const SERVED = resourceSchema(JOBSET_SCHEMA);

test('a JobSet with every field that its types have passes the schema unharmed', () => {
  expect(prune(SERVED, JOBSET)).toEqual({ value: JOBSET, pruned: [] });
  expect(formatFieldErrors(validate(SERVED, JOBSET))).toBe('[]');
  expect(validateListTypes(SERVED, JOBSET)).toEqual([]);
});

test('a minimal JobSet gets the defaults of the API, and no others', () => {
  const given = {
    spec: { failurePolicy: {}, replicatedJobs: [{ name: 'w', template: TEMPLATE }] },
  };
  const port = { containerPort: 80, protocol: 'TCP' };
  expect(applyDefaults(SERVED, given)).toMatchObject({
    spec: {
      failurePolicy: { maxRestarts: 0, restartStrategy: 'Recreate' },
      replicatedJobs: [
        {
          replicas: 1,
          groupName: 'default',
          template: { spec: { template: { spec: { containers: [{ ports: [port] }] } } } },
        },
      ],
    },
  });
  expect(JSON.stringify(applyDefaults(SERVED, given))).not.toContain('imagePullPolicy');
});

test.each<[name: string, spec: object, problem: string]>([
  [
    'an unknown strategy',
    { failurePolicy: { restartStrategy: 'Never' } },
    'spec.failurePolicy.restartStrategy: Unsupported value: "Never": supported values: "Recreate", "BlockingRecreate", "InPlaceRestart"',
  ],
  [
    'replicas below zero',
    { replicatedJobs: [{ name: 'w', replicas: -1, template: TEMPLATE }] },
    'spec.replicatedJobs[0].replicas: Invalid value: -1: spec.replicatedJobs[0].replicas in body should be greater than or equal to 0',
  ],
  [
    'two groups of one name',
    {
      replicatedJobs: [
        { name: 'w', template: TEMPLATE },
        { name: 'w', template: TEMPLATE },
      ],
    },
    'spec.replicatedJobs[1]: Duplicate value: {"name":"w"}',
  ],
  [
    'a group without a template',
    { replicatedJobs: [{ name: 'w' }] },
    'spec.replicatedJobs[0].template: Required value',
  ],
  [
    'a Job without a Pod',
    { replicatedJobs: [{ name: 'w', template: { spec: {} } }] },
    'spec.replicatedJobs[0].template.spec.template: Required value',
  ],
  [
    'a Pod without containers',
    { replicatedJobs: [{ name: 'w', template: { spec: { template: { spec: {} } } } }] },
    'spec.replicatedJobs[0].template.spec.template.spec.containers: Required value',
  ],
])('%s is refused', (_name, spec, problem) => {
  const given = applyDefaults(SERVED, { ...JOBSET, spec });
  const errors = [...validate(SERVED, given), ...validateListTypes(SERVED, given)];
  expect(formatFieldErrors(errors)).toBe(problem);
});

describe('the definition', () => {
  const schema = kindSchema(CUSTOM_RESOURCE_DEFINITIONS);
  const definition = defaultCustomResourceDefinition({ ...JOBSET_CRD });

  test('is accepted by the rules for definitions', () => {
    expect(prune(schema, definition).pruned).toEqual([]);
    expect(validate(schema, definition)).toEqual([]);
    expect(customResourceDefinitionErrors(definition)).toEqual([]);
  });

  test('names the resource and its columns as the original does, with the columns of in-place restart added', () => {
    const [version] = JOBSET_CRD.spec.versions;
    expect(JOBSET_CRD.metadata.name).toBe('jobsets.jobset.x-k8s.io');
    expect(JOBSET_CRD.spec.names).toEqual({
      plural: 'jobsets',
      singular: 'jobset',
      kind: 'JobSet',
      listKind: 'JobSetList',
    });
    expect(version?.subresources).toEqual({ status: {} });
    expect(
      version?.additionalPrinterColumns?.map(({ name, jsonPath }) => [name, jsonPath]),
    ).toEqual([
      ['TerminalState', '.status.terminalState'],
      ['Restarts', '.status.restarts'],
      ['InPlace', '.status.inPlaceRestarts'],
      ['Epoch', '.status.syncedEpoch'],
      ['Mode', '.status.restartMode'],
      ['Completed', '.status.conditions[?(@.type=="Completed")].status'],
      ['Suspended', '.spec.suspend'],
      ['StartTime', '.status.startTime'],
      ['Age', '.metadata.creationTimestamp'],
    ]);
  });

  test('marks the policies as immutable', () => {
    const { properties = {} } = JOBSET_SCHEMA.properties?.['spec'] ?? {};
    const immutable = Object.entries(properties)
      .filter(([, { 'x-kubernetes-validations': rules = [] }]) =>
        rules.some(({ rule }) => rule === 'self == oldSelf'),
      )
      .map(([name]) => name);
    expect(immutable).toEqual([
      'network',
      'successPolicy',
      'failurePolicy',
      'startupPolicy',
      'volumeClaimPolicies',
    ]);
  });
});
