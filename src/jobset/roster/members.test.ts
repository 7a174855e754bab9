import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EPOCH, NOTICE } from '../names.ts';
import { MemberCounts } from './members.ts';
import { type PodFacts, parseEpoch, podFacts } from './pod-facts.ts';

const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'train-w-0-1-abcde',
    namespace: 'default',
    uid: 'pod-uid',
    ownerReferences: [
      { apiVersion: 'batch/v1', kind: 'Job', name: 'train-w-0', uid: 'job-uid', controller: true },
    ],
    annotations: {
      'batch.kubernetes.io/job-completion-index': '1',
      [EPOCH]: '4',
      [NOTICE]: '3',
    },
  },
};

describe('the facts of a Pod', () => {
  test('come from its owner, index, announcement and notice', () => {
    expect(podFacts(POD)).toEqual({
      namespace: 'default',
      name: 'train-w-0-1-abcde',
      uid: 'pod-uid',
      jobUid: 'job-uid',
      jobName: 'train-w-0',
      slot: '1',
      epoch: 4,
      malformedEpoch: undefined,
      notice: { epoch: 3 },
      isTerminating: false,
      isDiscarded: false,
    });
  });

  test.each([
    ['has no owner', []],
    [
      'is owned by another kind',
      [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'x', uid: 'u', controller: true }],
    ],
    [
      'has an owner that does not control it',
      [{ apiVersion: 'batch/v1', kind: 'Job', name: 'x', uid: 'u' }],
    ],
    [
      'is owned by a Job of another group',
      [{ apiVersion: 'jobs.example.com/v1', kind: 'Job', name: 'x', uid: 'u', controller: true }],
    ],
  ])('are none if it %s', (_why, ownerReferences) => {
    expect(podFacts({ ...POD, metadata: { ...POD.metadata, ownerReferences } })).toBeUndefined();
  });

  test.each(['', '0', '-1', '1.0', ' 1', '1e3', '0x1', '2147483648', '99999999999', 'one', '١'])(
    'call %j no epoch',
    (text) => {
      expect(parseEpoch(text)).toBeUndefined();
      const annotations = { ...POD.metadata.annotations, [EPOCH]: text };
      const facts = podFacts({ ...POD, metadata: { ...POD.metadata, annotations } });
      expect(facts).toMatchObject({ epoch: undefined, malformedEpoch: text });
    },
  );

  test('accept the whole range of int32', () => {
    expect([parseEpoch('1'), parseEpoch('2147483647')]).toEqual([1, 2_147_483_647]);
  });
});

const facts = fc.record({
  uid: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  jobUid: fc.constantFrom('j1', 'j2'),
  slot: fc.constantFrom('0', '1', undefined),
  epoch: fc.constantFrom(undefined, 1, 2, 3),
  noticed: fc.constantFrom(undefined, 1, 2),
  isTerminating: fc.boolean(),
});
const event = fc.oneof(
  { weight: 4, arbitrary: facts },
  { weight: 1, arbitrary: fc.constantFrom('a', 'b', 'c', 'd', 'e') },
);

test('counts kept step by step equal counts made from scratch', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60, size: 'max' }), (events) => {
      const counts = new MemberCounts();
      const pods = new Map<string, PodFacts>();
      for (const one of events) {
        if (typeof one === 'string') {
          expect(counts.forget(one)).toBe(pods.delete(one));
          continue;
        }
        // Owner and slot of a Pod never change.
        const known = pods.get(one.uid);
        const pod: PodFacts = {
          namespace: 'default',
          name: one.uid,
          uid: one.uid,
          jobUid: known?.jobUid ?? one.jobUid,
          jobName: 'train',
          slot: known === undefined ? one.slot : known.slot,
          epoch: one.epoch,
          malformedEpoch: undefined,
          notice: one.noticed === undefined ? undefined : { epoch: one.noticed },
          isTerminating: one.isTerminating,
        };
        pods.set(pod.uid, pod);
        counts.observe(pod, 0);
      }
      expectCounts(counts, [...pods.values()]);
    }),
  );
});

function expectCounts(counts: MemberCounts, pods: readonly PodFacts[]): void {
  const live = pods.filter(({ isTerminating }) => !isTerminating);
  for (const epoch of [1, 2, 3]) {
    const names = (list: Iterable<PodFacts>): string[] => [...list].map(({ uid }) => uid).sort();
    expect(names(counts.announcing(epoch))).toEqual(names(live.filter((p) => p.epoch === epoch)));
    expect(counts.countAnnouncing(epoch)).toBe(live.filter((p) => p.epoch === epoch).length);
    expect(names(counts.noticing(epoch))).toEqual(
      names(live.filter((p) => p.notice?.epoch === epoch)),
    );
  }
  expect([...counts.jobsWithLivingPods()].sort()).toEqual(
    [...new Set(pods.map(({ jobUid }) => jobUid))].sort(),
  );
  expect(counts.isEmpty()).toBe(pods.length === 0);
  for (const jobUid of ['j1', 'j2']) {
    const ofJob = pods.filter((pod) => pod.jobUid === jobUid);
    const liveOfJob = ofJob.filter(({ isTerminating }) => !isTerminating);
    const job = counts.ofJob(jobUid);
    expect(job?.live ?? 0).toBe(liveOfJob.length);
    expect(job?.terminating ?? 0).toBe(ofJob.length - liveOfJob.length);
    expect(job?.doubledSlots ?? 0).toBe(
      ['0', '1'].filter((s) => liveOfJob.filter(({ slot }) => slot === s).length > 1).length,
    );
    for (const epoch of [1, 2, 3]) {
      expect(job?.liveAt(epoch) ?? 0).toBe(liveOfJob.filter((p) => p.epoch === epoch).length);
      expect(job?.otherThan(epoch) ?? 0).toBe(ofJob.filter((p) => p.epoch !== epoch).length);
      expect(job?.below(epoch) ?? 0).toBe(ofJob.filter((p) => (p.epoch ?? 9) < epoch).length);
    }
  }
}

test('an unchanged Pod is no news and keeps its place among the announcements', () => {
  const counts = new MemberCounts();
  const pod = (uid: string): PodFacts => ({
    namespace: 'default',
    name: uid,
    uid,
    jobUid: 'j',
    jobName: 'train',
    slot: uid,
    epoch: 2,
    malformedEpoch: undefined,
    notice: undefined,
    isTerminating: false,
  });
  expect([counts.observe(pod('a'), 1), counts.observe(pod('b'), 2)]).toEqual([true, true]);
  expect(counts.observe(pod('a'), 3)).toBe(false);
  expect([...counts.announcing(2)].map(({ uid }) => uid)).toEqual(['a', 'b']);
  expect(counts.lastAnnouncementMs).toBe(2);
});

test('counts that contradict each other are refused, with the Job and its Pod', () => {
  const counts = new MemberCounts();
  const facts = podFacts(POD);
  if (facts === undefined) throw new Error('no facts');
  const pod: { -readonly [K in keyof PodFacts]: PodFacts[K] } = { ...facts };
  counts.observe(pod, 0);
  pod.isTerminating = true;
  expect(() => counts.forget(pod.uid)).toThrow(
    'internal error, please report it: Job train-w-0 has -1 Pods after train-w-0-1-abcde went',
  );
});
