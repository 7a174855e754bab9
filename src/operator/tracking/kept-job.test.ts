import { memoryWeight } from '@lockstep/kube/json/memory-weight.ts';
import type { Stored } from '@lockstep/kube/meta.ts';
import type {
  Job,
  JobSpec,
  PodFailurePolicy,
  PodFailurePolicyRule,
} from '@lockstep/kube/objects/job.ts';
import type { PodTemplateSpec } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, test } from 'vitest';
import { storedJob } from '../../../test/fixtures/jobset-objects.ts';
import { templateAgent } from '../../jobset/injection/template-agent.ts';
import {
  AGENT_CONTAINER,
  ENV_EXIT_CODE,
  ENV_HUB_CA,
  ENV_HUB_URL,
  HUB_TOKEN_VOLUME_NAME,
  JOB_INDEX,
  REPLICATED_JOB_NAME,
} from '../../jobset/names.ts';
import { followsAuthorities, isToldOfHub } from '../../jobset/plan/reports/hub-reach.ts';
import { toleratesReplacement } from '../../jobset/policies/ladder-settings.ts';
import { keptJobs } from './kept-job.ts';

const LARGE = 'x'.repeat(250_000);
const MANY = Array.from({ length: 10_000 }, (_, i) => `value-${i}`);

function jobWith(spec: Partial<JobSpec>): Stored<Job> {
  const job = storedJob('train-w-0', 'w');
  return { ...job, spec: { ...job.spec, ...spec } };
}

function podsOf(template: PodTemplateSpec): Stored<Job> {
  return jobWith({ template });
}

const AGENT = {
  name: 'agent',
  image: LARGE,
  command: MANY,
  env: [{ name: ENV_EXIT_CODE, value: '75' }],
};
const WORKER = { name: 'main', image: LARGE };

describe('hardly more than some names are kept of', () => {
  const controller = {
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    name: 'train',
    uid: 'u',
  };
  const { metadata } = storedJob('train-w-0', 'w');
  const manyTolerations = Array.from({ length: 10_000 }, () => ({}));
  test.each<[string, Stored<Job>]>([
    [
      'metadata',
      {
        ...storedJob('train-w-0', 'w'),
        metadata: {
          ...metadata,
          annotations: { note: LARGE },
          labels: { ...metadata.labels, ...Object.fromEntries(MANY.map((name) => [name, ''])) },
          finalizers: MANY,
          ownerReferences: [
            { ...controller, controller: true },
            ...MANY.map((uid) => ({ ...controller, uid })),
          ],
        },
      },
    ],
    ['containers', podsOf({ spec: { containers: [WORKER], initContainers: [AGENT] } })],
    [
      'variables of an agent',
      podsOf({
        spec: {
          containers: [
            {
              ...AGENT,
              env: [ENV_EXIT_CODE, ENV_HUB_CA, ENV_HUB_URL, 'MORE'].map((name) => ({
                name,
                value: LARGE,
              })),
            },
          ],
        },
      }),
    ],
    [
      'tolerations and volumes',
      podsOf({
        spec: {
          containers: [WORKER],
          tolerations: manyTolerations,
          volumes: [{ name: HUB_TOKEN_VOLUME_NAME, configMap: { name: LARGE } }],
        },
      }),
    ],
    [
      'a Pod failure policy',
      jobWith({
        podFailurePolicy: {
          rules: Array.from({ length: 20 }, () => ({
            action: 'Count',
            onExitCodes: { operator: 'In', values: MANY.map((_, i) => i + 200) },
            onPodConditions: MANY.map((type) => ({ type })),
          })),
        },
      }),
    ],
  ])('%s', (_, job) => {
    expect(memoryWeight(job)).toBeGreaterThan(200_000);
    const kept = keptJobs()(job);
    expect(memoryWeight(kept)).toBeLessThan(16_000);
    expect(keptJobs()(kept), 'twice changes nothing').toEqual(kept);
    const { name, uid } = job.metadata;
    expect(kept.metadata).toMatchObject({ name, uid });
  });
});

