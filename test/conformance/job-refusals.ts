/**
 * Everything that may be wrong with a Job, one thing at a time: in a new Job, in an update, and in
 * a status. Their controller does not exist.
 */
import { MERGE, type ScriptedRequest } from './scripted-request.ts';

const JOBS = '/apis/batch/v1/namespaces/conformance/jobs';
const INDEXED = { completionMode: 'Indexed', completions: 3, parallelism: 3 };
const PER_INDEX = { ...INDEXED, backoffLimitPerIndex: 1 };
const POD_SPEC = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'none' }] };

interface Parts {
  readonly metadata?: object;
  readonly podSpec?: object;
  readonly podMetadata?: object;
}

function job(spec: object, { metadata, podSpec, podMetadata }: Parts = {}): object {
  const template = { metadata: podMetadata ?? {}, spec: { ...POD_SPEC, ...podSpec } };
  const managedBy = 'conformance.example.com/nobody';
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'refused', ...metadata },
    spec: { managedBy, template, ...spec },
  };
}

/** A dry run: the Job is never created, refused or not. */
function tried(name: string, spec: object, parts?: Parts): ScriptedRequest {
  return { name, method: 'POST', path: `${JOBS}?dryRun=All`, body: job(spec, parts) };
}

function onExit(more: object, action = 'FailJob'): object {
  const onExitCodes = { operator: 'In', values: [1], ...more };
  return { podFailurePolicy: { rules: [{ action, onExitCodes }] } };
}

function onConditions(...patterns: readonly object[]): object {
  return { podFailurePolicy: { rules: [{ action: 'FailJob', onPodConditions: patterns }] } };
}

function success(...rules: readonly object[]): object {
  return { ...INDEXED, successPolicy: { rules } };
}

const MANY = { ...INDEXED, completions: 200_000, parallelism: 1, backoffLimitPerIndex: 1 };
const RULE = { action: 'Count', onExitCodes: { operator: 'In', values: [1] } };

function many<T>(count: number, item: (index: number) => T): readonly T[] {
  return Array.from({ length: count }, (_, index) => item(index));
}

