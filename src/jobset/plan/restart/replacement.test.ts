import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { microTimeText, timeText } from '@lockstep/kube/time.ts';
import { describe, expect, test } from 'vitest';
import {
  replicatedJob,
  storedJob,
  storedJobSet,
} from '../../../../test/fixtures/jobset-objects.ts';
import {
  actionsOf,
  afterwards,
  conditionsOf,
  planOf,
  ZERO,
} from '../../../../test/fixtures/planned.ts';
import { answering, NOW_MS, podOf } from '../../../../test/fixtures/snapshots.ts';
import { BEGUN } from '../../../../test/fixtures/two-workers.ts';
import type { JobSet } from '../../jobset.ts';
import type { JobSetStatus, RestartRecord, Suspect } from '../../jobset-status.ts';
import type { Plan } from '../../plan.ts';
import type { MemberEvidence } from '../../roster/group-evidence.ts';
import { MemberCounts } from '../../roster/members.ts';
import type { PodFacts } from '../../roster/pod-facts.ts';
import type { WorkerEnd } from '../../worker-end/worker-end.ts';
import { NO_ANSWERS } from '../questions.ts';
import type { Snapshot } from '../snapshot.ts';

const SIZE = 4;
const REPLACE = 'lockstep/replace-after';
const PREFLIGHT = 'lockstep/preflight';
const MINUTE_MS = 60_000;
const JOB = withTemplate(storedJob('train-w-0', 'w', { pods: SIZE }), { [REPLACE]: 'true' });

function withTemplate(job: Stored<Job>, labels: Readonly<Record<string, string>>): Stored<Job> {
  const template = { ...job.spec.template, metadata: { labels } };
  return { ...job, spec: { ...job.spec, template } };
}

function ago(ms: number): string {
  return microTimeText(NOW_MS - ms);
}

/** The Pod of a slot; `incarnation` is the end of its name. */
function pod(slot: number, incarnation = 'aaaaa', more: Partial<PodFacts> = {}): PodFacts {
  const name = `train-w-0-${slot}-${incarnation}`;
  return podOf(JOB, slot, 4, { name, uid: `uid-of-${name}`, ...more });
}

function atBarrier(...others: readonly PodFacts[]): MemberCounts {
  const counts = new MemberCounts();
  const slots = new Map(Array.from({ length: SIZE }, (_, slot) => [String(slot), pod(slot)]));
  for (const each of others) slots.set(each.slot ?? '', each);
  for (const each of slots.values()) counts.observe(each, NOW_MS);
  return counts;
}

/** Epoch 3 has ended, with these ends of its workers. */
function endsOfMembers(
  ends: Readonly<Record<number, Partial<WorkerEnd>>>,
  node: string | null = 'bad',
): readonly MemberEvidence[] {
  return Array.from({ length: SIZE }, (_, slot): MemberEvidence => {
    const { name, uid } = pod(slot);
    const place = { replicatedJob: 'w', jobIndex: 0, completions: SIZE, completionIndex: slot };
    const where = node === null ? {} : { node: slot === 2 ? node : `n${slot}` };
    const own = ends[slot];
    const atMs = own === undefined ? 9000 : 1000;
    return {
      member: { ...place, pod: name, podUid: uid, ...where },
      end: { kind: 'Ended', epoch: 3, how: 'Stopped', atMs, ...own },
    };
  });
}

const KILLED = { how: 'Signaled', exit: { signal: 'SIGKILL' } } as const;
const NEWEST: RestartRecord = {
  epoch: 3,
  time: ago(5000),
  cause: 'WorkerFailed',
  counted: true,
  generation: 1,
};

/** An earlier record that blames the Pod in slot 2. */
function blaming(more: Partial<Suspect> = {}, record: Partial<RestartRecord> = {}): RestartRecord {
  const worker = 'worker 2 of w (w-0, index 2)';
  const place = { replicatedJob: 'w', jobIndex: 0, completionIndex: 2, pod: pod(2).name };
  const suspect = { worker, ...place, node: 'bad', why: 'failed', confidence: 'Certain' } as const;
  const phases = { announceMs: 1, releaseMs: 1 };
  return {
    ...NEWEST,
    epoch: 2,
    time: ago(600_000),
    phases,
    suspects: [{ ...suspect, ...more }],
    ...record,
  };
}

