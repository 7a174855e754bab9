import { formatFieldError } from '@lockstep/kube/field-error.ts';
import { defined } from '@lockstep/kube/json/defined.ts';
import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import {
  CONTROLLER_UID_LABEL,
  JOB_NAME_LABEL,
  type Job,
  type JobStatus,
} from '@lockstep/kube/objects/job.ts';
import { expect, test } from 'vitest';
import { jobErrors } from './job.ts';
import { defaultJob } from './job-defaults.ts';
import { jobStatusUpdateErrors } from './job-status.ts';
import { jobUpdateErrors } from './job-update.ts';

const LABELS = {
  [CONTROLLER_UID_LABEL]: 'u',
  'controller-uid': 'u',
  [JOB_NAME_LABEL]: 'j',
  'job-name': 'j',
};

function jobOf(spec: JsonObject, podSpec: JsonObject = {}, status?: JobStatus): Job {
  const given = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'j', namespace: 'default', uid: 'u' },
    spec: {
      selector: { matchLabels: { [CONTROLLER_UID_LABEL]: 'u' } },
      template: {
        metadata: { labels: LABELS },
        spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'b:1' }], ...podSpec },
      },
      ...spec,
    },
    ...defined({ status }),
  };
  return defaultJob(given) as Job;
}

const INDEXED = { completionMode: 'Indexed', completions: 3, parallelism: 3 };

/** The texts come from a real API server, version 1.36. */
test.each<[name: string, job: Job, problems: string[]]>([
  ['nothing wrong', jobOf({}), []],
  [
    'Pods that always restart',
    jobOf({}, { restartPolicy: undefined }),
    ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
  ],
  [
    'indexes without a number of them',
    jobOf({ completionMode: 'Indexed', parallelism: 1 }),
    ['spec.completions: Required value: when completion mode is Indexed'],
  ],
  [
    'a limit per index without indexes',
    jobOf({ backoffLimitPerIndex: 1 }),
    ['spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode'],
  ],
  [
    'too much at once',
    jobOf({ ...INDEXED, parallelism: 200_000 }),
    [
      'spec.parallelism: Invalid value: 200000: must be less than or equal to 100000 when completion mode is Indexed',
    ],
  ],
  [
    'numbers below zero',
    jobOf({ backoffLimit: -1 }),
    ['spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0'],
  ],
  [
    'a stranger in charge',
    jobOf({ managedBy: 'me' }),
    ['spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")'],
  ],
  [
    'a failure policy on restarting Pods',
    jobOf({ podFailurePolicy: { rules: [] } }, { restartPolicy: 'OnFailure' }),
    [
      'spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified',
    ],
  ],
  [
    'a rule that says nothing',
    jobOf({ podFailurePolicy: { rules: [{ action: 'FailJob' }] } }),
    [
      'spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required',
    ],
  ],
  [
    'exit codes out of order',
    jobOf({
      podFailurePolicy: {
        rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [3, 1] } }],
      },
    }),
    ['spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [3,1]: must be ordered'],
  ],
  [
    'a success policy that is empty',
    jobOf({ ...INDEXED, successPolicy: { rules: [] } }),
    [
      'spec.successPolicy.rules: Required value: at least one rules must be specified when the successPolicy is specified',
    ],
  ],
  [
    'more successes than indexes',
    jobOf({
      ...INDEXED,
      successPolicy: { rules: [{ succeededIndexes: '0-1', succeededCount: 3 }] },
    }),
    [
      'spec.successPolicy.rules[0].succeededCount: Invalid value: 3: must be less than or equal to 2 (the number of indexes in the specified succeededIndexes field)',
    ],
  ],
])('a Job with %s', (_name, job, expected) => {
  expect(jobErrors(job).map(formatFieldError)).toEqual(expected);
});

test.each<[given: JsonObject, defaults: JsonObject]>([
  [
    {},
    {
      completions: 1,
      parallelism: 1,
      backoffLimit: 6,
      podReplacementPolicy: 'TerminatingOrFailed',
    },
  ],
  [
    { parallelism: 2 },
    { parallelism: 2, backoffLimit: 6, podReplacementPolicy: 'TerminatingOrFailed' },
  ],
  [
    { completions: 2 },
    {
      completions: 2,
      parallelism: 1,
      backoffLimit: 6,
      podReplacementPolicy: 'TerminatingOrFailed',
    },
  ],
  [
    { ...INDEXED, backoffLimitPerIndex: 1 },
    {
      ...INDEXED,
      backoffLimitPerIndex: 1,
      backoffLimit: 2147483647,
      podReplacementPolicy: 'TerminatingOrFailed',
    },
  ],
  [
    { podFailurePolicy: { rules: [] } },
    {
      podFailurePolicy: { rules: [] },
      completions: 1,
      parallelism: 1,
      backoffLimit: 6,
      podReplacementPolicy: 'Failed',
    },
  ],
])('a Job with %j gets the numbers that follow', (given, defaults) => {
  const { selector: _selector, template: _template, ...spec } = jobOf(given).spec;
  expect(spec).toEqual({
    completionMode: 'NonIndexed',
    suspend: false,
    manualSelector: false,
    ...defaults,
  });
});

