import type { PartialObjectMetadata, Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { storedJob, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import { ZERO } from '../../../test/fixtures/planned.ts';
import type { JobSetStatus } from '../jobset-status.ts';
import type { WorkerEnd } from '../worker-end/worker-end.ts';
import type { MemberEvidence } from './group-evidence.ts';
import { Roster } from './roster.ts';
import type { RosterEvent } from './roster-events.ts';

const TRAIN = { namespace: 'default', name: 'train', uid: 'the-jobset' };
const BY_SIGKILL = { how: 'Signaled', exit: { signal: 'SIGKILL' } } as const;
const KILLED: WorkerEnd = { epoch: 3, ...BY_SIGKILL, atMs: -40 };
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
let status: JobSetStatus;
let version: number;
let roster: Roster;

beforeEach(() => {
  nowMs = 100_000;
  jobs = new Map([['uid-of-train-w-0', job()]]);
  version = 1;
  status = { deprecatedEpoch: 2, replicatedJobsStatus: [{ name: 'w', ...ZERO, syncedEpoch: 3 }] };
  roster = new Roster((uid) => jobs.get(uid));
  seen(status);
  for (const slot of [0, 1, 2]) running(slot);
});

function tell(event: RosterEvent): void {
  roster.apply(event, { wallMs: 0, monotonicMs: nowMs });
}

/** The JobSet has that status. */
function seen(
  next: JobSetStatus,
  restartStrategy: 'InPlaceRestart' | 'Recreate' = 'InPlaceRestart',
  own: { readonly isOwn?: true } = {},
) {
  status = next;
  version++;
  const jobSet = storedJobSet({ failurePolicy: { restartStrategy } });
  const { name, namespace, uid } = TRAIN;
  const metadata = { ...jobSet.metadata, name, namespace, uid, resourceVersion: String(version) };
  tell({ kind: 'JobSetSeen', jobSet: { ...jobSet, metadata, status }, ...own });
}

/** Its worker runs in epoch 3, as its agent says over the hub. */
function running(slot: number): void {
  tell({ kind: 'PodSeen', pod: podIn(slot) });
  tell({ kind: 'StreamOpened', podUid: `pod-${slot}` });
  announced(slot, { epoch: 3 });
}

function announced(slot: number, said: { readonly epoch: number; readonly end?: WorkerEnd }) {
  tell({ kind: 'Announced', podUid: `pod-${slot}`, announcement: { starts: 1, ...said } });
}

function left(slot: number, seenMs: number): void {
  tell({ kind: 'StreamClosed', podUid: `pod-${slot}`, seenMs });
}

function changed(pod: Stored<PartialObjectMetadata>): void {
  tell({ kind: 'PodSeen', pod });
}

function gone(pod: Stored<PartialObjectMetadata>): void {
  tell({ kind: 'PodGone', pod });
}

function succeeded(pod: Stored<PartialObjectMetadata>): void {
  tell({ kind: 'PodSucceeded', pod });
}

function endsIn(epoch: number): readonly MemberEvidence[] {
  return roster.of(TRAIN).endsIn(epoch);
}

describe('what agents tell', () => {
  test('is dated by its age, belongs to the epoch before the announced one, and has a place', () => {
    announced(1, { epoch: 4, end: KILLED });
    expect(endsIn(4)).toEqual([]);
    expect(endsIn(3)).toEqual([
      {
        member: {
          replicatedJob: 'w',
          jobIndex: 0,
          completions: 3,
          completionIndex: 1,
          pod: 'train-w-0-1',
          podUid: 'pod-1',
        },
        end: { kind: 'Ended', ...KILLED, atMs: 99_960 },
      },
    ]);
  });

  test('of a success counts for the epoch that runs, and is surer than what its Pod shows', () => {
    const end = { how: 'Exited', exit: { exitCode: 0 } } as const;
    tell({ kind: 'WorkerSucceeded', podUid: 'pod-1', success: { ...end, epoch: 2, atMs: -300 } });
    tell({ kind: 'WorkerSucceeded', podUid: 'pod-1', success: { ...end, epoch: 4, atMs: -300 } });
    expect([2, 3, 4].map((epoch) => endsIn(epoch))).toEqual([[], [], []]);
    tell({ kind: 'WorkerSucceeded', podUid: 'pod-1', success: { ...end, epoch: 3, atMs: -300 } });
    nowMs += 5000;
    succeeded(podIn(1));
    gone(podIn(1));
    expect(endsIn(3)).toMatchObject([{ end: { kind: 'Ended', atMs: 99_700, ...end } }]);
  });

  test('keeps its first date when it is repeated', () => {
    announced(1, { epoch: 4, end: KILLED });
    nowMs += 9000;
    announced(1, { epoch: 4, end: { ...KILLED, atMs: -9200 } });
    expect(endsIn(3)[0]?.end).toMatchObject({ atMs: 99_960 });
  });

  test('counts over the API server once it changes, and not when it is listed', () => {
    const notice = JSON.stringify({
      epoch: 3,
      signal: 'SIGKILL',
      ended: { how: 'Signaled', signal: 'SIGKILL', byItself: true, agoMs: 40 },
    });
    const pod = podIn(1, { 'lockstep/notice': notice });
    const listed = new Roster((uid) => jobs.get(uid));
    const at = { wallMs: 0, monotonicMs: nowMs };
    listed.apply({ kind: 'PodSeen', pod }, at);
    expect(listed.of(TRAIN).endsIn(3)).toEqual([]);
    changed(pod);
    expect(endsIn(3)[0]?.end).toMatchObject({ atMs: 99_960, isOverApi: true });
  });

  test('is forgotten when its record is written', () => {
    announced(1, { epoch: 4, end: KILLED });
    roster.of(TRAIN).settle(3);
    expect(endsIn(3)).toHaveLength(1);
    roster.of(TRAIN).settle(4);
    expect(endsIn(3)).toEqual([]);
    announced(1, { epoch: 4, end: KILLED });
    expect(endsIn(3), 'repeated after that').toEqual([]);
    announced(1, { epoch: 5, end: { ...KILLED, epoch: 4 } });
    tell({ kind: 'JobSetGone', jobSet: TRAIN });
    expect(endsIn(4)).toEqual([]);
  });

  test('is nothing if the JobSet is over, or restarts otherwise', () => {
    seen(status, 'Recreate');
    announced(1, { epoch: 4, end: KILLED });
    seen(status);
    expect(endsIn(3)).toEqual([]);
  });

  test('is bounded: the last words of some members are enough', () => {
    jobs.set('uid-of-train-w-0', job({ completions: 300, parallelism: 300 }));
    for (let slot = 0; slot < 300; slot++) {
      running(slot);
      announced(slot, { epoch: 4, end: { ...KILLED, lastWords: 'x'.repeat(500) } });
    }
    const known = endsIn(3);
    const speaking = known.filter(({ end }) => end.kind === 'Ended' && end.lastWords !== undefined);
    expect([known.length, speaking.length]).toEqual([300, 256]);
  });
});

describe('a member whose Pod goes while it waits at the barrier', () => {
  beforeEach(() => {
    announced(1, { epoch: 4, end: KILLED });
    seen({ ...status, deprecatedEpoch: 3 });
  });

  test.each<[string, () => void]>([
    ['is deleted', () => changed(podIn(1, {}, DELETED))],
    ['vanishes', () => gone(podIn(1))],
    ['is told to end, and exits with 0', () => succeeded(podIn(1, {}, DELETED))],
  ])('keeps what it reported, and has no part in the next epoch: it %s', (_, go) => {
    go();
    expect(endsIn(3)).toMatchObject([{ end: { kind: 'Ended', ...BY_SIGKILL } }]);
    const replicatedJobsStatus = [{ name: 'w', ...ZERO, syncedEpoch: 4 }];
    seen({ ...status, replicatedJobsStatus });
    expect(endsIn(4)).toEqual([]);
  });
});

describe('a member whose agent cannot tell', () => {
  test('is not lost if we replace it, whatever this operator knows of its epoch', () => {
    const avoided = { node: 'n1', time: '', reason: '', worker: '', pod: 'train-w-0-1' };
    seen({ ...status, avoidedNodes: [avoided] });
    changed(podIn(1, {}, DELETED));
    gone(podIn(1, {}, DELETED));
    gone(podIn(2));
    expect(endsIn(3)).toMatchObject([{ member: { pod: 'train-w-0-2' } }]);
  });

  test('came back as a new process: its stream had ended before', () => {
    left(1, nowMs);
    nowMs += 700;
    announced(1, { epoch: 4 });
    expect(endsIn(3)[0]?.end).toEqual({ kind: 'Returned', atMs: 100_000 });
  });

  test('only lost its connection for a while', () => {
    left(1, nowMs);
    announced(1, { epoch: 3 });
    announced(1, { epoch: 4 });
    expect(endsIn(3)).toEqual([]);
  });

  test('was deleted, and is last known to live when its stream ended', () => {
    changed(podIn(1, {}, DELETED));
    nowMs += 300;
    left(1, nowMs);
    tell({ kind: 'NodeSeen', jobSet: TRAIN, podUid: 'pod-1', node: 'n4' });
    gone(podIn(1, {}, DELETED));
    expect(endsIn(3)).toMatchObject([
      { member: { node: 'n4' }, end: { kind: 'Lost', seenMs: 100_300, deletedMs: 100_000 } },
    ]);
  });

  test('may be on a node that is known before it is lost', () => {
    tell({ kind: 'NodeSeen', jobSet: TRAIN, podUid: 'pod-1', node: 'n4' });
    gone(podIn(1));
    expect(endsIn(3)).toMatchObject([{ member: { node: 'n4' } }]);
  });

  test('was last known to live when its Pod was gone, if its stream was open until then', () => {
    changed(podIn(1, {}, DELETED));
    nowMs += 12_000;
    gone(podIn(1, {}, DELETED));
    left(1, nowMs);
    expect(endsIn(3)).toMatchObject([
      { end: { kind: 'Lost', seenMs: 112_000, deletedMs: 100_000 } },
    ]);
  });

  test('is not lost in an epoch that an API server has forgotten, when it was restored from a backup', () => {
    version = 900;
    seen(status);
    version = 600;
    const replicatedJobsStatus = [{ name: 'w', ...ZERO, syncedEpoch: 1 }];
    seen({ deprecatedEpoch: 0, replicatedJobsStatus });
    gone(podIn(1));
    expect(endsIn(3)).toEqual([]);
  });

  test('is not lost for a group to which its Job does not belong any more', () => {
    const stranger = job();
    const [owner] = stranger.metadata.ownerReferences ?? [];
    const ownerReferences = owner === undefined ? [] : [{ ...owner, uid: 'another' }];
    const moved = { ...stranger, metadata: { ...stranger.metadata, ownerReferences } };
    jobs.set('uid-of-train-w-0', moved);
    gone(podIn(1));
    expect(endsIn(3)).toEqual([]);
  });

  test('has succeeded when that was seen first, and not when it is listed later', () => {
    const pod = podIn(1, { 'jobset.sigs.k8s.io/epoch': '3' });
    tell({ kind: 'SuccessSeen', pod });
    expect(endsIn(3)).toEqual([]);
    succeeded(pod);
    expect(endsIn(3)).toMatchObject([{ end: { kind: 'Succeeded', atMs: 100_000 } }]);
  });

  test('is not lost if an own write said that it leaves, and the watch is behind', () => {
    const avoided = { node: 'n1', time: '', reason: '', worker: '', pod: 'train-w-0-1' };
    const before = status;
    seen({ ...status, avoidedNodes: [avoided] }, undefined, { isOwn: true });
    version = 1;
    seen(before);
    gone(podIn(1));
    expect(endsIn(3)).toEqual([]);
  });

  test('was not silent since it left the hub if it announced on its Pod then', () => {
    left(1, 60_000);
    const moved = podIn(1, { 'jobset.sigs.k8s.io/epoch': '3' });
    changed(moved);
    gone(moved);
    expect(endsIn(3)[0]?.end).toEqual({ kind: 'Lost', seenMs: nowMs });
  });

  test('was silent long before its Pod was deleted', () => {
    left(1, 60_000);
    gone(podIn(1));
    expect(endsIn(3)[0]?.end).toEqual({ kind: 'Lost', seenMs: 60_000 });
  });

  test('succeeded, whichever watch reports it first', () => {
    gone(podIn(1));
    succeeded(podIn(1, { 'jobset.sigs.k8s.io/epoch': '3' }));
    succeeded(podIn(2, { 'jobset.sigs.k8s.io/epoch': '3' }));
    gone(podIn(2));
    const kinds = endsIn(3).map(({ end }) => end.kind);
    expect(kinds).toEqual(['Succeeded', 'Succeeded']);
  });

  test.each([
    ['its Job is suspended', () => jobs.set('uid-of-train-w-0', job({ suspend: true }))],
    ['its Job is gone', () => jobs.clear()],
  ])('was taken away on purpose: %s', (_, takeAway) => {
    takeAway();
    changed(podIn(1, {}, DELETED));
    gone(podIn(1));
    jobs.set('uid-of-train-w-0', job());
    expect(endsIn(3)).toEqual([]);
  });
});