const NOBODY: Suspect = {
  worker: '',
  replicatedJob: '',
  jobIndex: 0,
  pod: '',
  why: '',
  confidence: 'Likely',
};

function withoutNode(record: RestartRecord): RestartRecord {
  const { worker, replicatedJob, jobIndex, pod, why, confidence } = record.suspects?.[0] ?? NOBODY;
  return { ...record, suspects: [{ worker, replicatedJob, jobIndex, pod, why, confidence }] };
}

interface Scene extends Partial<Snapshot> {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly history?: readonly RestartRecord[];
  readonly more?: Partial<JobSetStatus>;
}

function jobSetOf({ annotations, history = [NEWEST], more = {} }: Scene): Stored<JobSet> {
  const failurePolicy = { restartStrategy: 'InPlaceRestart', maxRestarts: 10 } as const;
  const spec = { replicatedJobs: [replicatedJob('w', SIZE)], failurePolicy };
  const status: JobSetStatus = {
    ...BEGUN,
    deprecatedEpoch: 3,
    syncedEpoch: 3,
    inPlaceRestartsCountTowardsMax: 3,
    replicatedJobsStatus: [{ name: 'w', ...ZERO, syncedEpoch: 3 }],
    restartHistory: history,
    ...more,
  };
  return { ...storedJobSet(spec, { annotations: annotations ?? { [REPLACE]: '2/1h' } }), status };
}

function planned(scene: Scene): Plan {
  const { annotations: _, history: __, more: ___, ...snapshot } = scene;
  return planOf(jobSetOf(scene), {
    jobs: [JOB],
    members: atBarrier(),
    endsIn: () => endsOfMembers({ 2: KILLED }),
    answer: answering({ Pins: new Map() }),
    ...snapshot,
  });
}

const TWICE: Scene = { history: [NEWEST, blaming()] };

