import type { PartialObjectMetadata, Stored } from '@lockstep/kube/meta.ts';
import { expect, test } from 'vitest';
import { placementRole } from '../../jobset/exclusive-placement.ts';
import { membershipOf } from '../../jobset/membership.ts';
import { podFacts } from '../../jobset/roster/pod-facts.ts';
import { boundedMetadata } from './bounded-metadata.ts';

const withBoundedMetadata = boundedMetadata();

const LARGE = 'x'.repeat(250_000);
const JOB = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  name: 'train-w-0',
  uid: 'job',
  controller: true,
};

function pod(
  metadata: Partial<Stored<PartialObjectMetadata>['metadata']>,
): Stored<PartialObjectMetadata> {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'default',
      name: 'train-w-0-1',
      uid: 'pod',
      resourceVersion: '7',
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...metadata,
    },
  };
}

const MEMBER = {
  labels: {
    'jobset.sigs.k8s.io/jobset-name': 'train',
    'jobset.sigs.k8s.io/jobset-uid': 'set',
    'jobset.sigs.k8s.io/job-key': 'key',
  },
  ownerReferences: [JOB],
};

test('keeps everything by which a member is judged', () => {
  const honest = pod({
    ...MEMBER,
    labels: {
      ...MEMBER.labels,
      'jobset.sigs.k8s.io/restart-attempt': '0',
      'batch.kubernetes.io/job-name': 'train-w-0',
    },
    annotations: {
      'jobset.sigs.k8s.io/jobset-name': 'train',
      'alpha.jobset.sigs.k8s.io/exclusive-topology': 'rack',
      'jobset.sigs.k8s.io/epoch': '3',
      'lockstep/agent-starts': '3:1',
      'lockstep/lost-node-deadline': '5m',
      'lockstep/notice': '{"epoch":2,"exitCode":7}',
      'batch.kubernetes.io/job-completion-index': '1',
    },
    finalizers: ['batch.kubernetes.io/job-tracking'],
  });
  const kept = withBoundedMetadata(honest);
  expect(podFacts(kept)).toEqual(podFacts(honest));
  expect(membershipOf(kept, () => undefined)).toEqual(membershipOf(honest, () => undefined));
  expect(placementRole(kept)).toEqual({ kind: 'Follower', topologyKey: 'rack' });
  expect(kept.metadata.labels?.['jobset.sigs.k8s.io/job-key']).toBe('key');
});

test('members share what they have in common', () => {
  const [one, other] = ['a', 'b'].map((uid) =>
    withBoundedMetadata(pod(structuredClone({ ...MEMBER, uid }))),
  );
  expect([one?.metadata.uid, other?.metadata.uid]).toEqual(['a', 'b']);
  expect(one?.metadata.labels).toBe(other?.metadata.labels);
  expect(one?.metadata.ownerReferences).toBe(other?.metadata.ownerReferences);
});

test('keeps little of what a user can make arbitrarily large', () => {
  const ours = Array.from({ length: 5_000 }, (_, i) => [`lockstep/x${i}`, LARGE.slice(0, 40)]);
  const others = Array.from({ length: 5_000 }, (_, i) => ({
    ...JOB,
    uid: `${i}`,
    controller: false,
  }));
  const kept = withBoundedMetadata(
    pod({
      labels: Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`team/x${i}`, 'x'])),
      annotations: { 'jobset.sigs.k8s.io/epoch': LARGE, note: LARGE, ...Object.fromEntries(ours) },
      finalizers: Array.from({ length: 5_000 }, (_, i) => `team/x${i}`),
      ownerReferences: [...others, { ...JOB, uid: LARGE }],
    }),
  );
  expect(JSON.stringify(kept).length).toBeLessThan(10_000);
  expect(
    podFacts(
      withBoundedMetadata(
        pod({ ownerReferences: [JOB], annotations: { 'jobset.sigs.k8s.io/epoch': LARGE } }),
      ),
    )?.malformedEpoch,
  ).toMatch(/^x+$/);
});
