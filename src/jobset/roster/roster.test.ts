import type { PartialObjectMetadata, Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { storedJob } from '../../../test/fixtures/jobset-objects.ts';
import type { InvalidPod } from './invalid-pod.ts';
import type { Members } from './members.ts';
import type { PodFacts } from './pod-facts.ts';
import { Roster } from './roster.ts';
import type { RosterEvent, RosterNews } from './roster-events.ts';
import type { Watchpoint } from './watch.ts';

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

const JOB_UID = 'uid-of-train-w-0';
const TRAIN = { namespace: 'default', name: 'train', uid: 'the-jobset' };

function watchpoint(more: Partial<Watchpoint> = {}): Watchpoint {
  return { epoch: 2, slots: 3, jobs: new Set([JOB_UID]), neverRun: new Set(), ...more };
}

let jobs: Map<string, Stored<Job>>;
let interest: string[];
let strays: InvalidPod[];
let news: RosterNews[];
let roster: Roster;

beforeEach(() => {
  jobs = new Map([['uid-of-train-w-0', jobOf('the-jobset')]]);
  interest = [];
  strays = [];
  news = [];
  roster = new Roster((uid) => jobs.get(uid));
  roster.watch(TRAIN, watchpoint());
});

function tell(event: RosterEvent): void {
  const said = roster.apply(event, { wallMs: 0, monotonicMs: 0 });
  news.push(...said);
  for (const each of said) {
    if (each.kind === 'Look') interest.push(each.jobSet);
    if (each.kind === 'InvalidPod') strays.push(each.pod);
  }
}

function podLives(pod: Stored<PartialObjectMetadata>): void {
  tell({ kind: 'PodSeen', pod });
}

function podGone(podUid: string): void {
  const pod = roster.pod(podUid)?.pod;
  if (pod !== undefined) tell({ kind: 'PodGone', pod });
}

function podSucceeded(pod: Stored<PartialObjectMetadata>): void {
  tell({ kind: 'PodSucceeded', pod });
}

function announced(podUid: string, epoch: number): void {
  tell({ kind: 'Announced', podUid, announcement: { epoch, starts: 1 } });
}

function members(jobSet = TRAIN): Members {
  return roster.of(jobSet).members;
}

/** What is counted of the members of TRAIN. */
function pods(): readonly PodFacts[] {
  return [...roster.of(TRAIN).pods()].map(({ newest }) => newest);
}

describe('a group that gathers at its barrier', () => {
  test('is looked at when the last member arrives, not at every announcement', () => {
    for (const slot of ['0', '1', '2']) podLives(podIn(slot, undefined));
    podLives(podIn('0', '2'));
    podLives(podIn('1', '2'));
    expect(interest).toEqual([]);
    podLives(podIn('2', '2'));
    expect(interest).toEqual(['default/train']);
    podLives(podIn('2', '2'));
    expect(interest, 'nothing new').toHaveLength(1);
  });

  test('is looked at again when what was in its way is gone', () => {
    podLives(podIn('0', '1', { uid: 'old', deletionTimestamp: '2026-01-01T00:00:00Z' }));
    for (const slot of ['0', '1', '2']) podLives(podIn(slot, '2'));
    interest.length = 0;
    podGone('old');
    expect(interest).toEqual(['default/train']);
  });

  test('is looked at when the first of its Pods is deleted, and when the last deleted one is gone', () => {
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    for (const slot of ['0', '1', '2']) podLives(podIn(slot, '2'));
    interest.length = 0;
    podLives(podIn('0', '2', { deletionTimestamp }));
    expect(interest).toEqual(['default/train']);
    podLives(podIn('1', '2', { deletionTimestamp }));
    podGone('pod-0');
    expect(interest).toHaveLength(1);
    podGone('pod-1');
    expect(interest).toHaveLength(2);
  });

  test('is looked at for every failure, announced or noticed', () => {
    podLives(podIn('0', '3'));
    expect(interest).toHaveLength(1);
    const { annotations } = podIn('1', '2').metadata;
    podLives(podIn('1', '2', { annotations: { ...annotations, 'lockstep/notice': '2' } }));
    expect(interest).toHaveLength(2);
    podLives(podIn('2', '2', { annotations: { ...annotations, 'lockstep/notice': '1' } }));
    expect(interest, 'of an epoch that is over').toHaveLength(2);
  });

  test('is looked at when its next stage is complete, and no other Pod is in the way', () => {
    const other = 'uid-of-train-late-0';
    const ownerReferences = [
      { apiVersion: 'batch/v1', kind: 'Job', name: 'train-late-0', uid: other, controller: true },
    ];
    const late = (epoch: string | undefined): Stored<PartialObjectMetadata> =>
      podIn('9', epoch, { ownerReferences });
    for (const slot of ['0', '1']) podLives(podIn(slot, '2'));
    podLives(late(undefined));
    podLives(podIn('2', '2'));
    expect(interest, 'what is in the way is to be said').toEqual(['default/train']);
    podLives(late('2'));
    expect(interest).toEqual(['default/train', 'default/train']);

    interest.length = 0;
    podLives(late(undefined));
    roster.watch(TRAIN, watchpoint({ neverRun: new Set([other]) }));
    podLives(podIn('2', undefined));
    podLives(podIn('2', '2'));
    expect(interest, 'one that has never run blocks no other').toEqual(['default/train']);
  });

  test('is looked at when an agent starts too often for the epoch', () => {
    const { annotations } = podIn('0', '2').metadata;
    const starting = (starts: string): Stored<PartialObjectMetadata> =>
      podIn('0', '2', { annotations: { ...annotations, 'lockstep/agent-starts': starts } });
    for (const starts of ['2:1', '2:2', '2:3', '1:9', 'x']) podLives(starting(starts));
    expect(interest).toEqual([]);
    podLives(starting('2:4'));
    expect(interest).toEqual(['default/train']);
  });

  test('is not looked at before it was planned for the first time', () => {
    roster.watch(TRAIN, undefined);
    podLives(podIn('0', '9'));
    expect(interest).toEqual([]);
    expect([...members().announcing(9)]).toHaveLength(1);
  });
});

describe('membership', () => {
  const atTwo = (): number => [...members().announcing(2)].length;

  test('follows the owner chain, not the labels', () => {
    jobs.set('uid-of-train-w-0', jobOf('another'));
    podLives(podIn('0', '2'));
    expect(atTwo()).toBe(0);
    expect([...members({ ...TRAIN, uid: 'another' }).announcing(2)]).toHaveLength(1);
  });

  test('is presumed for a Pod whose Job is gone or not here yet, until it is known better', () => {
    jobs.clear();
    podLives(podIn('0', '2'));
    expect(atTwo()).toBe(1);
    expect(pods(), 'but no member').toEqual([]);
    jobs.set(JOB_UID, jobOf('the-jobset'));
    tell({ kind: 'JobSeen', job: jobOf('the-jobset') });
    expect(atTwo()).toBe(1);
    expect(pods()).toHaveLength(1);
    jobs.clear();
    tell({ kind: 'JobGone', job: jobOf('the-jobset') });
    jobs.set(JOB_UID, storedJob('train-w-0', 'w'));
    tell({ kind: 'JobSeen', job: storedJob('train-w-0', 'w') });
    expect(atTwo(), 'a Job of somebody else').toBe(0);
  });

  test.each([
    ['no owner', []],
    [
      'an owner that is no Job',
      [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'x', uid: 'y', controller: true }],
    ],
  ])('is not given by the label of a Pod with %s, which is reported', (_what, ownerReferences) => {
    podLives(podIn('0', '2', { ownerReferences }));
    expect(atTwo()).toBe(0);
    expect(strays).toEqual([
      {
        jobSet: 'default/train',
        podUid: 'pod-0',
        problem: 'Pod train-w-0-0 has the label of a JobSet but is not one of its Pods',
      },
    ]);
  });

  test('ends when a Pod is orphaned', () => {
    podLives(podIn('0', '2'));
    expect(atTwo()).toBe(1);
    podLives(podIn('0', '2', { ownerReferences: [] }));
    expect(atTwo()).toBe(0);
    expect([...members().jobsWithLivingPods()]).toEqual([]);
  });

  test('a malformed epoch counts as none and is reported with value and expectation', () => {
    podLives(podIn('0', '-2'));
    expect(atTwo()).toBe(0);
    expect(strays[0]?.problem).toBe(
      'annotation jobset.sigs.k8s.io/epoch of Pod train-w-0-0 is "-2", expected an integer from 1 to 2147483647; the Pod counts as missing',
    );
  });

  test('a malformed epoch of any length is reported in brief, since reports are remembered', () => {
    podLives(podIn('0', '9'.repeat(200_000)));
    expect(strays[0]?.problem).toMatch(/is "9+\.\.\.", expected an integer/);
    expect(strays[0]?.problem.length).toBeLessThan(400);
  });

  test('is counted apart for a list of Pods that is newer than the watches', () => {
    podLives(podIn('0', '2'));
    const stranger = podIn('2', '2', { ownerReferences: [] });
    const again = roster.countAgain(TRAIN, [podIn('1', '1'), podIn('2', undefined), stranger], 0);
    const counted = again.ofJob(JOB_UID);
    expect([counted?.live, counted?.liveAt(1), counted?.otherThan(1)]).toEqual([2, 1, 1]);
    expect(atTwo(), 'what the watches show is as it was').toBe(1);
  });

  test('takes either dialect and the higher epoch, and reports invalid values', () => {
    const { annotations } = podIn('0', '1').metadata;
    const attempt = (text: string): Stored<PartialObjectMetadata> =>
      podIn('0', '1', {
        annotations: { ...annotations, 'jobset.sigs.k8s.io/in-place-restart-attempt': text },
      });
    podLives(attempt('1'));
    expect(atTwo()).toBe(1);
    podLives(attempt('2147483647'));
    expect([...members().announcing(1)], 'the other holds').toHaveLength(1);
    expect(strays[0]?.problem).toBe(
      'annotation jobset.sigs.k8s.io/in-place-restart-attempt of Pod train-w-0-0 is "2147483647", expected an integer from 0 to 2147483646; it is ignored',
    );
  });

  test('leaves nothing behind when Pods and Job are gone', () => {
    podLives(podIn('0', '2'));
    podSucceeded(podIn('0', '2'));
    podGone('pod-0');
    expect(members().ofJob('uid-of-train-w-0')?.succeeded).toEqual(new Set('0'));
    tell({ kind: 'JobGone', job: jobOf('the-jobset') });
    expect(members().ofJob('uid-of-train-w-0')).toBeUndefined();
  });

  test('leaves nothing behind when a Pod that has succeeded is seen after its Job is gone', () => {
    jobs.clear();
    tell({ kind: 'JobGone', job: jobOf('the-jobset') });
    podSucceeded(podIn('0', '2'));
    tell({ kind: 'SuccessGone', pod: podIn('0', '2') });
    expect(members().ofJob(JOB_UID)).toBeUndefined();
  });

  test('remembers the success of a Pod of an unknown Job, whatever becomes of the Pod', () => {
    jobs.clear();
    podLives(podIn('0', '2'));
    podSucceeded(podIn('0', '2'));
    podGone('pod-0');
    jobs.set(JOB_UID, jobOf('the-jobset'));
    tell({ kind: 'JobSeen', job: jobOf('the-jobset') });
    expect(members().ofJob(JOB_UID)?.succeeded).toEqual(new Set('0'));
  });

  test('of a Pod that seems to live, and has succeeded, follows its Job when that is seen', () => {
    jobs.clear();
    podLives(podIn('0', '2'));
    podSucceeded(podIn('0', '2'));
    jobs.set(JOB_UID, jobOf('other'));
    tell({ kind: 'JobSeen', job: jobOf('other') });
    expect(members().ofJob(JOB_UID)).toBeUndefined();
    expect(members({ ...TRAIN, uid: 'other' }).ofJob(JOB_UID)?.live).toBe(1);
  });

  test('remembers what has succeeded as long as the Job is there', () => {
    podSucceeded(podIn('0', '2'));
    tell({ kind: 'SuccessGone', pod: podIn('0', '2') });
    expect(members().ofJob(JOB_UID)?.succeeded).toEqual(new Set('0'));
  });

  describe('counts a Pod that ends well', () => {
    const TOLD_TO_END = { deletionTimestamp: '2026-01-01T00:01:00Z' };
    const TRACKED = { finalizers: ['batch.kubernetes.io/job-tracking'] };
    const succeeded = (more: Parameters<typeof podIn>[2]): readonly string[] => {
      podSucceeded(podIn('0', '2', more));
      return [...(members().ofJob(JOB_UID)?.succeeded ?? [])];
    };

    test.each([
      ['by itself', TRACKED, ['0']],
      ['by itself and was counted', {}, ['0']],
      ['when somebody deletes it', { ...TRACKED, ...TOLD_TO_END }, ['0']],
      ['when the Job controller has let go of it and deletes it', TOLD_TO_END, []],
      [
        'then, with a finalizer of somebody else',
        { ...TOLD_TO_END, finalizers: ['example.com/hold'] },
        [],
      ],
    ])('%s', (_when, metadata, expected) => {
      expect(succeeded(metadata)).toEqual(expected);
    });

    test('only if its Job does, once that is suspended', () => {
      expect(succeeded(TRACKED)).toEqual(['0']);
      const job = jobOf('the-jobset');
      tell({ kind: 'JobSeen', job: { ...job, spec: { ...job.spec, suspend: true } } });
      expect(members().ofJob(JOB_UID)?.succeeded).toEqual(new Set('0'));
      const conditions = [{ type: 'Suspended', status: 'True' as const }];
      tell({ kind: 'JobSeen', job: { ...job, status: { conditions } } });
      expect(members().ofJob(JOB_UID)).toBeUndefined();
    });
  });
});

