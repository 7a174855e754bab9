import { expect, test } from 'vitest';
import { storedJob } from '../../../test/fixtures/jobset-objects.ts';
import { JOBSETS } from '../../jobset/jobset.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import { withSpecOfChildren } from './caches.ts';

const LARGE = 'x'.repeat(250_000);

test('keeps hardly more than the name of a Job without a JobSet', () => {
  const job = storedJob('etl', 'w', { metadata: { annotations: { note: LARGE } } });
  const kept = withSpecOfChildren(job);
  expect(JSON.stringify(kept).length).toBeLessThan(2000);
  expect(kept.metadata).toMatchObject({ name: 'etl', uid: job.metadata.uid });
});

test('keeps all of a Job that a JobSet controls', () => {
  const owner = { apiVersion: apiVersionOf(JOBSETS), kind: JOBSETS.kind, name: 'train', uid: 'u' };
  const ownerReferences = [{ ...owner, controller: true }];
  const job = storedJob('train-w-0', 'w', { metadata: { ownerReferences } });
  expect(withSpecOfChildren(job)).toEqual(job);
});
