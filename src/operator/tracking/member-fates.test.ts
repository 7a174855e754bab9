import type { PartialObjectMetadata, Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { storedJob } from '../../../test/fixtures/jobset-objects.ts';
import { ZERO } from '../../../test/fixtures/planned.ts';
import type { JobSetStatus } from '../../jobset/jobset-status.ts';
import type { EndedWorker, WorkerEvidence } from '../../jobset/worker-end/worker-evidence.ts';
import { MemberFates } from './member-fates.ts';

const TRAIN = { namespace: 'default', name: 'train', uid: 'the-jobset' };
const BY_SIGKILL: WorkerEvidence = { how: 'Signaled', signal: 'SIGKILL', byItself: true };
const KILLED: EndedWorker = { evidence: BY_SIGKILL, atMs: -40 };
const DELETED = {
  deletionTimestamp: '2026-01-01T00:00:00Z',
  finalizers: ['batch.kubernetes.io/job-tracking'],
};

function job(more: Partial<Job['spec']> = {}): Stored<Job> {
  const owner = { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', name: 'train' };
  const ownerReferences = [{ ...owner, uid: TRAIN.uid, controller: true }];
  const made = storedJob('train-w-0', 'w', { pods: 3, metadata: { ownerReferences } });
  return { ...made, spec: { ...made.spec, ...more } };
}

function podIn(
  slot: number,
  annotations: Readonly<Record<string, string>> = {},
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
      annotations: { 'batch.kubernetes.io/job-completion-index': String(slot), ...annotations },
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

let nowMs: number;
let jobs: Map<string, Stored<Job>>;
let groups: Set<string>;
let spoken: Map<string, number>;
let status: JobSetStatus;
let fates: MemberFates;

beforeEach(() => {
  nowMs = 100_000;
  jobs = new Map([['uid-of-train-w-0', job()]]);
  groups = new Set([TRAIN.uid]);
  status = { deprecatedEpoch: 2, replicatedJobsStatus: [{ name: 'w', ...ZERO, syncedEpoch: 3 }] };
  spoken = new Map([0, 1, 2].map((slot) => [`pod-${slot}`, 3]));
  fates = new MemberFates({
    jobWithUid: (uid) => jobs.get(uid),
    statusOf: ({ uid }) => (groups.has(uid) ? status : undefined),
    spokenEpoch: (uid) => spoken.get(uid),
    nowMs: () => nowMs,
  });
});

describe('what agents tell', () => {
  test('is dated by its age, belongs to the epoch before the announced one, and has a place', () => {
    fates.announced(podIn(1), { epoch: 4, ended: KILLED });
    expect(fates.of(TRAIN, 4)).toEqual([]);
    expect(fates.of(TRAIN, 3)).toEqual([
      {
        member: {
          replicatedJob: 'w',
          jobIndex: 0,
          completions: 3,
          completionIndex: 1,
          pod: 'train-w-0-1',
          podUid: 'pod-1',
        },
        end: { kind: 'Ended', atMs: 99_960, evidence: BY_SIGKILL },
      },
    ]);
  });

  test('of a success counts for the epoch that runs, and is surer than what its Pod shows', () => {
    const evidence: WorkerEvidence = { how: 'Exited', exitCode: 0, byItself: true };
    const ended = { evidence, atMs: -300 };
    fates.succeeded(podIn(1), { epoch: 2, ended });
    fates.succeeded(podIn(1), { epoch: 4, ended });
    expect([2, 3, 4].map((epoch) => fates.of(TRAIN, epoch))).toEqual([[], [], []]);
    fates.succeeded(podIn(1), { epoch: 3, ended });
    nowMs += 5000;
    fates.podSucceeded(podIn(1));
    fates.podGone(podIn(1));
    expect(fates.of(TRAIN, 3).map(({ end }) => end)).toEqual([
      { kind: 'Ended', atMs: 99_700, evidence },
    ]);
  });

  test('keeps its first date when it is repeated', () => {
    fates.announced(podIn(1), { epoch: 4, ended: KILLED });
    nowMs += 9000;
    fates.announced(podIn(1), { epoch: 4, ended: { ...KILLED, atMs: -9200 } });
    expect(fates.of(TRAIN, 3)[0]?.end).toMatchObject({ atMs: 99_960 });
  });

  test('counts over the API server once it changes, and not when it is listed', () => {
    const notice = JSON.stringify({
      epoch: 3,
      signal: 'SIGKILL',
      ended: { ...BY_SIGKILL, agoMs: 40 },
    });
    const pod = podIn(1, { 'lockstep/notice': notice });
    fates.podChanged(pod, pod);
    expect(fates.of(TRAIN, 3)).toEqual([]);
    fates.podChanged(pod, podIn(1));
    expect(fates.of(TRAIN, 3)[0]?.end).toMatchObject({ atMs: 99_960, isOverApi: true });
  });

  test('is forgotten when its record is written', () => {
    fates.announced(podIn(1), { epoch: 4, ended: KILLED });
    fates.settle(TRAIN, 3);
    expect(fates.of(TRAIN, 3)).toHaveLength(1);
    fates.settle(TRAIN, 4);
    expect(fates.of(TRAIN, 3)).toEqual([]);
    fates.announced(podIn(1), { epoch: 4, ended: KILLED });
    expect(fates.of(TRAIN, 3), 'repeated after that').toEqual([]);
    fates.announced(podIn(1), { epoch: 5, ended: KILLED });
    fates.forget(TRAIN);
    expect(fates.of(TRAIN, 4)).toEqual([]);
  });

  test('is nothing if the JobSet is over, or restarts otherwise', () => {
    groups.clear();
    fates.announced(podIn(1), { epoch: 4, ended: KILLED });
    groups.add(TRAIN.uid);
    expect(fates.of(TRAIN, 3)).toEqual([]);
  });

  test('is bounded: the last words of some members are enough', () => {
    jobs.set('uid-of-train-w-0', job({ completions: 300, parallelism: 300 }));
    for (let slot = 0; slot < 300; slot++) {
      const evidence = { ...BY_SIGKILL, lastWords: 'x'.repeat(500) };
      fates.announced(podIn(slot), { epoch: 4, ended: { ...KILLED, evidence } });
    }
    const known = fates.of(TRAIN, 3);
    const speaking = known.filter(
      ({ end }) => end.kind === 'Ended' && end.evidence.lastWords !== undefined,
    );
    expect([known.length, speaking.length]).toEqual([300, 256]);
  });
});

describe('a member whose Pod goes while it waits at the barrier', () => {
  beforeEach(() => {
    fates.announced(podIn(1), { epoch: 4, ended: KILLED });
    spoken.set('pod-1', 4);
    status = { ...status, deprecatedEpoch: 3 };
  });

  test.each<[string, () => void]>([
    ['is deleted', () => fates.podChanged(podIn(1, {}, DELETED), podIn(1))],
    ['vanishes', () => fates.podGone(podIn(1))],
    ['is told to end, and exits with 0', () => fates.podSucceeded(podIn(1, {}, DELETED))],
  ])('keeps what it reported, and has no part in the next epoch: it %s', (_, go) => {
    go();
    expect(fates.of(TRAIN, 3)).toMatchObject([{ end: { kind: 'Ended', evidence: BY_SIGKILL } }]);
    const replicatedJobsStatus = [{ name: 'w', ...ZERO, syncedEpoch: 4 }];
    status = { ...status, replicatedJobsStatus };
    expect(fates.of(TRAIN, 4)).toEqual([]);
  });
});

describe('a member whose agent cannot tell', () => {
  test('is not lost if we replace it, whatever this operator knows of its epoch', () => {
    const left = { node: 'n1', time: '', reason: '', worker: '', pod: 'train-w-0-1' };
    status = { ...status, avoidedNodes: [left] };
    fates.podChanged(podIn(1, {}, DELETED), podIn(1));
    fates.podGone(podIn(1, {}, DELETED));
    fates.podGone(podIn(2));
    expect(fates.of(TRAIN, 3)).toMatchObject([{ member: { pod: 'train-w-0-2' } }]);
  });

  test('came back as a new process: its stream had ended before', () => {
    fates.left('pod-1', nowMs, podIn(1));
    nowMs += 700;
    fates.announced(podIn(1), { epoch: 4 });
    expect(fates.of(TRAIN, 3)[0]?.end).toEqual({ kind: 'Returned', atMs: 100_000 });
  });

  test('only lost its connection for a while', () => {
    fates.left('pod-1', nowMs, podIn(1));
    fates.announced(podIn(1), { epoch: 3 });
    fates.announced(podIn(1), { epoch: 4 });
    expect(fates.of(TRAIN, 3)).toEqual([]);
  });

  test('was deleted, and is last known to live when its stream ended', () => {
    fates.podChanged(podIn(1, {}, DELETED), podIn(1));
    nowMs += 300;
    fates.left('pod-1', nowMs, podIn(1, {}, DELETED));
    fates.sawNode('pod-1', 'n4');
    fates.podGone(podIn(1, {}, DELETED));
    expect(fates.of(TRAIN, 3)).toMatchObject([
      { member: { node: 'n4' }, end: { kind: 'Lost', seenMs: 100_300, deletedMs: 100_000 } },
    ]);
  });

  test('may be on a node that is known after many others that count for nothing', () => {
    for (let i = 0; i < 20_000; i++) {
      const gone = podIn(2, {}, { uid: `silent-${i}` });
      fates.sawNode(gone.metadata.uid, 'n3');
      fates.podGone(gone);
    }
    fates.sawNode('pod-1', 'n4');
    fates.podGone(podIn(1));
    expect(fates.of(TRAIN, 3)).toMatchObject([{ member: { node: 'n4' } }]);
  });

  test('was not silent since it left the hub if it announced on its Pod then', () => {
    fates.left('pod-1', 60_000, podIn(1));
    const announced = podIn(1, { 'jobset.sigs.k8s.io/epoch': '3' });
    fates.podChanged(announced, podIn(1));
    fates.podGone(announced);
    expect(fates.of(TRAIN, 3)[0]?.end).toEqual({ kind: 'Lost', seenMs: nowMs });
  });

  test('was silent long before its Pod was deleted', () => {
    fates.left('pod-1', 60_000, podIn(1));
    fates.podGone(podIn(1));
    expect(fates.of(TRAIN, 3)[0]?.end).toEqual({ kind: 'Lost', seenMs: 60_000 });
  });

  test('succeeded, whichever watch reports it first', () => {
    fates.podGone(podIn(1));
    fates.podSucceeded(podIn(1, { 'jobset.sigs.k8s.io/epoch': '3' }));
    fates.podSucceeded(podIn(2, { 'jobset.sigs.k8s.io/epoch': '3' }));
    fates.podGone(podIn(2));
    const kinds = fates.of(TRAIN, 3).map(({ end }) => end.kind);
    expect(kinds).toEqual(['Succeeded', 'Succeeded']);
  });

  test.each([
    ['its Job is suspended', () => jobs.set('uid-of-train-w-0', job({ suspend: true }))],
    ['its Job is gone', () => jobs.clear()],
  ])('was taken away on purpose: %s', (_, takeAway) => {
    takeAway();
    fates.podChanged(podIn(1, {}, DELETED), podIn(1));
    fates.podGone(podIn(1));
    jobs.set('uid-of-train-w-0', job());
    expect(fates.of(TRAIN, 3)).toEqual([]);
  });
});