describe('a member that was the first to fail often enough', () => {
  test('is named in one write, with the suspects, and deleted; nothing is released', () => {
    const made = planned(TWICE);
    expect(actionsOf(made)).toEqual(['ReplaceMember train-w-0-2-aaaaa']);
    expect(made.status).toMatchObject({
      syncedEpoch: 3,
      inPlaceRestartsCountTowardsMax: 3,
      avoidedNodes: [
        {
          node: 'bad',
          time: ago(0),
          reason: 'it was the first to fail 2 times, last because it was killed by SIGKILL',
          pod: 'train-w-0-2-aaaaa',
          worker: 'worker 2 of w (w-0, index 2)',
        },
      ],
      restartHistory: [{ epoch: 3, suspects: [{ confidence: 'Certain' }] }, { epoch: 2 }],
    });
    expect(made.events).toMatchObject([{ type: 'Warning', reason: 'MemberReplaced' }]);
    expect(made.outcomes).toEqual([{ kind: 'MemberReplaced', cause: 'Culprit' }]);
    expect(made.requeueAfterMs).toBe(5 * MINUTE_MS);
  });

  test('stays if a new Pod would get the same node, and the group is released', () => {
    const question = planned({ ...TWICE, answer: NO_ANSWERS }).question;
    expect(question).toMatchObject({ kind: 'Pins', pods: [{ name: 'train-w-0-2-aaaaa' }] });
    const pins = new Map([[pod(2).uid, 'its node selector kubernetes.io/hostname=bad']]);
    const made = planned({ ...TWICE, answer: answering({ Pins: pins }) });
    expect(actionsOf(made)).toEqual([]);
    expect(made.status).toMatchObject({ syncedEpoch: 4 });
    expect(made.status).not.toHaveProperty('avoidedNodes');
    expect(made.events.map(({ reason }) => reason)).toEqual(['CulpritFound', 'MemberPinned']);
    expect(made.events[1]?.note).toBe(
      'worker 2 of w (w-0, index 2), Pod train-w-0-2-aaaaa, should leave node bad, and stays: it was the first to fail 2 times, last because it was killed by SIGKILL, but its node selector kubernetes.io/hostname=bad would bind a new Pod to the same node',
    );
  });

  test('is deleted again while it lives, and the group is released with the new Pod', () => {
    const jobSet = afterwards(jobSetOf(TWICE), planned(TWICE));
    const then = (members: MemberCounts, more: Partial<Snapshot> = {}) =>
      planOf(jobSet, { jobs: [JOB], members, endsIn: () => [], ...more });
    const again = then(atBarrier());
    expect(actionsOf(again)).toEqual(['ReplaceMember train-w-0-2-aaaaa']);
    expect(again.status, 'as after a crash of the operator').toBeUndefined();
    const going = then(atBarrier(pod(2, 'aaaaa', { isTerminating: true })));
    expect([actionsOf(going), going.status]).toEqual([[], undefined]);
    const isThere = atBarrier(pod(2, 'bbbbb'));
    const released = then(isThere, { endsIn: () => endsOfMembers({ 0: KILLED }) });
    expect(actionsOf(released)).toEqual([]);
    expect(released.status).toMatchObject({ syncedEpoch: 4, inPlaceRestartsCountTowardsMax: 3 });
    expect(released.status?.restartHistory?.[0]?.suspects, 'suspects stay').toMatchObject([
      { completionIndex: 2 },
    ]);
    expect(released.events).toMatchObject([{ reason: 'CulpritFound' }]);
  });

  test('that cannot be deleted for 5 minutes starts again where it is, until the next strike', () => {
    const jobSet = afterwards(jobSetOf(TWICE), planned(TWICE));
    const at = (ms: number): Plan =>
      planOf(jobSet, { jobs: [JOB], members: atBarrier(), endsIn: () => [], nowMs: NOW_MS + ms });
    expect(actionsOf(at(5 * MINUTE_MS - 1))).toEqual(['ReplaceMember train-w-0-2-aaaaa']);
    const stays = at(5 * MINUTE_MS);
    expect(actionsOf(stays)).toEqual([]);
    expect(stays.status).toMatchObject({ syncedEpoch: 4 });
    expect(stays.status?.avoidedNodes).toEqual(jobSet.status?.avoidedNodes);
    expect(stays.events.map(({ reason }) => reason)).toEqual(['CulpritFound']);
    const again = { ...blaming({}, { epoch: 3 }), time: ago(60_000) };
    const { avoidedNodes: [left] = [] } = jobSet.status ?? {};
    const more = left && { avoidedNodes: [{ ...left, time: ago(6 * MINUTE_MS) }] };
    const struck = planned({ history: [NEWEST, again], more: more ?? {} });
    expect(actionsOf(struck)).toEqual(['ReplaceMember train-w-0-2-aaaaa']);
    expect(struck.status?.avoidedNodes).toMatchObject([{ node: 'bad', time: ago(0) }]);
  });

  test('is deleted although the annotation was taken back meanwhile', () => {
    const { status } = afterwards(jobSetOf(TWICE), planned(TWICE));
    const made = planned({ annotations: {}, more: status ?? {} });
    expect(actionsOf(made)).toEqual(['ReplaceMember train-w-0-2-aaaaa']);
  });

  test.each<[string, Scene]>([
    ['strikes are too few', { history: [NEWEST] }],
    ['replace-after is Off', { ...TWICE, annotations: { [REPLACE]: 'Off' } }],
    ['nobody asked for it', { ...TWICE, annotations: {} }],
    ['a strike is too old', { history: [NEWEST, blaming({}, { time: ago(61 * MINUTE_MS) })] }],
    ['a suspect was likely only', { history: [NEWEST, blaming({ confidence: 'Likely' })] }],
    ['the user asked for that restart', { history: [NEWEST, blaming({}, { cause: 'Resumed' })] }],
    ['the size was changed', { history: [NEWEST, blaming({}, { cause: 'Scaled' })] }],
    [
      'it was another Pod of the slot',
      { history: [NEWEST, blaming({ pod: 'train-w-0-2-zzzzz' })] },
    ],
    ['two died together', { ...TWICE, endsIn: () => endsOfMembers({ 1: KILLED, 2: KILLED }) }],
    ['the newest end was a scaling', { history: [{ ...NEWEST, cause: 'Scaled' }, blaming()] }],
    ['its Job was made without the label', { ...TWICE, jobs: [withTemplate(JOB, {})] }],
    [
      'its Job gives up an index for it',
      { ...TWICE, jobs: [{ ...JOB, spec: { ...JOB.spec, backoffLimitPerIndex: 1 } }] },
    ],
    ['the stored definition has no room for it', { ...TWICE, lacks: new Set(['avoidedNodes']) }],
    [
      'its node could not be read',
      {
        history: [NEWEST, withoutNode(blaming())],
        endsIn: () => endsOfMembers({ 2: KILLED }, null),
        answer: answering({ Suspects: new Map(), Pins: new Map() }),
      },
    ],
    ['it has gone already', { ...TWICE, members: atBarrier(pod(2, 'bbbbb')) }],
  ])('restarts in place if %s', (_, scene) => {
    const made = planned(scene);
    expect(actionsOf(made)).toEqual([]);
    expect(made.status).toMatchObject({ syncedEpoch: 4 });
    expect(made.status).not.toHaveProperty('avoidedNodes');
  });

  test('leaves a node of which an earlier strike tells', () => {
    const made = planned({
      history: [NEWEST, blaming()],
      endsIn: () => endsOfMembers({ 2: KILLED }, null),
      answer: answering({ Suspects: new Map(), Pins: new Map() }),
    });
    expect(made.status?.avoidedNodes).toMatchObject([{ node: 'bad' }]);
  });

  test('waits for the back-off first, and fails with the budget instead', () => {
    const short = [1, 2, 3, 4].map((epoch) => ({ ...blaming(), epoch, ranMs: 10 }));
    const made = planned({ history: [{ ...NEWEST, ranMs: 10, time: ago(0) }, ...short] });
    expect([actionsOf(made), made.status]).toEqual([[], undefined]);
  });
});