const NEW_JOBS: readonly ScriptedRequest[] = [
  ...[
    'parallelism',
    'completions',
    'activeDeadlineSeconds',
    'backoffLimit',
    'ttlSecondsAfterFinished',
  ].map((member) => tried(`a negative ${member}`, { [member]: -1 })),
  tried('a negative limit of an index', { ...INDEXED, backoffLimitPerIndex: -1 }),
  tried('a negative limit of failed indexes', { ...PER_INDEX, maxFailedIndexes: -1 }),
  tried('a limit of failed indexes alone', { ...INDEXED, maxFailedIndexes: 1 }),
  tried('more failed indexes than indexes', { ...PER_INDEX, maxFailedIndexes: 4 }),
  tried('a limit per index without indexes', { backoffLimitPerIndex: 1 }),
  tried('a limit of failed indexes without indexes', { maxFailedIndexes: 1 }),
  tried('indexes without a number', { completionMode: 'Indexed', parallelism: 2 }),
  tried('an unknown completion mode', { completionMode: 'Half' }),
  tried('too much parallelism', { ...INDEXED, completions: 100_001, parallelism: 100_001 }),
  tried('many indexes and no limit of failed ones', MANY),
  tried('many indexes and a high limit', { ...MANY, maxFailedIndexes: 10_001 }),
  tried('many indexes and far too high a limit', { ...MANY, maxFailedIndexes: 100_001 }),
  tried('many indexes at a time', { ...MANY, maxFailedIndexes: 1, parallelism: 10_001 }),
  tried('many indexes at a time, without a limit of each', {
    completionMode: 'Indexed',
    completions: 100_001,
    parallelism: 10_001,
  }),
  tried('a long name for so many indexes', INDEXED, { metadata: { name: 'a'.repeat(62) } }),
  tried('a name that is no label', {}, { metadata: { name: 'a.b' } }),
  tried('a name that is none', {}, { metadata: { name: 'A_b' } }),
  tried('a manager without a domain', { managedBy: 'me' }),
  tried('a manager without a path', { managedBy: 'example.com/' }),
  tried('a manager of too many letters', { managedBy: `example.com/${'a'.repeat(60)}` }),
  tried('our own manager', { managedBy: 'kubernetes.io/job-controller', suspend: true }),
  tried('an unknown replacement policy', { podReplacementPolicy: 'Later' }),
  tried('a replacement policy that a failure policy forbids', {
    podReplacementPolicy: 'TerminatingOrFailed',
    podFailurePolicy: { rules: [] },
  }),
  tried('no restart policy', {}, { podSpec: { restartPolicy: undefined } }),
  tried('an unknown restart policy', {}, { podSpec: { restartPolicy: 'Sometimes' } }),
  tried(
    'a failure policy for Pods that restart',
    { podFailurePolicy: { rules: [] } },
    { podSpec: { restartPolicy: 'OnFailure' } },
  ),
  tried('too many failure rules', { podFailurePolicy: { rules: many(21, () => RULE) } }),
  tried('an unknown action', onExit({}, 'Panic')),
  tried('no action', { podFailurePolicy: { rules: [{ onExitCodes: RULE.onExitCodes }] } }),
  tried('an index to fail without a limit', onExit({}, 'FailIndex')),
  tried('a rule of nothing', { podFailurePolicy: { rules: [{ action: 'Count' }] } }),
  tried('a rule of both', {
    podFailurePolicy: { rules: [{ ...RULE, onPodConditions: [{ type: 'A' }] }] },
  }),
  tried('an unknown operator', onExit({ operator: 'Near' })),
  tried('no operator', onExit({ operator: undefined })),
  tried('no exit codes', onExit({ values: [] })),
  tried('too many exit codes', onExit({ values: many(256, (index) => index + 1) })),
  tried('exit codes out of order, and one twice', onExit({ values: [3, 2, 2] })),
  tried('exit code 0 among those that fail', onExit({ values: [0, 1] })),
  tried('exit code 0 among those that do not', onExit({ operator: 'NotIn', values: [0, 1] })),
  tried('exit codes of no container', onExit({ containerName: 'other' })),
  tried('exit codes of an init container', onExit({ containerName: 'init' }), {
    podSpec: { initContainers: [{ name: 'init', image: 'none' }] },
  }),
  tried('a condition with its default', onConditions({ type: 'DisruptionTarget' })),
  tried('a condition of no type', onConditions({ status: 'True' })),
  tried('a condition of a bad type', onConditions({ type: 'a b', status: 'True' })),
  tried('a condition of a bad status', onConditions({ type: 'A', status: 'Perhaps' })),
  tried(
    'too many conditions',
    onConditions(...many(21, (index) => ({ type: `A${index}`, status: 'True' }))),
  ),
  tried('a success policy without indexes', { successPolicy: { rules: [{ succeededCount: 1 }] } }),
  tried('a success policy of nothing', success()),
  tried('a success rule of nothing', success({})),
  tried('too many success rules', success(...many(21, () => ({ succeededCount: 1 })))),
  tried('a negative count of successes', success({ succeededCount: -1 })),
  tried('more successes than indexes', success({ succeededCount: 4 })),
  tried('more successes than those indexes', success({ succeededCount: 2, succeededIndexes: '1' })),
  tried('an index of letters', success({ succeededIndexes: 'a' })),
  tried('an index too large', success({ succeededIndexes: '1,3' })),
  tried('indexes out of order', success({ succeededIndexes: '2,1' })),
  tried('an interval of three', success({ succeededIndexes: '0-1-2' })),
  tried('an open interval', success({ succeededIndexes: '1-' })),
  tried('no indexes', success({ succeededIndexes: '' })),
  tried('a long list of indexes', success({ succeededIndexes: `0${',1'.repeat(32_768)}` })),
  tried('a selector by hand that selects others', {
    manualSelector: true,
    selector: { matchLabels: { a: 'b' } },
  }),
  tried('no selector by hand', { manualSelector: true }),
  tried('a bad selector by hand', {
    manualSelector: true,
    selector: { matchExpressions: [{ key: 'a b', operator: 'In' }] },
  }),
  tried(
    'a selector that is made, and more',
    { selector: { matchLabels: { a: 'b' } } },
    {
      podMetadata: { labels: { a: 'b' } },
    },
  ),
  tried(
    'labels that belong to another Job',
    {},
    {
      podMetadata: { labels: { 'job-name': 'other', 'batch.kubernetes.io/controller-uid': 'x' } },
    },
  ),
  tried(
    'labels of its own',
    {},
    { metadata: { labels: { a: 'b' } }, podMetadata: { labels: { c: 'd' } } },
  ),
];

