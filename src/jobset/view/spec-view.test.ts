import type { Stored } from '@lockstep/kube/meta.ts';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { replicatedJob, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import { annotationsOn } from '../annotations/table.ts';
import type { JobSet, JobSetSpec } from '../jobset.ts';
import * as names from '../names.ts';
import { specView } from './spec-view.ts';

const IN_PLACE: JobSetSpec = {
  replicatedJobs: [replicatedJob('w', 2, 4)],
  failurePolicy: { maxRestarts: 10, restartStrategy: 'InPlaceRestart' },
};

type Metadata = Partial<Stored<JobSet>['metadata']>;

function policies(spec: JobSetSpec, metadata: Metadata = {}): string {
  return specView(storedJobSet(spec, metadata)).policies.join('\n');
}

/** All that is shown of it, apart from the YAML. */
function told(spec: JobSetSpec, metadata: Metadata = {}): string {
  const { yaml: _, ...rest } = specView(storedJobSet(spec, metadata));
  return JSON.stringify(rest);
}

describe('the restarts', () => {
  it.each<[string, JobSetSpec['failurePolicy'], Record<string, string>]>([
    ['Has no failure policy: the first failure of a Job is final.', undefined, {}],
    ['Restarts in place, at most 10 times.', IN_PLACE.failurePolicy, {}],
    ['Restarts in place, at most once.', { ...IN_PLACE.failurePolicy, maxRestarts: 1 }, {}],
    [
      'Restarts in place, at most 12 times: 10 by maxRestarts and 2 by an annotation.',
      IN_PLACE.failurePolicy,
      { [names.EXTRA_RESTARTS]: '2' },
    ],
    [
      'Restarts in place, but not for a failure that counts, because maxRestarts is 0.',
      { restartStrategy: 'InPlaceRestart' },
      {},
    ],
    ['Makes all Jobs anew after a failure, as often as it takes.', { maxRestarts: 2147483647 }, {}],
    [
      'No new Job is made before all old ones are gone.',
      { restartStrategy: 'BlockingRecreate' },
      {},
    ],
    [
      'A member leaves its node after 3 failures in 1 hour.',
      IN_PLACE.failurePolicy,
      { [names.REPLACE_AFTER]: '3/1h' },
    ],
    [
      'lockstep/replace-after is "3 times", which is not valid.',
      IN_PLACE.failurePolicy,
      { [names.REPLACE_AFTER]: '3 times' },
    ],
    [
      'A member leaves its node after 3 failures in 1 hour. It has no effect without restart in place.',
      { maxRestarts: 1 },
      { [names.REPLACE_AFTER]: '3/1h' },
    ],
    [
      'After a worker failed, a command checks its machine: "true\\u202e". It has no effect in Sidecar mode.',
      IN_PLACE.failurePolicy,
      { [names.PREFLIGHT]: 'true\u202e', [names.RESTART_MODE]: 'Sidecar' },
    ],
  ])('%s', (sentence, failurePolicy, annotations) => {
    const { replicatedJobs = [] } = IN_PLACE;
    const spec = { replicatedJobs, ...(failurePolicy === undefined ? {} : { failurePolicy }) };
    expect(policies(spec, { annotations }).split('\n')).toContain(sentence);
  });

  it('names an annotation that nobody knows', () => {
    const annotations = { 'lockstep/progress-timeuot': '5m' };
    expect(policies(IN_PLACE, { annotations })).toMatch(
      /^metadata\.annotations\[lockstep\/progress-timeuot\] has no effect: .*progress-timeout/m,
    );
  });

  it('says nothing of Sidecar mode where a template brings a supervisor', () => {
    const annotations = { [names.PREFLIGHT]: 'true', [names.RESTART_MODE]: 'Sidecar' };
    const [first] = IN_PLACE.replicatedJobs ?? [];
    const pod = first?.template.spec.template;
    const template = {
      spec: {
        ...first?.template.spec,
        template: { ...pod, metadata: { annotations: { [names.AGENT_CONTAINER]: 'worker' } } },
      },
    };
    const spec = { ...IN_PLACE, replicatedJobs: [{ ...first, name: 'w', template }] };
    expect(policies(spec as typeof IN_PLACE, { annotations })).not.toContain('no effect');
  });

  it('tells each rule', () => {
    const rules = [
      {
        name: 'bad-input',
        action: 'FailJobSet',
        onJobFailureReasons: ['PodFailurePolicy', 'BackoffLimitExceeded'],
        onJobFailureMessagePatterns: ['exit code 3'],
        targetReplicatedJobs: ['w'],
      },
      { action: 'RestartJobAndIgnoreMaxRestarts' },
    ] as const;
    const text = policies({ ...IN_PLACE, failurePolicy: { ...IN_PLACE.failurePolicy, rules } });
    expect(text).toContain(
      'Rule bad-input: if a Job of w fails for PodFailurePolicy or BackoffLimitExceeded with a ' +
        'message that matches exit code 3, the JobSet fails at once.',
    );
    expect(text).toContain(
      'Rule failurePolicyRule1: if a Job fails, only that Job is made anew, which does not count.',
    );
  });
});

/** A value of each annotation with another meaning than its absence. */
const SAMPLES: Readonly<Record<string, string>> = {
  [names.RESTART_STRATEGY]: 'BlockingRecreate',
  [names.MAX_RESTARTS]: '7',
  [names.RESTART_MODE]: 'Supervisor',
  [names.AGENT_INJECTION]: 'Disabled',
  [names.AGENT_CHANNEL]: 'API',
  [names.RESTART_BACKOFF]: 'Disabled',
  [names.LOST_NODE_DEADLINE]: '5m',
  [names.PROGRESS_TIMEOUT]: 'Auto',
  [names.FIRST_PROGRESS_TIMEOUT]: '20m',
  [names.PROGRESS_PREFIX]: 'step=',
  [names.STANDBY]: 'Warm',
  [names.PROCESSES_PER_POD]: 'w=8',
  [names.LOG_PREFIX]: 'Off',
  [names.HANG_COMMAND]: 'py-spy dump',
  [names.PREFLIGHT]: 'nvidia-smi',
  [names.LAST_WORDS]: 'Files',
  [names.KEEP_FAILED]: '1h',
  [names.STOP_GRACE]: '30s',
  [names.RESTART_EPOCH]: '4',
  [names.FORGET_NODES]: 'n1@2026-01-01T00:00:00.000000Z',
  [names.REPLACE_AFTER]: '3/1h',
  [names.EXTRA_RESTARTS]: '2',
  [names.MAX_RESTARTS_WITHOUT_PROGRESS]: '3',
};

const JOBSET_ANNOTATIONS = [...annotationsOn('JobSet')];

describe('each annotation has its words', () => {
  const more = {
    [names.DISABLE_IN_PLACE_RESTART]: '',
    [names.EXCLUSIVE_TOPOLOGY]: 'rack',
    [names.KUEUE_QUEUE_NAME]: 'research',
  };

  it.each([...JOBSET_ANNOTATIONS, ...Object.keys(more)])('%s', (name) => {
    const value = SAMPLES[name] ?? Reflect.get(more, name);
    expect(value, `no sample of ${name}: give it a sentence too`).toBeDefined();
    const without = { [names.RESTART_MODE]: 'Sidecar' };
    const before = told(IN_PLACE, { annotations: without });
    expect(told(IN_PLACE, { annotations: { ...without, [name]: value } })).not.toBe(before);
  });

  /** Any text is valid for them. */
  const quoted: readonly string[] = [names.PROGRESS_PREFIX, names.HANG_COMMAND, names.PREFLIGHT];
  const checked = JOBSET_ANNOTATIONS.filter(
    (name) => SAMPLES[name] !== 'Disabled' && !quoted.includes(name),
  );
  it.each(checked)('%s says so if it is not valid', (name) => {
    if (name === names.RESTART_MODE) {
      expect(told(IN_PLACE, { annotations: { [name]: 'nonsense' } })).toContain('nonsense');
    } else {
      expect(policies(IN_PLACE, { annotations: { [name]: '-1 x' } })).toContain(
        `${name} is "-1 x", which is not valid.`,
      );
    }
  });

  it.each([...annotationsOn('PodTemplate')])('%s of a template', (name) => {
    const job = replicatedJob('w', 2, 4);
    const { spec } = job.template;
    const annotations = { [name]: name === names.AGENT_CONTAINER ? 'worker' : '5m' };
    const template = {
      ...job.template,
      spec: { ...spec, template: { ...spec.template, metadata: { annotations } } },
    };
    const replicatedJobs = [{ ...job, template }];
    const mode = { annotations: { [names.RESTART_MODE]: 'Sidecar' } };
    expect(told({ ...IN_PLACE, replicatedJobs }, mode)).not.toBe(told(IN_PLACE, mode));
  });

  it('tells whether nodes were labelled by hand', () => {
    const annotations = {
      [names.EXCLUSIVE_TOPOLOGY]: 'rack',
      [names.NODE_SELECTOR_STRATEGY]: 'true',
    };
    expect(policies(IN_PLACE, { annotations })).toContain('labelled for it by hand');
  });
});

describe('each field has its words', () => {
  const fields: Required<JobSetSpec> = {
    replicatedJobs: [
      replicatedJob('a', 1, 1),
      {
        ...replicatedJob('b', 1, 1),
        groupName: 'g',
        dependsOn: [{ name: 'a', status: 'Complete' }],
      },
    ],
    network: { enableDNSHostnames: false },
    successPolicy: { operator: 'Any', targetReplicatedJobs: ['w'] },
    failurePolicy: { maxRestarts: 3 },
    startupPolicy: { startupPolicyOrder: 'InOrder' },
    suspend: true,
    coordinator: { replicatedJob: 'w', jobIndex: 1 },
    managedBy: 'kueue.x-k8s.io/multikueue',
    activeDeadlineSeconds: 5400,
    ttlSecondsAfterFinished: 0,
    volumeClaimPolicies: [{ templates: [], retentionPolicy: { whenDeleted: 'Retain' } }],
  };

  it.each(Object.entries(fields))('%s', (name, value) => {
    expect(told({ ...IN_PLACE, [name]: value })).not.toBe(told(IN_PLACE));
  });

  it.each<[string, JobSetSpec]>([
    ['w: 4 Jobs of 2 Pods.', {}],
    ['Succeeds as soon as one Job of w has succeeded.', { successPolicy: fields.successPolicy }],
    ['Its coordinator is Pod 0 of Job 1 of w.', { coordinator: fields.coordinator }],
    [
      'Fails when it has been active for 1 hour and 30 minutes without a break.',
      { activeDeadlineSeconds: 5400 },
    ],
    ['Is deleted at once after its end.', { ttlSecondsAfterFinished: 0 }],
    ['b starts when a has completed.', { replicatedJobs: fields.replicatedJobs }],
    ['b: 1 Job of 1 Pod, in group g.', { replicatedJobs: fields.replicatedJobs }],
  ])('%s', (sentence, spec) => {
    expect(policies({ ...IN_PLACE, ...spec }).split('\n')).toContain(sentence);
  });
});

describe('what is injected', () => {
  const injected = (annotations: Record<string, string>, spec = IN_PLACE): string =>
    specView(storedJobSet(spec, { annotations })).injected.join('\n');

  it('is nothing without restart in place', () => {
    expect(injected({}, { ...IN_PLACE, failurePolicy: { maxRestarts: 1 } })).toContain('No agent');
  });

  it('is open until a mode is chosen', () => {
    expect(injected({})).toContain('Sidecar or Supervisor mode: lockstep/restart-mode is not set');
    const jobSet = { ...storedJobSet(IN_PLACE), status: { restartMode: 'Sidecar' } as const };
    expect(specView(jobSet).injected.join('\n')).toContain('Sidecar mode:');
  });

  it('names containers, volumes and variables', () => {
    const text = injected({ [names.RESTART_MODE]: 'Sidecar' });
    expect(text).toContain('w: sidecar container lockstep-agent');
    expect(text).toContain('w: volumes lockstep-marker and lockstep-progress.');
    expect(text).toContain('LOCKSTEP_PROGRESS_FILE');
    expect(text).not.toContain('service account');
  });

  it('says why it cannot be', () => {
    const job = replicatedJob('w', 1, 1);
    const { command: _, ...container } = { ...job.template.spec.template.spec.containers[0] };
    const pod = { spec: { containers: [{ name: 'c', ...container }] } };
    const template = { ...job.template, spec: { ...job.template.spec, template: pod } };
    const spec = { ...IN_PLACE, replicatedJobs: [{ ...job, template }] };
    expect(injected({ [names.RESTART_MODE]: 'Supervisor' }, spec)).toContain(
      'spec.containers[0].command',
    );
  });
});

describe('the YAML', () => {
  it('has neither status nor managed fields, and is read as it was', () => {
    const managedFields = [{ manager: 'kubectl' }] as never;
    const jobSet = { ...storedJobSet(IN_PLACE, { managedFields }), status: { restarts: 3 } };
    const { managedFields: _, ...metadata } = jobSet.metadata;
    const { apiVersion, kind, spec } = jobSet;
    expect(parse(specView(jobSet).yaml)).toEqual({ apiVersion, kind, metadata, spec });
  });

  it('offers time-outs to groups that restart in place', () => {
    const annotations = { [names.PROGRESS_TIMEOUT]: '5m' };
    const { timeouts } = specView(storedJobSet(IN_PLACE, { annotations }));
    expect(timeouts.map(({ annotation, value }) => [annotation, value])).toEqual([
      [names.PROGRESS_TIMEOUT, '5m'],
      [names.FIRST_PROGRESS_TIMEOUT, null],
    ]);
    expect(specView(storedJobSet({ replicatedJobs: [] })).timeouts).toEqual([]);
  });
});
