import { describe, expect, test } from 'vitest';
import {
  replicatedJob,
  storedJob,
  storedJobSet,
} from '../../../../test/fixtures/jobset-objects.ts';
import {
  answering,
  membersAt,
  NOW_MS,
  podOf,
  snapshotOf,
} from '../../../../test/fixtures/snapshots.ts';
import { readable } from '../../culprits/readable.ts';
import { evidenceIn, SCENARIOS } from '../../culprits/scenarios.fixture.ts';
import type { Witness } from '../../epoch/witness.ts';
import type { JobSetStatus, RestartRecord, Suspect } from '../../jobset-status.ts';
import { type Plan, plan } from '../../plan.ts';
import type { MemberEvidence } from '../../roster/group-evidence.ts';
import type { Snapshot } from '../snapshot.ts';

/** The suspects in the status, and when a plan adds them. */
const ZERO = { ready: 0, succeeded: 0, failed: 0, active: 0, suspended: 0 };
const JOB = storedJob('train-workers-0', 'workers', { pods: 4 });
/** The first Pod that the operator saw fail: it only followed. */
const WITNESS: Witness = {
  record: {
    pod: 'train-workers-0-0',
    container: 'worker',
    node: 'n0',
    exitCode: 1,
    reason: 'Error',
  },
  slot: '0',
  finishedMs: NOW_MS - 100,
  showsFailure: true,
};
const RANK_2 = {
  worker: 'worker 2 of workers (workers-0, index 2)',
  replicatedJob: 'workers',
  jobIndex: 0,
  completionIndex: 2,
  pod: 'train-workers-0-2',
};
const NODES = new Map([['uid-2', { node: 'n2' }]]);

function endsOf(name: string): readonly MemberEvidence[] {
  const scenario = SCENARIOS.find((each) => each.name === name);
  if (scenario === undefined) throw new Error(`no scenario "${name}"`);
  return evidenceIn(scenario, 4).members;
}

/** A group of four; epoch 4 has been released, or has ended. */
function planAt(status: JobSetStatus, more: Partial<Snapshot>, maxRestarts = 5): Plan {
  const jobSet = storedJobSet({
    replicatedJobs: [replicatedJob('workers', 4)],
    failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts },
  });
  return plan(snapshotOf({ ...jobSet, status }, { jobs: [JOB], ...more }));
}

function statusAt(deprecated: number, released: number, more: JobSetStatus = {}): JobSetStatus {
  return {
    restarts: 0,
    executionAttempts: 0,
    deprecatedEpoch: deprecated,
    syncedEpoch: released,
    syncedTime: '2026-01-01T00:59:00.000000Z',
    replicatedJobsStatus: [{ name: 'workers', ...ZERO, syncedEpoch: released }],
    ...more,
  };
}

const ENDED: RestartRecord = {
  epoch: 4,
  time: '2026-01-01T00:59:59.000000Z',
  cause: 'WorkerFailed',
  generation: 1,
  counted: true,
  witness: WITNESS.record,
};
const OLDER: RestartRecord = {
  ...ENDED,
  epoch: 3,
  phases: { announceMs: 1, releaseMs: 1 },
};

/** All wait for epoch 5. */
function releaseWith(ends: readonly MemberEvidence[], more: Partial<Snapshot> = {}): Plan {
  const status = statusAt(4, 4, { restartHistory: [ENDED, OLDER] });
  const members = membersAt(5, JOB);
  return planAt(status, { members, endsIn: (epoch) => (epoch === 4 ? ends : []), ...more });
}

