/**
 * What may change in a live JobSet, and when: one table of every field against running, suspended
 * and finished. A change is judged as a server does it: by the rules of the definition, then by the
 * webhook.
 */

import { ruleTree, violations } from '@lockstep/embedded-kubernetes/kinds';
import { formatFieldError } from '@lockstep/kube/field-error.ts';
import type { Condition } from '@lockstep/kube/meta.ts';
import type { JobSpec } from '@lockstep/kube/objects/job.ts';
import type { Container, PodSpec, PodTemplateSpec } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, test } from 'vitest';
import { replicatedJob, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import { admitJobSet } from '../admit.ts';
import { DEFAULT_FEATURE_GATES, type FeatureGates } from '../feature-gates.ts';
import type { JobSet, JobSetSpec, ReplicatedJob } from '../jobset.ts';
import { EXCLUSIVE_TOPOLOGY, RESTART_MODE } from '../names.ts';
import { JOBSET_SCHEMA } from '../schema/schema.ts';
import { validateJobSetUpdate } from './validation.ts';

type Situation = 'running' | 'suspended' | 'finished';
type Change = (jobSet: JobSet) => JobSet;

const CLAIM = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '1Gi' } } },
};

const DRIVER = replicatedJob('driver');
const MOUNTING: ReplicatedJob = {
  ...DRIVER,
  template: {
    spec: {
      ...DRIVER.template.spec,
      template: {
        spec: { containers: [{ name: 'c', volumeMounts: [{ name: 'data', mountPath: '/d' }] }] },
      },
    },
  },
};