describe('what agents say over the hub', () => {
  const epochs = (): readonly (number | undefined)[] => pods().map(({ epoch }) => epoch);

  test('counts as what they annotate, the newest of both, in whichever order it comes', () => {
    for (const slot of ['0', '1', '2']) podLives(podIn(slot, undefined));
    announced('pod-0', 2);
    announced('pod-1', 1);
    podLives(podIn('1', '2'));
    announced('pod-2', 2);
    expect(interest).toEqual(['default/train']);
    expect(epochs()).toEqual([2, 2, 2]);
    podLives(podIn('2', '1'));
    expect(epochs(), 'an annotation that is old').toEqual([2, 2, 2]);
  });

  test('never goes back, and is forgotten with the Pod', () => {
    podLives(podIn('0', undefined));
    announced('pod-0', 3);
    announced('pod-0', 2);
    expect(epochs()).toEqual([3]);
    expect(news.at(-1)).toEqual({ kind: 'Outdated', podUid: 'pod-0', epoch: 2 });
    podGone('pod-0');
    podLives(podIn('0', undefined));
    expect(epochs()).toEqual([undefined]);
    expect(roster.pod('pod-0')?.said).toBeUndefined();
  });

  test('of a failure is looked at at once, and carries how the worker ended', () => {
    podLives(podIn('0', undefined));
    const how = { how: 'Signaled', exit: { signal: 'SIGKILL' }, restartsGroup: true } as const;
    const end = { epoch: 2, ...how, atMs: 0 };
    const announcement = { epoch: 3, starts: 1, end };
    tell({ kind: 'Announced', podUid: 'pod-0', announcement });
    expect(interest).toEqual(['default/train']);
    const [announced] = members().announcing(3);
    expect(announced?.notice).toEqual({ epoch: 2, end });
  });

  test('counts in a fresh list of Pods too', () => {
    podLives(podIn('0', undefined));
    announced('pod-0', 2);
    const counted = roster.countAgain(TRAIN, [podIn('0', undefined), podIn('1', '1')], 0);
    expect(counted.ofJob(JOB_UID)?.liveAt(2)).toBe(1);
    expect(counted.ofJob(JOB_UID)?.below(2)).toBe(1);
  });

  test('comes over streams, which count for the group also if they were open before its Pod was seen', () => {
    tell({ kind: 'StreamOpened', podUid: 'pod-0' });
    expect(roster.of(TRAIN).streams).toBe(0);
    podLives(podIn('0', undefined));
    tell({ kind: 'StreamOpened', podUid: 'pod-0' });
    tell({ kind: 'StreamClosed', podUid: 'pod-0', seenMs: 0 });
    expect([roster.of(TRAIN).streams, roster.pod('pod-0')?.streams]).toEqual([1, 1]);
    podGone('pod-0');
    expect(roster.of(TRAIN).streams).toBe(0);
    expect(news.at(-1)).toEqual({ kind: 'ReachChanged', jobSet: 'default/train' });
  });

  test('comes from a Pod that moves to another JobSet: the reach of both has changed', () => {
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'train-w-1', controller: true };
    const moved = jobOf('other');
    const metadata = { ...moved.metadata, name: 'train-w-1', uid: 'moved' };
    jobs.set('moved', { ...moved, metadata });
    podLives(podIn('0', '2'));
    tell({ kind: 'StreamOpened', podUid: 'pod-0' });
    news.length = 0;
    podLives(podIn('0', '2', { ownerReferences: [{ ...owner, uid: 'moved' }] }));
    expect([roster.of(TRAIN).streams, roster.of({ ...TRAIN, uid: 'other' }).streams]).toEqual([
      0, 1,
    ]);
    expect(news.filter(({ kind }) => kind === 'ReachChanged')).toHaveLength(2);
  });

  test('of an unknown Pod counts for nothing', () => {
    announced('stranger', 3);
    expect(interest).toEqual([]);
  });
});