describe('the release of the next epoch', () => {
  const answer = answering({ Suspects: NODES });

  test('asks where the suspects ran, and writes them with it', () => {
    const ends = endsOf('one SIGKILL');
    expect(releaseWith(ends).question).toEqual({
      kind: 'Suspects',
      epoch: 4,
      pods: [{ name: 'train-workers-0-2', uid: 'uid-2' }],
    });
    const { status, events } = releaseWith(ends, { answer });
    const suspect = { ...RANK_2, node: 'n2', why: 'was killed by SIGKILL', confidence: 'Certain' };
    expect(status).toMatchObject({ syncedEpoch: 5 });
    expect(status?.restartHistory?.[0]?.suspects).toEqual([suspect]);
    const because =
      'epoch 4 ended because of worker 2 of workers (workers-0, index 2), Pod train-workers-0-2 on node n2: was killed by SIGKILL';
    expect(events).toContainEqual({ type: 'Warning', reason: 'CulpritFound', note: because });
  });

  test('is not held up by Pods that cannot be read', () => {
    const { status, question } = releaseWith(endsOf('one SIGKILL'), {
      answer: answering({ Suspects: new Map() }),
    });
    expect(question).toBeUndefined();
    const [suspect] = status?.restartHistory?.[0]?.suspects ?? [];
    expect(suspect).toMatchObject({ pod: 'train-workers-0-2', confidence: 'Certain' });
    expect(suspect).not.toHaveProperty('node');
  });

  test('reads nothing where nothing is known, and names nobody', () => {
    for (const ends of [[], endsOf('SIGSTOP of all')]) {
      const { status, question, events } = releaseWith(ends);
      expect(question).toBeUndefined();
      expect(status?.restartHistory?.[0]).not.toHaveProperty('suspects');
      expect(events.map(({ reason }) => reason)).not.toContain('CulpritFound');
    }
  });

  test('by another operator names less surely, as far as agents have repeated their words', () => {
    const some = endsOf('one SIGKILL').slice(1);
    const { status, events } = releaseWith(some, { answer });
    expect(status?.restartHistory?.[0]?.suspects).toMatchObject([{ confidence: 'Likely' }]);
    expect(events.map(({ reason }) => reason)).not.toContain('CulpritFound');
  });

  test('reads the Pod whose agent died with its worker', () => {
    const ends = endsOf('agent and worker die together, and the Pod tells nothing');
    expect(releaseWith(ends).question).toMatchObject({ pods: [{ uid: 'uid-2' }] });
    const record = { pod: RANK_2.pod, exitCode: 137, signal: 'SIGKILL', reason: 'OOMKilled' };
    const suspects = new Map([['uid-2', { node: 'n2', witness: record }]]);
    const { status } = releaseWith(ends, { answer: answering({ Suspects: suspects }) });
    expect(status?.restartHistory?.[0]?.suspects).toMatchObject([
      { node: 'n2', why: 'was killed by SIGKILL after its memory had run out' },
    ]);
  });

  test('believes what was seen of that Pod first, because a kubelet soon hides it', () => {
    const ends = endsOf('agent and worker die together, and the Pod tells nothing');
    const witness = { pod: RANK_2.pod, exitCode: 137, signal: 'SIGKILL', reason: 'OOMKilled' };
    const status = statusAt(4, 4, { restartHistory: [{ ...ENDED, witness }, OLDER] });
    const members = membersAt(5, JOB);
    const seen = { members, endsIn: (epoch: number) => (epoch === 4 ? ends : []) };
    const hidden = new Map([['uid-2', { node: 'n2' }]]);
    const made = planAt(status, { ...seen, answer: answering({ Suspects: hidden }) });
    expect(made.status?.restartHistory?.[0]?.suspects).toMatchObject([
      { node: 'n2', why: 'was killed by SIGKILL after its memory had run out' },
    ]);
  });

  test('keeps the last words of the first suspect, else of the witness', () => {
    const speaking = (name: string) =>
      endsOf(name).map(({ member, end }): MemberEvidence => {
        if (end.kind !== 'Ended') return { member, end };
        const lastWords = `I am ${member.completionIndex}`;
        return { member, end: { ...end, lastWords } };
      });
    const named = releaseWith(speaking('one SIGKILL'), { answer });
    const unknown = releaseWith(speaking('SIGSTOP of all'), { answer });
    const words = [named, unknown].map(({ status }) => status?.restartHistory?.[0]?.lastWords);
    expect(words).toEqual([
      { pod: 'train-workers-0-2', text: 'I am 2' },
      { pod: 'train-workers-0-0', text: 'I am 0' },
    ]);
  });
});