const SUSPENDED = { ...INDEXED, suspend: true };

test.each<[name: string, after: Job, before: Job, fields: string[]]>([
  [
    'both numbers of an elastic Job',
    jobOf({ ...INDEXED, completions: 4, parallelism: 4 }),
    jobOf(INDEXED),
    [],
  ],
  [
    'one number of an elastic Job',
    jobOf({ ...INDEXED, completions: 4 }),
    jobOf(INDEXED),
    ['spec.completions'],
  ],
  ['parallelism', jobOf({ ...INDEXED, parallelism: 1 }), jobOf(INDEXED), []],
  [
    'completions of a Job without indexes',
    jobOf({ completions: 4, parallelism: 4 }),
    jobOf({ completions: 3, parallelism: 4 }),
    ['spec.completions'],
  ],
  [
    'nodes of a running Job',
    jobOf(INDEXED, { nodeSelector: { a: 'b' } }),
    jobOf(INDEXED),
    ['spec.template'],
  ],
  ['nodes while suspended', jobOf(SUSPENDED, { nodeSelector: { a: 'b' } }), jobOf(SUSPENDED), []],
  ['nodes with the resume', jobOf(INDEXED, { nodeSelector: { a: 'b' } }), jobOf(SUSPENDED), []],
  [
    'nodes while Pods are left',
    jobOf(SUSPENDED, { nodeSelector: { a: 'b' } }),
    jobOf(SUSPENDED, {}, { active: 1 }),
    ['spec.template'],
  ],
  [
    'resources while suspended',
    jobOf(SUSPENDED, {
      containers: [{ name: 'a', image: 'b:1', resources: { limits: { cpu: '1' } } }],
    }),
    jobOf(SUSPENDED),
    [],
  ],
  [
    'the image while suspended',
    jobOf(SUSPENDED, { containers: [{ name: 'a', image: 'c:1' }] }),
    jobOf(SUSPENDED),
    ['spec.template.spec'],
  ],
  [
    'the mode',
    jobOf({ ...INDEXED, completionMode: 'NonIndexed' }),
    jobOf(INDEXED),
    ['spec.completionMode'],
  ],
])('an update to %s', (_name, after, before, fields) => {
  expect(jobUpdateErrors(after, before).map((error) => error.field)).toEqual(fields);
});

const TIME = '2026-01-02T03:04:05Z';
const COMPLETE = [
  { type: 'SuccessCriteriaMet', status: 'True' },
  { type: 'Complete', status: 'True' },
] as const;

test.each<[name: string, after: JobStatus, before: JobStatus, problems: string[]]>([
  ['counts up', { succeeded: 2, startTime: TIME }, { succeeded: 1, startTime: TIME }, []],
  [
    'counts down',
    { failed: 1 },
    { failed: 2 },
    ['status.failed: Invalid value: 1: cannot decrease the failed counter'],
  ],
  [
    'completes',
    { conditions: COMPLETE, completionTime: TIME, startTime: TIME },
    { startTime: TIME },
    [],
  ],
  [
    'completes without saying why',
    { conditions: [{ type: 'Complete', status: 'True' }], completionTime: TIME, startTime: TIME },
    { startTime: TIME },
    [
      'status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
    ],
  ],
  [
    'completes with Pods left',
    { conditions: COMPLETE, completionTime: TIME, startTime: TIME, active: 1 },
    { startTime: TIME },
    ['status.active: Invalid value: 1: active>0 is invalid for finished job'],
  ],
  [
    'takes its end back',
    {},
    { conditions: COMPLETE },
    [
      'status.conditions: Invalid value: cannot disable the terminal Complete=True condition',
      'status.conditions: Invalid value: cannot disable the SuccessCriteriaMet=True condition',
    ],
  ],
  [
    'keeps what was wrong before',
    { completedIndexes: '0-7', ready: 1, active: 1 },
    { completedIndexes: '0-7' },
    [],
  ],
  [
    'adds an index that there is not',
    { completedIndexes: '0-7' },
    {},
    [
      'status.completedIndexes: Invalid value: "0-7": error parsing completedIndexes: too large index: "7"',
    ],
  ],
])('a status that %s', (_name, after, before, expected) => {
  const errors = jobStatusUpdateErrors(jobOf(INDEXED, {}, after), jobOf(INDEXED, {}, before));
  expect(errors.map(formatFieldError)).toEqual(expected);
});