test('a Job still says where its Pods are in the group', () => {
  const {
    metadata: { labels = {} },
  } = storedJob('train-w-0', 'w');
  const job = jobWith({
    parallelism: 4,
    completions: 4,
    suspend: true,
    completionMode: 'Indexed',
    template: { metadata: { labels }, spec: { containers: [WORKER] } },
  });
  const { metadata, spec } = keptJobs()(job);
  expect(metadata.labels).toMatchObject({
    [REPLICATED_JOB_NAME]: 'w',
    [JOB_INDEX]: job.metadata.labels?.[JOB_INDEX],
  });
  expect(spec.template.metadata?.labels).toMatchObject({ [REPLICATED_JOB_NAME]: 'w' });
  expect(spec).toMatchObject({ parallelism: 4, completions: 4, suspend: true });
  expect(spec).toMatchObject({ completionMode: 'Indexed' });
});

const PROBE = { exec: { command: MANY } };
const SIDECAR = { ...AGENT, restartPolicy: 'Always', startupProbe: PROBE } as const;
const TOLD = { ...AGENT, env: [...AGENT.env, { name: ENV_HUB_URL, value: 'https://hub:1' }] };
const OTHER = { name: 'own', image: LARGE, env: [{ name: ENV_HUB_URL, value: 'https://hub:2' }] };

test.each<[string, PodTemplateSpec]>([
  ['no agent', { spec: { containers: [WORKER] } }],
  ['a sidecar', { spec: { containers: [WORKER], initContainers: [SIDECAR] } }],
  ['a supervisor', { spec: { containers: [WORKER, TOLD] } }],
  [
    'an agent that an annotation names',
    {
      metadata: { annotations: { [AGENT_CONTAINER]: 'own' } },
      spec: { containers: [AGENT, OTHER] },
    },
  ],
  [
    'a volume with authorities',
    {
      spec: {
        containers: [TOLD],
        volumes: [
          {
            name: HUB_TOKEN_VOLUME_NAME,
            projected: { sources: [{ configMap: { name: 'hub' } }] },
          },
        ],
      },
    },
  ],
])('a template says the same of its agent: %s', (_, template) => {
  const job = podsOf(template);
  const kept = keptJobs()(job);
  const facts = (of: Job) => {
    const agent = templateAgent(of.spec.template);
    return {
      name: agent?.name,
      restartPolicy: agent?.restartPolicy,
      hasProbe: agent?.startupProbe !== undefined,
      isInit: agent && of.spec.template.spec.initContainers?.includes(agent) === true,
      isTold: isToldOfHub(of),
      follows: followsAuthorities(of),
    };
  };
  expect(facts(kept)).toEqual(facts(job));
});

const ON_DISRUPTION = [{ type: 'Ready' }, { type: 'DisruptionTarget', status: 'True' }];
const codes = (operator: 'In' | 'NotIn', ...values: readonly number[]) => ({ operator, values });

test.each<[string, PodFailurePolicyRule]>([
  ['that ignores disruptions', { action: 'Ignore', onPodConditions: ON_DISRUPTION }],
  ['that fails at them', { action: 'FailJob', onPodConditions: ON_DISRUPTION }],
  ['for other conditions', { action: 'FailJob', onPodConditions: [{ type: 'Ready' }] }],
  ['for SIGTERM', { action: 'FailJob', onExitCodes: codes('In', 1, 143) }],
  ['for other codes', { action: 'FailJob', onExitCodes: codes('In', 1, 2) }],
  ['for all but those of an end', { action: 'FailJob', onExitCodes: codes('NotIn', 137, 143) }],
  ['for all but one of them', { action: 'FailJob', onExitCodes: codes('NotIn', 1, 137) }],
])('a rule means the same for a replacement: one %s', (_, rule) => {
  const job = jobWith({ podFailurePolicy: { rules: [rule] } });
  const kept = keptJobs()(job).spec;
  expect(toleratesReplacement(kept)).toBe(toleratesReplacement(job.spec));
});

test.each([
  ['no rules', { rules: null }],
  ['no conditions', { rules: [{ action: 'FailJob', onPodConditions: null }] }],
])('an API server may tell an empty list of a policy as null: %s', (_, policy) => {
  const job = jobWith({ podFailurePolicy: policy as unknown as PodFailurePolicy });
  expect(toleratesReplacement(keptJobs()(job).spec)).toBe(true);
});

test('Jobs with the same template share what is kept of it', () => {
  const keep = keptJobs();
  const [one, other] = [TOLD, { ...TOLD }].map((agent) =>
    keep(podsOf({ spec: { containers: [agent] } })),
  );
  expect(one?.spec.template.spec).toBe(other?.spec.template.spec);
});