describe('while a crash loop holds the group back', () => {
  const answer = answering({ Suspects: NODES });
  /** `count` short epochs in a row, of which the newest has just ended. */
  const loopOf = (count: number, newest: Partial<RestartRecord> = {}): JobSetStatus => {
    const restartHistory = Array.from({ length: count }, (_, i): RestartRecord => {
      return { ...(i === 0 ? ENDED : OLDER), epoch: 4 - i / 10, ranMs: 100 };
    });
    return statusAt(4, 4, {
      restartHistory: restartHistory.with(0, { ...ENDED, ranMs: 100, ...newest }),
    });
  };
  const heldWith = (
    ends: readonly MemberEvidence[],
    status = loopOf(7),
    more: Partial<Snapshot> = {},
  ) =>
    planAt(status, {
      members: membersAt(5, JOB),
      endsIn: (of) => (of === 4 ? ends : []),
      ...more,
    });
  const LEFT_MS = 7000;

  test('the record is judged once, and the release neither waits for it nor judges again', () => {
    const ends = endsOf('one SIGKILL');
    expect(heldWith(ends).question).toMatchObject({ kind: 'Suspects' });
    const made = heldWith(ends, loopOf(7), { answer });
    expect(made.requeueAfterMs).toBe(LEFT_MS);
    expect(made.status).toMatchObject({ syncedEpoch: 4 });
    const [record] = made.status?.restartHistory ?? [];
    expect(record?.suspects).toMatchObject([{ pod: RANK_2.pod, confidence: 'Certain' }]);
    const again = heldWith(endsOf('SIGSTOP of all'), made.status);
    expect([again.question, again.status]).toEqual([undefined, undefined]);
    const nowMs = NOW_MS + LEFT_MS;
    const released = heldWith(endsOf('SIGSTOP of all'), made.status, { nowMs });
    expect(released.status).toMatchObject({ syncedEpoch: 5 });
    const { phases: _, ...closed } = released.status?.restartHistory?.[0] ?? {};
    expect(closed).toEqual(record);
  });

  test('a record that names nobody says so, and until its end only', () => {
    const made = heldWith(endsOf('SIGSTOP of all'));
    expect(made.status?.restartHistory?.[0]).toMatchObject({ suspects: [] });
    expect(heldWith(endsOf('one SIGKILL'), made.status).status).toBeUndefined();
    const nowMs = NOW_MS + LEFT_MS;
    const released = heldWith(endsOf('one SIGKILL'), made.status, { nowMs });
    expect(released.status).toMatchObject({ syncedEpoch: 5 });
    expect(released.status?.restartHistory?.[0]).not.toHaveProperty('suspects');
    const ended = planAt(made.status ?? {}, failureIn(5, []));
    expect(ended.status?.restartHistory?.[1]).toMatchObject({ epoch: 4 });
    expect(ended.status?.restartHistory?.[1]).not.toHaveProperty('suspects');
  });

  test.each<[string, JobSetStatus, Partial<Snapshot>]>([
    ['it is over soon', loopOf(6), {}],
    ['nobody failed', loopOf(7, { cause: 'Scaled' }), {}],
    [
      'the definition keeps no suspects',
      loopOf(7),
      { lacks: new Set(['restartHistory[].suspects']) },
    ],
    ['a member is missing', loopOf(7), { members: membersAt(4, JOB) }],
  ])('nothing is written if %s', (_why, status, more) => {
    const { question, status: written } = heldWith(endsOf('one SIGKILL'), status, {
      answer,
      ...more,
    });
    expect(question).toBeUndefined();
    expect(written?.restartHistory?.[0]).not.toHaveProperty('suspects');
  });
});

/** Rank 0 announces the epoch after this one. */
function failureIn(epoch: number, ends: readonly MemberEvidence[]): Partial<Snapshot> {
  const members = membersAt(epoch, JOB);
  members.observe(podOf(JOB, 0, epoch + 1), NOW_MS);
  const answer = answering({ Witness: WITNESS, SucceededPods: true, Suspects: NODES });
  return { members, answer, endsIn: (of) => (of === 4 ? ends : []) };
}

test('the end of an epoch that was never released writes the suspects of the one before', () => {
  const lastWords = { pod: 'p', text: 'old' };
  const suspects = [suspectOf('a'), suspectOf('b')];
  const status = statusAt(4, 4, { restartHistory: [ENDED, { ...OLDER, suspects, lastWords }] });
  const made = planAt(status, failureIn(5, endsOf('one SIGKILL')));
  const [newest, ended, older] = made.status?.restartHistory ?? [];
  expect(newest).toMatchObject({ epoch: 5 });
  expect(newest).not.toHaveProperty('suspects');
  expect(ended).toMatchObject({ epoch: 4, suspects: [{ pod: RANK_2.pod, node: 'n2' }] });
  // Every status is sent to every agent, so older records are brief.
  expect(older).toEqual({ ...OLDER, suspects: [suspectOf('a')] });
});

