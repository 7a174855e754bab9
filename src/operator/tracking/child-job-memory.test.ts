import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { Store } from '@lockstep/kube/runtime/informer/informer.ts';
import { expect, test } from 'vitest';
import { storedJob } from '../../../test/fixtures/jobset-objects.ts';
import { COMPLETE } from '../../../test/fixtures/planned.ts';
import { ChildJobMemory } from './child-job-memory.ts';
import { keptJobs } from './kept-job.ts';

const OWNER = {
  apiVersion: 'jobset.x-k8s.io/v1alpha2',
  kind: 'JobSet',
  name: 'train',
  uid: 'jobset-uid',
  controller: true,
};
const STORE: Store<Job> = {
  get: () => undefined,
  values: () => [],
  size: 0,
  byIndex: () => [],
  resourceVersion: '5',
};

function jobAt(resourceVersion: string, name = 'train-w-0'): Stored<Job> {
  const job = storedJob(name, 'w');
  return { ...job, metadata: { ...job.metadata, resourceVersion, ownerReferences: [OWNER] } };
}

function memory(): ChildJobMemory {
  return new ChildJobMemory(STORE, { namespace: 'default', name: 'train', uid: OWNER.uid });
}

test('shows what was written before the cache does, so that no Job is created twice', () => {
  const jobs = memory();
  jobs.wrote(jobAt('9'));
  const kept = keptJobs()(jobAt('9'));
  expect(jobs.view([])).toEqual([kept]);
  expect(jobs.view([jobAt('4')])).toEqual([kept]);
});

test('shows a Job as being deleted from the moment its deletion was accepted', () => {
  const jobs = memory();
  jobs.deleted(jobAt('4'));
  expect(jobs.view([jobAt('4')])[0]?.metadata.deletionTimestamp).toBeDefined();
  jobs.forgetShown([jobAt('4')]);
  expect(jobs.view([jobAt('4')])[0]?.metadata.deletionTimestamp).toBeDefined();
  expect(jobs.view([]), 'it is gone').toEqual([]);
  jobs.forgetShown([]);
  expect(jobs.view([jobAt('4')])[0]?.metadata, 'and forgotten').not.toHaveProperty(
    'deletionTimestamp',
  );
});

test('remembers finished Jobs that others deleted until the status tells of them', () => {
  const jobs = memory();
  const done = { ...jobAt('4'), status: COMPLETE };
  jobs.gone(jobAt('4', 'train-w-1'));
  const ours = { ...jobAt('4', 'train-w-2'), status: COMPLETE };
  jobs.deleted(ours);
  jobs.gone(ours);
  jobs.gone(done);
  expect(jobs.vanished, 'neither one that ran nor one that we deleted').toEqual([done]);
  jobs.recorded([done]);
  expect(jobs.vanished).toEqual([]);
});

test('keeps of a Job that was written no more than the cache does', () => {
  const jobs = memory();
  const written = jobAt('9');
  const annotations = { note: 'x'.repeat(250_000) };
  jobs.wrote({ ...written, metadata: { ...written.metadata, annotations } });
  expect(JSON.stringify(jobs.view([])).length).toBeLessThan(2000);
});
