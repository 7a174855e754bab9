import { createHash } from 'node:crypto';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { describe, expect, test } from 'vitest';
import { withDefaults } from '../defaults.ts';
import type { JobSetSpec } from '../jobset.ts';
import { type JobBlueprint, jobBuilder } from './job-template.ts';

const JOBSET = { name: 'train', namespace: 'ml', uid: 'the-uid' };
const POD = { spec: { containers: [{ name: 'main' }] } };
const SPEC: JobSetSpec = {
  replicatedJobs: [
    { name: 'driver', template: { spec: { template: POD } } },
    {
      name: 'workers',
      replicas: 3,
      groupName: 'gpu',
      template: {
        metadata: {
          name: 'ignored',
          labels: { team: 'a', 'jobset.sigs.k8s.io/job-index': 'overwritten' },
        },
        spec: {
          suspend: true,
          parallelism: 2,
          template: {
            metadata: { annotations: { note: 'kept' } },
            spec: { ...POD.spec, subdomain: 'overwritten' },
          },
        },
      },
    },
    { name: 'more', groupName: 'gpu', template: { spec: { template: POD } } },
  ],
  coordinator: { replicatedJob: 'driver' },
};

function job(
  spec: JobSetSpec,
  position: number,
  index: number,
  more: Partial<JobBlueprint> = {},
): Job {
  const defaulted = withDefaults(spec);
  const replicatedJob = defaulted.replicatedJobs[position];
  if (replicatedJob === undefined) throw new Error('no such ReplicatedJob');
  const build = jobBuilder({
    jobSet: JOBSET,
    spec: defaulted,
    annotations: undefined,
    restarts: 4,
    jobRestarts: undefined,
    executionAttempt: undefined,
    inject: (template) => template,
    sha1: (text) => createHash('sha1').update(text).digest('hex'),
    ...more,
  });
  return build(replicatedJob, index);
}

describe('a child Job', () => {
  const KEYS = {
    'jobset.sigs.k8s.io/jobset-name': 'train',
    'jobset.sigs.k8s.io/jobset-uid': 'the-uid',
    'jobset.sigs.k8s.io/replicatedjob-name': 'workers',
    'jobset.sigs.k8s.io/replicatedjob-replicas': '3',
    'jobset.sigs.k8s.io/global-replicas': '5',
    'jobset.sigs.k8s.io/job-index': '2',
    'jobset.sigs.k8s.io/job-global-index': '3',
    'jobset.sigs.k8s.io/job-key': createHash('sha1').update('ml/train-workers-2').digest('hex'),
    'jobset.sigs.k8s.io/restart-attempt': '4',
    'jobset.sigs.k8s.io/group-name': 'gpu',
    'jobset.sigs.k8s.io/group-replicas': '4',
    'jobset.sigs.k8s.io/job-group-index': '2',
    'jobset.sigs.k8s.io/coordinator': 'train-driver-0-0.train',
  };

  test('wears the reserved keys as labels and annotations, and so do its Pods', () => {
    const { metadata, spec } = job(SPEC, 1, 2);
    expect(metadata).toMatchObject({ name: 'train-workers-2', namespace: 'ml' });
    expect(metadata.labels).toEqual({ team: 'a', ...KEYS });
    expect(metadata.annotations).toEqual(KEYS);
    expect(spec.template.metadata?.labels).toEqual(KEYS);
    expect(spec.template.metadata?.annotations).toEqual({ note: 'kept', ...KEYS });
  });

  test('counts the index within a group over several ReplicatedJobs', () => {
    const { labels } = job(SPEC, 2, 0).metadata;
    expect(labels).toMatchObject({
      'jobset.sigs.k8s.io/job-group-index': '3',
      'jobset.sigs.k8s.io/job-global-index': '4',
    });
  });

  test('is owned by the JobSet and says explicitly that it is not suspended', () => {
    const built = job(SPEC, 1, 0);
    expect(built.metadata.ownerReferences).toEqual([
      {
        apiVersion: 'jobset.x-k8s.io/v1alpha2',
        kind: 'JobSet',
        name: 'train',
        uid: 'the-uid',
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
    expect(built.spec.suspend).toBe(false);
    expect(job({ ...SPEC, suspend: true }, 1, 0).spec.suspend).toBe(true);
  });

  test.each([
    [undefined, 'train'],
    [{ subdomain: 'net' }, 'net'],
    [{ enableDNSHostnames: false }, 'overwritten'],
  ])('has the subdomain of %j', (network, expected) => {
    const spec = network === undefined ? SPEC : { ...SPEC, network };
    expect(job(spec, 1, 0).spec.template.spec.subdomain).toBe(expected);
  });

  test('leaves its template as it was', () => {
    const before = structuredClone(SPEC);
    job(SPEC, 1, 1);
    expect(SPEC).toEqual(before);
  });
});

describe('what only some Jobs have', () => {
  const labelsOf = (more: Partial<JobBlueprint>) => job(SPEC, 1, 2, more).metadata.labels ?? {};

  test('job-restart-attempt is the attempt of that Job alone, with the gate', () => {
    const key = 'jobset.sigs.k8s.io/job-restart-attempt';
    expect(labelsOf({})).not.toHaveProperty([key]);
    expect(labelsOf({ jobRestarts: new Map() })).toMatchObject({ [key]: '0' });
    const jobRestarts = new Map([['workers', [0, 0, 3]]]);
    const { metadata, spec } = job(SPEC, 1, 2, { jobRestarts });
    expect(metadata.labels).toMatchObject({ [key]: '3' });
    expect(spec.template.metadata?.annotations).toMatchObject({ [key]: '3' });
  });

  test('exclusive placement is an annotation of Job and Pods, never a label', () => {
    const topology = 'alpha.jobset.sigs.k8s.io/exclusive-topology';
    const strategy = 'alpha.jobset.sigs.k8s.io/node-selector';
    const annotations = { [topology]: 'rack', [strategy]: '' };
    const { metadata, spec } = job(SPEC, 1, 2, { annotations });
    expect(metadata.annotations).toMatchObject(annotations);
    expect(metadata.labels).not.toHaveProperty([topology]);
    expect(spec.template.metadata?.annotations).toMatchObject(annotations);
    expect(spec.template.spec.nodeSelector).toEqual({
      'alpha.jobset.sigs.k8s.io/namespaced-job': 'ml_train-workers-2',
    });
    const plain = job(SPEC, 1, 2, { annotations: { [topology]: 'rack' } });
    expect(plain.spec.template.spec.nodeSelector).toBeUndefined();
  });

  test.each([
    [{ 'lockstep/replace-after': '3/1h' }, 'true'],
    [{ 'lockstep/preflight': 'true' }, 'true'],
    [{ 'lockstep/replace-after': 'Off', 'lockstep/preflight': 'true' }, 'true'],
    [{ 'lockstep/replace-after': 'Off' }, undefined],
    [{}, undefined],
  ])(
    'of a JobSet with %o says on its Pods alone whether they may avoid nodes',
    (annotations, label) => {
      const made = job(SPEC, 1, 2, { annotations });
      const { labels } = made.spec.template.metadata ?? {};
      expect(labels?.['lockstep/replace-after']).toBe(label);
      expect(labels?.['jobset.sigs.k8s.io/job-index']).toBe('2');
      expect(made.metadata.labels).not.toHaveProperty('lockstep/replace-after');
    },
  );
});