describe('the list of nodes', () => {
  const left = (node: string, index: number) => ({
    node,
    time: ago(3_600_000 + index),
    reason: 'r',
    pod: `gone-${index}`,
    worker: 'w',
  });

  test('has each node once and at most 16, the newest first', () => {
    const known = Array.from({ length: 16 }, (_, index) =>
      left(index === 3 ? 'bad' : `b${index}`, index),
    );
    const made = planned({ ...TWICE, more: { avoidedNodes: known } });
    const nodes = made.status?.avoidedNodes?.map(({ node }) => node);
    expect(nodes).toHaveLength(16);
    expect(nodes?.slice(0, 5)).toEqual(['bad', 'b0', 'b1', 'b2', 'b4']);
    const full = planned({ ...TWICE, more: { avoidedNodes: known.with(3, left('b3', 3)) } });
    expect(full.status?.avoidedNodes?.map(({ node }) => node).at(-1)).toBe('b14');
  });
});

describe('a member whose preflight did not pass', () => {
  const unfit = { ...KILLED, unfit: 'no \u001b[31mGPU' };
  const annotations = { [PREFLIGHT]: 'check' };

  test('leaves its node at once, and its words deceive nobody', () => {
    const made = planned({ annotations, endsIn: () => endsOfMembers({ 2: unfit }) });
    expect(actionsOf(made)).toEqual(['ReplaceMember train-w-0-2-aaaaa']);
    expect(made.status?.avoidedNodes).toMatchObject([
      { node: 'bad', reason: 'its preflight did not pass: no \uFFFD[31mGPU' },
    ]);
    expect(made.outcomes).toEqual([{ kind: 'MemberReplaced', cause: 'Unfit' }]);
  });

  test('leaves its node before another ReplicatedJob starts, although its own lacks a Pod', () => {
    const first = storedJob('train-a-0', 'a', { pods: 1 });
    const members = atBarrier();
    members.forget(pod(3).uid);
    members.observe(podOf(first, 0, 4), NOW_MS);
    const base = jobSetOf({ annotations });
    const inOrder: Stored<JobSet> = {
      ...base,
      spec: {
        ...base.spec,
        replicatedJobs: [replicatedJob('a', 1), replicatedJob('w', SIZE)],
        startupPolicy: { startupPolicyOrder: 'InOrder' },
      },
      status: {
        ...base.status,
        replicatedJobsStatus: ['a', 'w'].map((name) => ({ name, ...ZERO, syncedEpoch: 3 })),
      },
    };
    const jobs = [first, JOB];
    const answer = answering({ FreshJobs: true, FreshPods: members, Pins: new Map() });
    const at = (jobSet: Stored<JobSet>, more: Partial<Snapshot> = {}): Plan =>
      planOf(jobSet, {
        jobs,
        members,
        answer,
        endsIn: () => endsOfMembers({ 2: unfit }),
        ...more,
      });
    const made = at(inOrder);
    expect(actionsOf(made)).toEqual(['ReplaceMember train-w-0-2-aaaaa']);
    expect(made.status?.syncedEpoch).toBe(3);
    members.forget(pod(2).uid);
    const then = at(afterwards(inOrder, made), { endsIn: () => [] });
    expect(then.status?.replicatedJobsStatus).toMatchObject([
      { name: 'w', syncedEpoch: 3 },
      { name: 'a', syncedEpoch: 4 },
    ]);
  });

  test('has its reason in one line', () => {
    const lines = { ...KILLED, unfit: 'no GPU\n\nMemberReplaced\tnothing' };
    const made = planned({ annotations, endsIn: () => endsOfMembers({ 2: lines }) });
    expect(made.status?.avoidedNodes).toMatchObject([
      { reason: 'its preflight did not pass: no GPU MemberReplaced nothing' },
    ]);
  });

  test('is asked for its node, though its end makes it no certain suspect', () => {
    const ends = { 1: { ...unfit, how: 'Exited', exit: { exitCode: 1 } }, 2: KILLED } as const;
    const lost = endsOfMembers(ends, null);
    const asked = planned({ annotations, endsIn: () => lost });
    const { question } = asked;
    expect(question?.kind === 'Suspects' && question.pods.map(({ name }) => name)).toContain(
      pod(1).name,
    );
    const suspects = new Map([[pod(1).uid, { node: 'n1' }]]);
    const made = planned({
      annotations,
      endsIn: () => lost,
      answer: answering({ Suspects: suspects, Pins: new Map() }),
    });
    expect(made.status?.avoidedNodes).toMatchObject([{ node: 'n1', pod: pod(1).name }]);
  });

  test('stays if preflights are not asked for any more', () => {
    const made = planned({ annotations: {}, endsIn: () => endsOfMembers({ 2: unfit }) });
    expect(made.status).toMatchObject({ syncedEpoch: 4 });
  });

  test('is one of at most 4 for each end of an epoch', () => {
    const before = [0, 1, 3].map((slot) => ({
      node: `n${slot}`,
      time: ago(1000),
      reason: 'r',
      pod: pod(slot).name,
      worker: 'w',
    }));
    const others = [0, 1, 3].map((slot) => pod(slot, 'bbbbb'));
    const all = {
      annotations,
      endsIn: () => endsOfMembers({ 2: unfit }),
      members: atBarrier(...others),
    };
    const fourth = planned({ ...all, more: { avoidedNodes: before } });
    expect(actionsOf(fourth)).toEqual(['ReplaceMember train-w-0-2-aaaaa']);
    const more = { avoidedNodes: [...before, ...before.slice(0, 1)] };
    expect(planned({ ...all, more }).status).toMatchObject({ syncedEpoch: 4 });
  });
});

