import { beforeEach, describe, expect, test } from 'vitest';
import { storedJob } from '../../test/fixtures/jobset-objects.ts';
import type { Job } from '../kube/job.ts';
import type { PartialObjectMetadata, Stored } from '../kube/meta.ts';
import { GroupTracker, type StrayPod } from './group-tracker.ts';

const OWNER = { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', name: 'train' };

function jobOf(jobSetUid: string): Stored<Job> {
  const ownerReferences = [{ ...OWNER, uid: jobSetUid, controller: true }];
  return storedJob('train-w-0', 'w', { pods: 3, metadata: { ownerReferences } });
}

function podIn(
  slot: string,
  epoch: string | undefined,
  more: Partial<Stored<PartialObjectMetadata>['metadata']> = {},
): Stored<PartialObjectMetadata> {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `train-w-0-${slot}`,
      namespace: 'default',
      uid: `pod-${slot}`,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: {
        'jobset.sigs.k8s.io/jobset-name': 'train',
        'jobset.sigs.k8s.io/jobset-uid': 'the-jobset',
      },
      annotations: {
        'batch.kubernetes.io/job-completion-index': slot,
        ...(epoch === undefined ? {} : { 'jobset.sigs.k8s.io/epoch': epoch }),
      },
      ownerReferences: [
        {
          apiVersion: 'batch/v1',
          kind: 'Job',
          name: 'train-w-0',
          uid: 'uid-of-train-w-0',
          controller: true,
        },
      ],
      ...more,
    },
  };
}

let jobs: Map<string, Stored<Job>>;
let interest: string[];
let strays: StrayPod[];
let tracker: GroupTracker;

beforeEach(() => {
  jobs = new Map([['uid-of-train-w-0', jobOf('the-jobset')]]);
  interest = [];
  strays = [];
  tracker = new GroupTracker({
    jobByUid: (uid) => jobs.get(uid),
    onInterest: (key) => interest.push(key),
    onStray: (stray) => strays.push(stray),
    nowMs: () => 0,
  });
  tracker.watch('the-jobset', { epoch: 2, slots: 3 });
});

describe('a group that gathers at its barrier', () => {
  test('is looked at when the last member arrives, not at every announcement', () => {
    for (const slot of ['0', '1', '2']) tracker.podLives(podIn(slot, undefined));
    tracker.podLives(podIn('0', '2'));
    tracker.podLives(podIn('1', '2'));
    expect(interest).toEqual([]);
    tracker.podLives(podIn('2', '2'));
    expect(interest).toEqual(['default/train']);
    tracker.podLives(podIn('2', '2'));
    expect(interest, 'nothing new').toHaveLength(1);
  });

  test('is looked at again when what was in its way is gone', () => {
    tracker.podLives(podIn('0', '1', { uid: 'old', deletionTimestamp: '2026-01-01T00:00:00Z' }));
    for (const slot of ['0', '1', '2']) tracker.podLives(podIn(slot, '2'));
    interest.length = 0;
    tracker.podEnded('old');
    expect(interest).toEqual(['default/train']);
  });

  test('is looked at for every failure, announced or noticed', () => {
    tracker.podLives(podIn('0', '3'));
    expect(interest).toHaveLength(1);
    const { annotations } = podIn('1', '2').metadata;
    tracker.podLives(podIn('1', '2', { annotations: { ...annotations, 'lockstep/notice': '2' } }));
    expect(interest).toHaveLength(2);
    tracker.podLives(podIn('2', '2', { annotations: { ...annotations, 'lockstep/notice': '1' } }));
    expect(interest, 'of an epoch that is over').toHaveLength(2);
  });

  test('is nobody’s interest before it was planned for the first time', () => {
    tracker.watch('the-jobset', undefined);
    tracker.podLives(podIn('0', '9'));
    expect(interest).toEqual([]);
    expect([...tracker.members('the-jobset').announcing(9)]).toHaveLength(1);
  });
});

describe('membership', () => {
  const members = (): number => [...tracker.members('the-jobset').announcing(2)].length;

  test('follows the owner chain, whatever the labels say', () => {
    jobs.set('uid-of-train-w-0', jobOf('another'));
    tracker.podLives(podIn('0', '2'));
    expect(members()).toBe(0);
    expect([...tracker.members('another').announcing(2)]).toHaveLength(1);
  });

  test('is presumed for a Pod whose Job is gone or not here yet, until it is known better', () => {
    jobs.clear();
    tracker.podLives(podIn('0', '2'));
    expect(members()).toBe(1);
    tracker.jobSeen(jobOf('the-jobset'));
    expect(members()).toBe(1);
    tracker.jobSeen(storedJob('train-w-0', 'w'));
    expect(members(), 'a Job of somebody else').toBe(0);
  });

  test.each([
    ['no owner', []],
    [
      'an owner that is no Job',
      [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'x', uid: 'y', controller: true }],
    ],
  ])('is not given by the label of a Pod with %s, which is reported', (_what, ownerReferences) => {
    tracker.podLives(podIn('0', '2', { ownerReferences }));
    expect(members()).toBe(0);
    expect(strays).toEqual([
      {
        jobSet: 'default/train',
        podUid: 'pod-0',
        problem: 'Pod train-w-0-0 wears the label of a JobSet but is none of its Pods',
      },
    ]);
  });

  test('ends when a Pod is orphaned', () => {
    tracker.podLives(podIn('0', '2'));
    expect(members()).toBe(1);
    tracker.podLives(podIn('0', '2', { ownerReferences: [] }));
    expect(members()).toBe(0);
    expect([...tracker.members('the-jobset').jobsWithLivingPods()]).toEqual([]);
  });

  test('a malformed epoch counts as none and is reported with value and expectation', () => {
    tracker.podLives(podIn('0', '-2'));
    expect(members()).toBe(0);
    expect(strays[0]?.problem).toBe(
      'annotation jobset.sigs.k8s.io/epoch of Pod train-w-0-0 is "-2", expected an integer from 1 to 2147483647; the Pod counts as missing',
    );
  });

  test('leaves nothing behind when Pods and Job are gone', () => {
    tracker.podLives(podIn('0', '2'));
    tracker.podSucceeded(podIn('0', '2'));
    tracker.podEnded('pod-0');
    expect(tracker.members('the-jobset').ofJob('uid-of-train-w-0')?.succeeded).toEqual(
      new Set('0'),
    );
    tracker.jobGone('uid-of-train-w-0');
    expect(tracker.members('the-jobset').ofJob('uid-of-train-w-0')).toBeUndefined();
  });
});