const NAMED = (name: string, spec: object): ScriptedRequest => ({
  name: `a Job to change: ${name}`,
  method: 'POST',
  path: JOBS,
  body: job(spec, { metadata: { name } }),
});

function changed(name: string, of: string, spec: object): ScriptedRequest {
  return { name, method: 'PATCH', path: `${JOBS}/${of}`, headers: MERGE, body: { spec } };
}

const POLICY = {
  podFailurePolicy: { rules: [RULE] },
  successPolicy: { rules: [{ succeededCount: 1 }] },
};

const CHANGES: readonly ScriptedRequest[] = [
  NAMED('steady', { ...PER_INDEX, ...POLICY }),
  NAMED('plain', { completions: 2 }),
  NAMED('resting', { ...INDEXED, suspend: true }),
  changed('another mode', 'steady', { completionMode: 'NonIndexed' }),
  changed('no failure policy', 'steady', { podFailurePolicy: null }),
  changed('no success policy', 'steady', { successPolicy: null }),
  changed('another limit per index', 'steady', { backoffLimitPerIndex: 2 }),
  changed('another manager', 'steady', { managedBy: 'example.com/other' }),
  changed('another selector', 'steady', { selector: { matchLabels: { a: 'b' } } }),
  changed('one number of two', 'steady', { completions: 4 }),
  changed('both numbers', 'steady', { completions: 4, parallelism: 4 }),
  changed('no completions', 'resting', { completions: null }),
  changed('completions without indexes', 'plain', { completions: 3 }),
  changed('what may change at any time', 'steady', {
    parallelism: 1,
    backoffLimit: 3,
    activeDeadlineSeconds: 60,
    ttlSecondsAfterFinished: 60,
    maxFailedIndexes: 2,
    suspend: true,
  }),
  changed('the image of a suspended Job', 'resting', {
    template: { spec: { containers: [{ name: 'main', image: 'other' }] } },
  }),
  changed('the resources of a suspended Job', 'resting', {
    template: {
      spec: { containers: [{ name: 'main', image: 'none', resources: { limits: { cpu: '1' } } }] },
    },
  }),
  changed('where a suspended Job runs', 'resting', {
    template: {
      metadata: { labels: { a: 'b' }, annotations: { c: 'd' }, finalizers: ['e.com/f'] },
      spec: {
        nodeSelector: { a: 'b' },
        schedulingGates: [{ name: 'a.com/b' }],
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }],
            },
          },
        },
      },
    },
  }),
  changed('beside whom a suspended Job runs', 'resting', {
    template: {
      spec: {
        affinity: {
          podAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { topologyKey: 'a', labelSelector: { matchLabels: { a: 'b' } } },
            ],
          },
        },
      },
    },
  }),
];

const START = '2026-01-02T00:00:00Z';
const EARLIER = '2026-01-01T00:00:00Z';

function condition(type: string): object {
  return { type, status: 'True', lastProbeTime: START, lastTransitionTime: START };
}

function told(name: string, of: string, status: object): ScriptedRequest {
  const body = { status };
  return { name, method: 'PATCH', path: `${JOBS}/${of}/status?dryRun=All`, headers: MERGE, body };
}

const TELLINGS: readonly ScriptedRequest[] = [
  told('an end before the start', 'plain', {
    startTime: START,
    completionTime: EARLIER,
    conditions: [condition('SuccessCriteriaMet'), condition('Complete')],
  }),
  told('an end without a start', 'plain', {
    completionTime: START,
    conditions: [condition('SuccessCriteriaMet'), condition('Complete')],
  }),
  told('success and failure', 'plain', {
    startTime: START,
    conditions: [condition('SuccessCriteriaMet'), condition('FailureTarget'), condition('Failed')],
  }),
  told('Complete without success, by policy', 'steady', {
    startTime: START,
    completionTime: START,
    conditions: [condition('Complete')],
  }),
  told('more ready than active', 'plain', { active: 1, ready: 2 }),
  told('Pods that nobody is', 'plain', { uncountedTerminatedPods: { succeeded: [''] } }),
  told('indexes of a Job without', 'plain', { completedIndexes: '0', failedIndexes: '1' }),
  told('an end with Pods on their way', 'plain', {
    startTime: START,
    terminating: 1,
    uncountedTerminatedPods: { failed: ['a'] },
    conditions: [condition('FailureTarget'), condition('Failed')],
  }),
];

export const JOB_REFUSALS: readonly ScriptedRequest[] = [...NEW_JOBS, ...CHANGES, ...TELLINGS];
