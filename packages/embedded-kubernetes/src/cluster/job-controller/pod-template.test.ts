import { expect, test } from 'vitest';
import { jobOf } from './job.fixture.ts';
import { podFromTemplate } from './pod-template.ts';

const template = {
  metadata: { labels: { app: 'x' }, annotations: { note: 'y' }, finalizers: ['own/finalizer'] },
  spec: {
    initContainers: [{ name: 'init' }],
    containers: [
      { name: 'main', env: [{ name: 'JOB_COMPLETION_INDEX', value: 'mine' }] },
      { name: 'side', env: [{ name: 'A', value: '1' }] },
    ],
  },
};

test('a Pod of an Indexed Job carries its index everywhere, and no variable is overwritten', () => {
  const pod = podFromTemplate(jobOf({ template }), 7);
  const index = { 'batch.kubernetes.io/job-completion-index': '7' };
  expect(pod.metadata).toEqual({
    generateName: 'train-7-',
    namespace: 'team',
    labels: { app: 'x', ...index },
    annotations: { note: 'y', ...index },
    finalizers: ['own/finalizer', 'batch.kubernetes.io/job-tracking'],
    ownerReferences: [
      {
        apiVersion: 'batch/v1',
        kind: 'Job',
        name: 'train',
        uid: 'job-uid',
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  });
  expect(pod.spec.hostname).toBe('train-7');
  const variable = {
    name: 'JOB_COMPLETION_INDEX',
    valueFrom: {
      fieldRef: { fieldPath: "metadata.labels['batch.kubernetes.io/job-completion-index']" },
    },
  };
  expect(pod.spec.initContainers?.[0]?.env).toEqual([variable]);
  expect(pod.spec.containers.map((container) => container.env)).toEqual([
    [{ name: 'JOB_COMPLETION_INDEX', value: 'mine' }],
    [{ name: 'A', value: '1' }, variable],
  ]);
});

test('a Pod of a NonIndexed Job is the template as it is', () => {
  const pod = podFromTemplate(jobOf({ template, completionMode: 'NonIndexed' }), undefined);
  expect(pod.metadata.generateName).toBe('train-');
  expect(pod.spec).toBe(template.spec);
});

test('a long name is cut so that the index survives', () => {
  const job = jobOf({ template });
  const long = { ...job, metadata: { ...job.metadata, name: 'x'.repeat(63) } };
  expect(podFromTemplate(long, 123).metadata.generateName).toBe(`${'x'.repeat(53)}-123-`);
});