function live(situation: Situation, spec: JobSetSpec = {}): JobSet {
  const completed: Condition = {
    type: 'Completed',
    status: 'True',
    reason: 'AllJobsCompleted',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  const given = storedJobSet({
    replicatedJobs: [
      MOUNTING,
      { ...replicatedJob('w', 4, 2), dependsOn: [{ name: 'driver', status: 'Ready' }] },
    ],
    failurePolicy: { maxRestarts: 3, rules: [{ name: 'r', action: 'FailJobSet' }] },
    coordinator: { replicatedJob: 'driver' },
    managedBy: 'example.com/queue',
    volumeClaimPolicies: [{ templates: [CLAIM] }],
    suspend: situation === 'suspended',
    ...spec,
  });
  const { jobSet, schemaErrors, ruleErrors } = admitJobSet(given, DEFAULT_FEATURE_GATES);
  expect([...schemaErrors, ...ruleErrors]).toEqual([]);
  return situation === 'finished' ? { ...jobSet, status: { conditions: [completed] } } : jobSet;
}

const RULES = ruleTree(JOBSET_SCHEMA);

/** As a server does: the rules of the definition first, the webhook if they hold. */
function problems(old: JobSet, jobSet: JobSet, gates = DEFAULT_FEATURE_GATES): readonly string[] {
  const json = (of: JobSet): Record<string, unknown> => JSON.parse(JSON.stringify(of));
  const broken = RULES === undefined ? [] : violations(RULES, json(jobSet), json(old));
  const errors = broken.length > 0 ? broken : validateJobSetUpdate(old, jobSet, gates);
  return errors.map(formatFieldError);
}

const spec =
  (change: (of: JobSetSpec) => Partial<JobSetSpec>): Change =>
  (jobSet) => ({ ...jobSet, spec: { ...jobSet.spec, ...change(jobSet.spec) } });
const without =
  (field: keyof JobSetSpec): Change =>
  (jobSet) => {
    const { [field]: _removed, ...rest } = jobSet.spec;
    return { ...jobSet, spec: rest };
  };
const jobs = (change: (of: readonly ReplicatedJob[]) => readonly ReplicatedJob[]): Change =>
  spec(({ replicatedJobs = [] }) => ({ replicatedJobs: change(replicatedJobs) }));
/** A change of the second ReplicatedJob. */
const job = (change: (of: ReplicatedJob) => Partial<ReplicatedJob>): Change =>
  jobs((all) => all.map((one, index) => (index === 1 ? { ...one, ...change(one) } : one)));
const jobSpec = (change: (of: JobSpec) => Partial<JobSpec>): Change =>
  job(({ template }) => ({
    template: { ...template, spec: { ...template.spec, ...change(template.spec) } },
  }));
const pod = (change: (of: PodTemplateSpec) => Partial<PodTemplateSpec>): Change =>
  jobSpec(({ template }) => ({ template: { ...template, ...change(template) } }));
const podSpec = (change: Partial<PodSpec>): Change =>
  pod((template) => ({ spec: { ...template.spec, ...change } }));
const container = (change: Partial<Container>): Change =>
  pod((template) => ({
    spec: {
      ...template.spec,
      containers: template.spec.containers.map((one) => ({ ...one, ...change })),
    },
  }));

const YES: readonly Situation[] = ['running', 'suspended', 'finished'];
const NO: readonly Situation[] = [];
const SUSPENDED: readonly Situation[] = ['suspended'];
const LIVE: readonly Situation[] = ['running', 'suspended'];

const MATRIX: readonly (readonly [what: string, change: Change, when: readonly Situation[]])[] = [
  ['suspend', spec(({ suspend }) => ({ suspend: suspend !== true })), YES],
  ['activeDeadlineSeconds', spec(() => ({ activeDeadlineSeconds: 5 })), YES],
  ['ttlSecondsAfterFinished', spec(() => ({ ttlSecondsAfterFinished: 5 })), YES],
  ['coordinator', spec(() => ({ coordinator: { replicatedJob: 'w', podIndex: 3 } })), YES],
  ['no coordinator', without('coordinator'), YES],
  ['metadata', (of) => ({ ...of, metadata: { ...of.metadata, labels: { a: 'b' } } }), YES],
  ['Pod labels', pod(() => ({ metadata: { labels: { queue: 'a' } } })), SUSPENDED],
  ['Pod annotations', pod(() => ({ metadata: { annotations: { queue: 'a' } } })), SUSPENDED],
  ['nodeSelector', podSpec({ nodeSelector: { flavour: 'a100' } }), SUSPENDED],
  ['tolerations', podSpec({ tolerations: [{ operator: 'Exists' }] }), SUSPENDED],
  ['schedulingGates', podSpec({ schedulingGates: [{ name: 'a/b' }] }), SUSPENDED],
  ['resources', container({ resources: { requests: { cpu: '2' } } }), SUSPENDED],
  ['other Pod metadata', pod(() => ({ metadata: { finalizers: ['a/b'] } })), NO],
  ['image', container({ image: 'other' }), NO],
  ['containers', podSpec({ containers: [{ name: 'worker' }, { name: 'more' }] }), NO],
  ['affinity or whatever else', podSpec({ hostNetwork: true }), NO],
  ['parallelism and completions', jobSpec(() => ({ parallelism: 8, completions: 8 })), LIVE],
  ['more replicas', job(() => ({ replicas: 3 })), LIVE],
  ['fewer replicas', job(() => ({ replicas: 0 })), LIVE],
  ['parallelism alone', jobSpec(() => ({ parallelism: 2 })), NO],
  ['no Pods', jobSpec(() => ({ parallelism: 0, completions: 0 })), NO],
  ['backoffLimit', jobSpec(() => ({ backoffLimit: 1 })), NO],
  ['completionMode', jobSpec(() => ({ completionMode: 'NonIndexed' })), NO],
  [
    'Job labels',
    job(({ template }) => ({ template: { ...template, metadata: { labels: { a: 'b' } } } })),
    NO,
  ],
  ['a name', job(() => ({ name: 'v' })), NO],
  ['a groupName', job(() => ({ groupName: 'v' })), NO],
  ['dependsOn', job(() => ({ dependsOn: [{ name: 'driver', status: 'Complete' }] })), NO],
  ['another ReplicatedJob', jobs((all) => [...all, replicatedJob('v')]), NO],
  ['one ReplicatedJob less', jobs((all) => all.slice(0, 1)), NO],
  ['no ReplicatedJobs', without('replicatedJobs'), NO],
  ['the order of ReplicatedJobs', jobs((all) => [...all].reverse()), NO],
  ['network', spec(() => ({ network: { subdomain: 's' } })), NO],
  ['successPolicy', spec(() => ({ successPolicy: { operator: 'Any' } })), NO],
  ['failurePolicy', spec(() => ({ failurePolicy: { maxRestarts: 9 } })), NO],
  ['startupPolicy', spec(() => ({ startupPolicy: { startupPolicyOrder: 'InOrder' } })), NO],
  ['volumeClaimPolicies', spec(() => ({ volumeClaimPolicies: [] })), NO],
  ['managedBy', spec(() => ({ managedBy: 'example.com/other' })), NO],
  ['no managedBy', without('managedBy'), NO],
  ['no failurePolicy', without('failurePolicy'), YES],
  ['no successPolicy', without('successPolicy'), YES],
  ['no network', without('network'), YES],
  ['nothing', (of) => of, YES],
];

describe.each(YES)('of a JobSet that is %s', (situation) => {
  test.each(
    MATRIX.map(([what, change, when]) => [what, when.includes(situation), change] as const),
  )('%s may change: %s', (_what, isAllowed, change) => {
    const old = live(situation);
    const found = problems(old, change(old));
    if (isAllowed) expect(found).toEqual([]);
    else expect(found).not.toEqual([]);
  });
});

const NO_GATES: FeatureGates = {
  InPlaceRestart: false,
  RestartJob: false,
  ElasticJobSet: false,
  ExecutionAttemptsTracking: false,
  MutablePodResourcesForSuspendedJobSets: false,
  JobSetActiveDeadlineSeconds: false,
};

test.each<[string, Situation, Change]>([
  ['replicas', 'running', job(() => ({ replicas: 3 }))],
  ['parallelism', 'suspended', jobSpec(() => ({ parallelism: 8, completions: 8 }))],
  ['resources', 'suspended', container({ resources: { requests: { cpu: '2' } } })],
])('without its feature gate %s may not change', (_what, situation, change) => {
  const old = live(situation);
  expect(problems(old, change(old), NO_GATES)).toEqual([
    expect.stringMatching(/^spec\.replicatedJobs: Invalid value: .*: field is immutable$/),
  ]);
});

test('without its feature gate a deadline may stay and go, but neither come nor change', () => {
  const none = live('running');
  const some = live('running', { activeDeadlineSeconds: 60 });
  const to = (seconds: number) => spec(() => ({ activeDeadlineSeconds: seconds }));
  const refused = [
    'spec.activeDeadlineSeconds: Forbidden: cannot be set when JobSetActiveDeadlineSeconds feature gate is disabled',
  ];
  expect(problems(none, to(60)(none), NO_GATES)).toEqual(refused);
  expect(problems(some, to(61)(some), NO_GATES)).toEqual(refused);
  expect(problems(some, spec(() => ({ suspend: true }))(some), NO_GATES)).toEqual([]);
  expect(problems(some, without('activeDeadlineSeconds')(some), NO_GATES)).toEqual([]);
});

test.each<[string, Situation, Change, readonly string[]]>([
  [
    'an immutable template, by the place that differs',
    'running',
    container({ image: 'other' }),
    [
      'spec.replicatedJobs: Invalid value: ["/1/template/spec/template/spec/containers/0/image"]: field is immutable',
    ],
  ],
  [
    'managedBy, once',
    'running',
    spec(() => ({ managedBy: 'example.com/other' })),
    ['spec.managedBy: Invalid value: field is immutable'],
  ],
  [
    'a policy, in the words of the definition',
    'suspended',
    spec(() => ({ successPolicy: { operator: 'Any' } })),
    ['spec.successPolicy: Invalid value: Value is immutable'],
  ],
  [
    'numbers of Pods of a finished JobSet',
    'finished',
    jobSpec(() => ({ parallelism: 8, completions: 8 })),
    [
      'spec.replicatedJobs[1].template.spec: Forbidden: Cannot mutate parallelism or completions when JobSet is in a terminal state (Completed or Failed)',
    ],
  ],
  [
    'numbers of Jobs of a finished JobSet',
    'finished',
    job(() => ({ replicas: 8 })),
    [
      'spec.replicatedJobs[1].replicas: Forbidden: Cannot mutate replicas when JobSet is in a terminal state (Completed or Failed)',
    ],
  ],
  [
    'numbers of Pods that are none',
    'running',
    jobSpec(() => ({ parallelism: 0, completions: 0 })),
    [
      'spec.replicatedJobs[1].template.spec.parallelism: Invalid value: 0: parallelism must be >= 1',
      'spec.replicatedJobs[1].template.spec.completions: Invalid value: 0: completions must be >= 1',
    ],
  ],
  [
    'unequal numbers of Pods',
    'running',
    jobSpec(() => ({ parallelism: 2 })),
    [
      'spec.replicatedJobs[1].template.spec.completions: Invalid value: 4: completions must be equal to parallelism for Elastic Indexed Jobs',
    ],
  ],
  [
    'a coordinator that is not there, also on a live JobSet',
    'running',
    spec(() => ({ coordinator: { replicatedJob: 'driver', jobIndex: 1 } })),
    ['spec.coordinator: Invalid value: coordinator job index is invalid for replicatedJob driver'],
  ],
  [
    'a value of our annotations that means nothing',
    'running',
    (of) => ({ ...of, metadata: { ...of.metadata, annotations: { [RESTART_MODE]: 'x' } } }),
    [
      `metadata.annotations[${RESTART_MODE}]: Unsupported value: "x": supported values: "Auto", "Sidecar", "Supervisor"`,
    ],
  ],
])('the refusal names %s', (_what, situation, change, expected) => {
  const old = live(situation);
  expect(problems(old, change(old))).toEqual(expected);
});

describe('a change', () => {
  test('may leave out what has a default, and write empty members as Go clients do', () => {
    const old = live('running');
    const written = jobSpec(({ completionMode: _mode, template, ...rest }) => ({
      ...rest,
      template: {
        metadata: {},
        spec: {
          containers: template.spec.containers.map((one) => ({ ...one, args: [], resources: {} })),
          volumes: [],
        },
      },
    }));
    expect(problems(old, written(old))).toEqual([]);
  });

  test('that ends the suspension may set at the same time where Pods run', () => {
    const old = live('suspended');
    const resumed = spec(() => ({ suspend: false }))(podSpec({ nodeSelector: { a: 'b' } })(old));
    expect(problems(old, resumed)).toEqual([]);
    expect(problems(resumed, old)).toEqual([]);
  });

  test('must not shrink a ReplicatedJob below its coordinator, or grow names beyond a label', () => {
    const old = live('running', { coordinator: { replicatedJob: 'w', jobIndex: 1 } });
    expect(problems(old, job(() => ({ replicas: 1 }))(old))).not.toEqual([]);
    const long = { ...old, metadata: { ...old.metadata, name: 'a'.repeat(50) } };
    expect(problems(long, long)).toEqual([]);
    expect(problems(long, job(() => ({ replicas: 100_000_000 }))(long))).not.toEqual([]);
  });

  test('keeps an old mistake, and is refused only for a new one', () => {
    const old = spec(() => ({ coordinator: { replicatedJob: 'gone' } }))(live('running'));
    const suspended = spec(() => ({ suspend: true }))(old);
    expect(validateJobSetUpdate(old, suspended, DEFAULT_FEATURE_GATES)).toEqual([]);
    const worse = spec(() => ({ coordinator: { replicatedJob: 'also-gone' } }))(old);
    expect(validateJobSetUpdate(old, worse, DEFAULT_FEATURE_GATES)).toHaveLength(1);
  });

  test('may add a policy only if it is right', () => {
    const old = without('failurePolicy')(live('running'));
    const added = (failurePolicy: NonNullable<JobSetSpec['failurePolicy']>): readonly string[] =>
      problems(old, spec(() => ({ failurePolicy }))(old));
    expect(added({ maxRestarts: 1 })).toEqual([]);
    expect(
      added({ rules: [{ name: 'r', action: 'FailJobSet', onJobFailureMessagePatterns: ['('] }] }),
    ).toHaveLength(1);
  });

  test('takes a selector that selects everything for what it is', () => {
    const spread = (selector: object): Change =>
      pod((template) => ({
        spec: {
          ...template.spec,
          topologySpreadConstraints: [{ topologyKey: 'rack', ...selector }],
        },
      }));
    const old = spread({})(live('running'));
    expect(problems(old, spread({ labelSelector: {} })(old))).toHaveLength(1);
  });

  test('must not ask of Pods without an index to follow one', () => {
    const old = jobSpec(() => ({ completionMode: 'NonIndexed' }))(live('running'));
    const annotations = { [EXCLUSIVE_TOPOLOGY]: 'rack' };
    const placed = { ...old, metadata: { ...old.metadata, annotations } };
    expect(problems(old, placed)).toEqual([
      expect.stringContaining('spec.replicatedJobs[1].template.spec.completionMode'),
    ]);
  });
});