function suspectOf(pod: string): Suspect {
  const place = { worker: pod, replicatedJob: 'r', jobIndex: 0, pod };
  return { ...place, why: 'exited with code 1', confidence: 'Likely' };
}

describe('the failure beyond the budget', () => {
  const failing = (ends: readonly MemberEvidence[]): Plan =>
    planAt(statusAt(3, 4, { restartHistory: [OLDER] }), failureIn(4, ends), 0);

  test('is recorded like every other, without a charge and without a new epoch', () => {
    const { status } = failing(endsOf('one SIGKILL'));
    expect(status).toMatchObject({ terminalState: 'Failed', deprecatedEpoch: 3 });
    expect(status?.restartHistory).toEqual([
      {
        epoch: 4,
        time: '2026-01-01T01:00:00.000000Z',
        cause: 'WorkerFailed',
        counted: false,
        generation: 1,
        ranMs: 60_000,
        witness: { ...WITNESS.record, worker: 'worker 0 of workers (workers-0, index 0)' },
        phases: { detectMs: 100 },
        suspects: [{ ...RANK_2, node: 'n2', why: 'was killed by SIGKILL', confidence: 'Certain' }],
      },
      OLDER,
    ]);
    expect(status?.inPlaceRestarts).toBeUndefined();
  });

  test('names its culprit in the condition', () => {
    const { status } = failing(endsOf('one SIGKILL'));
    const message = status?.conditions?.find(({ type }) => type === 'Failed')?.message;
    expect(message).toBe(
      'jobset failed due to reaching max number of restarts (worker 2 of workers (workers-0, index 2), Pod train-workers-0-2 on node n2: was killed by SIGKILL)',
    );
  });

  test('is recorded without suspects where nothing is known', () => {
    const { status } = failing([]);
    expect(status?.restartHistory?.[0]).toMatchObject({ epoch: 4, counted: false });
    expect(status?.restartHistory?.[0]).not.toHaveProperty('suspects');
  });
});

test('a worker that hung is distinguished from one that was killed', () => {
  const made = planAt(statusAt(3, 4), failureIn(4, endsOf('SIGSTOP of one, found by its silence')));
  expect(made.status?.restartHistory?.[0]?.witness).toEqual({
    pod: 'train-workers-0-0',
    node: 'n0',
    container: 'worker',
    worker: 'worker 0 of workers (workers-0, index 0)',
    exitCode: null,
    reason: 'WorkerHung',
    message: 'made no progress for 61 s at step 330',
  });
  expect(made.events[0]?.note).toContain(
    'first seen: worker 0 on node n0: made no progress for 61 s at step 330 (WorkerHung); 1 of 5 ',
  );
});

test('one snapshot has one plan', () => {
  const ends = endsOf('a node with three members is lost');
  const [one, other] = [releaseWith(ends), releaseWith(ends.toReversed())];
  expect(JSON.stringify(one)).toBe(JSON.stringify(other));
});

describe('last words', () => {
  test.each([
    ['plain text\n\tindented\n', 'plain text\n\tindented\n'],
    ['\u001b[31mred\u001b[0m', '\uFFFD[31mred\uFFFD[0m'],
    ['\u001b]0;title\u0007', '\uFFFD]0;title\uFFFD'],
    ['10 %\r20 %\r\nend', '10 %\uFFFD20 %\nend'],
    ['a\u0000b\u0008c\u007fd\u009be', 'a\uFFFDb\uFFFDc\uFFFDd\uFFFDe'],
    ['\u202Edlrow\u2066x\u200F', '\uFFFDdlrow\uFFFDx\uFFFD'],
    ['one\u2028two', 'one\uFFFDtwo'],
    [
      'half \ud800 of a pair, and a whole \u{1F600}',
      'half \uFFFD of a pair, and a whole \u{1F600}',
    ],
  ])('%j is shown as %j', (text, shown) => expect(readable(text)).toBe(shown));

  test('stay within their limit', () => {
    expect(new TextEncoder().encode(readable('\u0008'.repeat(300))).byteLength).toBeLessThan(513);
  });
});
