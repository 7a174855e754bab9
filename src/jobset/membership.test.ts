import type { ObjectMeta, OwnerReference, PartialObjectMetadata } from '@lockstep/kube/meta.ts';
import { describe, expect, test } from 'vitest';
import { storedJob, storedJobSet } from '../../test/fixtures/jobset-objects.ts';
import { foreignClaim } from './foreign-claim.ts';
import { claims, isChildOf, membershipOf } from './membership.ts';
import { JOBSET_NAME, JOBSET_UID } from './names.ts';

const JOBSET = storedJobSet({ replicatedJobs: [] });
const TO_JOBSET: OwnerReference = {
  apiVersion: 'jobset.x-k8s.io/v1alpha2',
  kind: 'JobSet',
  name: 'train',
  uid: 'jobset-uid',
  controller: true,
};
const JOB = storedJob('train-w-0', 'w', { metadata: { ownerReferences: [TO_JOBSET] } });
const TO_JOB: OwnerReference = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  name: 'train-w-0',
  uid: 'uid-of-train-w-0',
  controller: true,
};
const LABELS = { [JOBSET_NAME]: 'train', [JOBSET_UID]: 'jobset-uid' };

function pod(owner: Partial<OwnerReference>, metadata: ObjectMeta = {}): PartialObjectMetadata {
  const ownerReferences = [{ ...TO_JOB, ...owner }];
  const own = { name: 'p', namespace: 'default', labels: LABELS, ownerReferences, ...metadata };
  return { apiVersion: 'v1', kind: 'Pod', metadata: own };
}

const jobWithUid = (uid: string) => (uid === JOB.metadata.uid ? JOB : undefined);
const jobSetWithUid = (uid: string) => (uid === JOBSET.metadata.uid ? JOBSET : undefined);

describe('a Pod', () => {
  test.each([
    ['of a Job of the JobSet is a member', pod({}), 'Member'],
    ['that wears no label is one all the same', pod({}, { labels: {} }), 'Member'],
    ['of an unknown Job claims what its labels say', pod({ uid: 'other' }), 'Claimant'],
    ['of an unknown Job, without labels', pod({ uid: 'other' }, { labels: {} }), 'Stranger'],
    ['in another namespace', pod({}, { namespace: 'hostile' }), 'Stranger'],
    ['whose Job has another name', pod({ name: 'other' }), 'Stranger'],
    ['whose Job is no controller', pod({ controller: false }), 'Stranger'],
    ['of another kind of owner', pod({ kind: 'CronJob' }), 'Stranger'],
    ['of a Job of another group', pod({ apiVersion: 'example.com/v1' }), 'Stranger'],
    ['of no Job', pod({}, { ownerReferences: [] }), 'Stranger'],
  ])('%s', (_what, given, expected) => {
    expect(membershipOf(given, jobWithUid).kind).toBe(expected);
  });

  test('of an unknown Job claims no JobSet of another namespace', () => {
    const found = membershipOf(pod({ uid: 'other' }, { namespace: 'hostile' }), jobWithUid);
    expect(found).toEqual({
      kind: 'Claimant',
      jobSet: { namespace: 'hostile', name: 'train', uid: 'jobset-uid' },
    });
  });

  test('of a Job without a JobSet is a stranger', () => {
    const found = membershipOf(pod({}), () => storedJob('train-w-0', 'w'));
    expect(found).toEqual({ kind: 'Stranger', problem: 'the Job of the Pod belongs to no JobSet' });
  });
});

test.each([
  ['of a Job', pod({}), true],
  ['of a Job that may be unknown', pod({ uid: 'other' }), true],
  ['of no Job', pod({}, { ownerReferences: [] }), false],
  ['of another namespace', pod({}, { namespace: 'hostile' }), false],
  ['of a namesake', pod({}, { labels: { ...LABELS, [JOBSET_UID]: 'before' } }), false],
])('a Pod with the labels of a JobSet, %s, claims to be its own: %#', (_what, given, expected) => {
  expect(claims(given, JOBSET)).toBe(expected);
});

describe('a child of a JobSet', () => {
  const child = (owner: Partial<OwnerReference>, namespace = 'default'): PartialObjectMetadata => {
    const metadata = { name: 'x', namespace, ownerReferences: [{ ...TO_JOBSET, ...owner }] };
    return { apiVersion: 'batch/v1', kind: 'Job', metadata };
  };

  test.each([
    ['with the whole reference', child({}), true],
    ['of a newer version of the group', child({ apiVersion: 'jobset.x-k8s.io/v1' }), true],
    ['in another namespace', child({}, 'hostile'), false],
    ['with another UID', child({ uid: 'other' }), false],
    ['with another name', child({ name: 'other' }), false],
    ['of another group', child({ apiVersion: 'example.com/v1' }), false],
    ['that it does not control', child({ controller: false }), false],
  ])('%s: %#', (_what, given, expected) => {
    expect(isChildOf(given, JOBSET)).toBe(expected);
  });

  test('is reported if what it refers to is elsewhere, and never where', () => {
    const known = { jobWithUid, jobSetWithUid };
    expect(foreignClaim(child({}), known)).toBeUndefined();
    expect(foreignClaim(child({ uid: 'gone' }, 'hostile'), known)).toBeUndefined();
    const note = foreignClaim(child({}, 'hostile'), known);
    expect(note).toBe(
      'its owner reference to JobSet train (jobset-uid) matches none in namespace hostile; an owner must be in the same namespace and match by name and UID, so Lockstep ignores this object',
    );
    expect(foreignClaim(child({ name: 'other' }), known)).toContain('matches none in namespace');
    const labelled = pod({}, { namespace: 'hostile', ownerReferences: [] });
    expect(foreignClaim(labelled, known)).toContain('which is no JobSet of namespace hostile');
  });
});