describe('members on one node that are named one after the other', () => {
  test('stay named, so that none is named twice for one end', () => {
    const annotations = { [PREFLIGHT]: 'check' };
    const unfit = { ...KILLED, unfit: 'no GPU' };
    const ends = endsOfMembers({ 1: unfit, 2: unfit }).map((each): MemberEvidence => {
      return { ...each, member: { ...each.member, node: 'bad' } };
    });
    const first = { node: 'bad', reason: 'r', pod: pod(1).name, worker: 'w' };
    const more = { avoidedNodes: [{ ...first, time: ago(6 * MINUTE_MS) }] };
    const history = [{ ...NEWEST, time: ago(7 * MINUTE_MS) }];
    const made = planned({ annotations, history, more, endsIn: () => ends });
    expect(actionsOf(made)).toEqual(['ReplaceMember train-w-0-2-aaaaa']);
    expect(made.status?.avoidedNodes?.map((left) => left.pod)).toEqual([pod(2).name, pod(1).name]);
  });
});

describe('a new Pod that is not there', () => {
  const replaced = afterwards(jobSetOf(TWICE), planned(TWICE));
  const planAfter = (jobSet: Stored<JobSet>, ms: number, members: MemberCounts): Plan =>
    planOf(jobSet, {
      jobs: [JOB],
      members,
      endsIn: () => [],
      nowMs: NOW_MS + ms,
      answer: answering({ FreshPods: members }),
    });
  const missing = (): MemberCounts => {
    const members = atBarrier();
    members.forget(pod(2).uid);
    return members;
  };

  test('is reported 5 minutes after the write, until it is released', () => {
    const early = planAfter(replaced, 2 * MINUTE_MS, missing());
    expect([early.status, early.requeueAfterMs]).toEqual([undefined, 3 * MINUTE_MS]);
    const late = planAfter(replaced, 5 * MINUTE_MS, missing());
    expect(conditionsOf(late)).toContain('ReplacementPending=True ReplacementNotReady');
    expect(late.events[0]?.note).toBe(
      'epoch 4 waits for the new Pod of Job train-w-0, index 2, since worker 2 of w (w-0, index 2) left node bad at 2026-01-01T01:00:00Z; the Events of the Pod say what it lacks, such as a node with room or an image',
    );
    const told = afterwards(replaced, late);
    expect(planAfter(told, 6 * MINUTE_MS, missing()).status, 'once').toBeUndefined();
    const released = planAfter(told, 7 * MINUTE_MS, atBarrier(pod(2, 'bbbbb')));
    expect(released.status).toMatchObject({ syncedEpoch: 4 });
    expect(conditionsOf(released)).toContain('ReplacementPending=False ReplacementsArrived');
  });

  test('is not reported if another member is missing, or the JobSet is suspended', () => {
    const members = atBarrier(pod(2, 'bbbbb'));
    members.forget(pod(0).uid);
    expect(planAfter(replaced, 9 * MINUTE_MS, members).status).toBeUndefined();
    const told = afterwards(replaced, planAfter(replaced, 5 * MINUTE_MS, missing()));
    const suspended = { ...told, spec: { ...told.spec, suspend: true } };
    const made = planAfter(suspended, 6 * MINUTE_MS, missing());
    expect(conditionsOf(made)).toContain('ReplacementPending=False ReplacementsArrived');
  });

  test('has as much time again after a resume', () => {
    const nowMs = NOW_MS + 60 * MINUTE_MS;
    const at = (status: Job['status'], spec: Partial<Job['spec']> = {}): Plan =>
      planOf(replaced, {
        jobs: [{ ...JOB, spec: { ...JOB.spec, ...spec }, status: { ...JOB.status, ...status } }],
        members: missing(),
        endsIn: () => [],
        nowMs,
      });
    const suspended = [{ type: 'Suspended', status: 'True' }] as const;
    for (const made of [at({}, { suspend: true }), at({ conditions: suspended })]) {
      expect(conditionsOf(made).join()).not.toContain('ReplacementPending');
    }
    const started = (ms: number): Plan => at({ startTime: timeText(nowMs - ms) });
    expect(conditionsOf(started(MINUTE_MS)).join()).not.toContain('ReplacementPending');
    expect(started(MINUTE_MS).requeueAfterMs).toBe(4 * MINUTE_MS);
    expect(conditionsOf(started(5 * MINUTE_MS))).toContain(
      'ReplacementPending=True ReplacementNotReady',
    );
  });
});
