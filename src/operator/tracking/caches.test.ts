import { expect, test } from 'vitest';
import { storedJob, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import { JOBSETS } from '../../jobset/jobset.ts';
import { JOB_INDEX, REPLICATED_JOB_NAME } from '../../jobset/names.ts';
import type { Stored } from '../../kube/meta.ts';
import type { Job } from '../../kube/objects/job.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import { isWhole, withSpecOfChildren } from './caches.ts';

const LARGE = 'x'.repeat(250_000);

const TRAIN = storedJobSet({ replicatedJobs: [] });
const OWNER = { apiVersion: apiVersionOf(JOBSETS), kind: JOBSETS.kind, name: 'train' };
const kept = withSpecOfChildren({ get: (key) => (key === 'default/train' ? TRAIN : undefined) });

function jobOf(uid: string, namespace = 'default'): Stored<Job> {
  const ownerReferences = [{ ...OWNER, uid, controller: true }];
  const annotations = { note: LARGE };
  const metadata = { ownerReferences, annotations, namespace, finalizers: [LARGE] };
  return storedJob('train-w-0', 'w', { metadata });
}

test.each([
  ['without a JobSet', storedJob('etl', 'w', { metadata: { annotations: { note: LARGE } } })],
  ['of a JobSet that is gone, or was never there', jobOf('forged')],
  ['that names a JobSet of another namespace', jobOf(TRAIN.metadata.uid, 'hostile')],
])('keeps hardly more than the name of a Job %s', (_, job) => {
  const cut = kept(job);
  expect(JSON.stringify(cut).length).toBeLessThan(2000);
  expect(cut.metadata).toMatchObject({ name: job.metadata.name, uid: job.metadata.uid });
  expect(isWhole(cut)).toBe(false);
});

test('keeps all of a Job that a JobSet controls', () => {
  const job = jobOf(TRAIN.metadata.uid);
  expect(kept(job)).toEqual(job);
  expect(isWhole(job)).toBe(true);
});

test('a Job that is not whole still says where its Pods are in the group', () => {
  const job = jobOf('another');
  const { metadata, spec } = kept({
    ...job,
    spec: { ...job.spec, parallelism: 4, completions: 4 },
  });
  expect(metadata.labels).toMatchObject({
    [REPLICATED_JOB_NAME]: 'w',
    [JOB_INDEX]: job.metadata.labels?.[JOB_INDEX],
  });
  expect(spec).toMatchObject({ parallelism: 4, completions: 4 });
});
