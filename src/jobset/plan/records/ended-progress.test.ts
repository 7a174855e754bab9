import { describe, expect, test } from 'vitest';
import { conditionsOf, ZERO } from '../../../../test/fixtures/planned.ts';
import { answering, membersAt, NOW_MS } from '../../../../test/fixtures/snapshots.ts';
import {
  BEGUN,
  jobSetOfTwo,
  planForTwo,
  TWO_WORKERS,
} from '../../../../test/fixtures/two-workers.ts';
import type { FailurePolicy } from '../../jobset.ts';
import type { EndedProgress, JobSetStatus } from '../../jobset-status.ts';
import type { Plan } from '../../plan.ts';
import type { GroupProgress } from '../../progress/group-progress.ts';
import type { MemberEvidence } from '../../roster/group-evidence.ts';
import type { Snapshot } from '../snapshot.ts';

const LIMIT = 'lockstep/max-restarts-without-progress';
const EXTRA = 'lockstep/extra-restarts';
const IN_PLACE: FailurePolicy = { restartStrategy: 'InPlaceRestart', maxRestarts: 100 };
const UNCHARGED: FailurePolicy = {
  ...IN_PLACE,
  rules: [
    {
      name: 'r',
      action: 'RestartJobSetAndIgnoreMaxRestarts',
      onJobFailureReasons: ['BackoffLimitExceeded'],
    },
  ],
};
const witness = {
  record: { pod: 'p0', exitCode: 1, reason: 'Error' },
  finishedMs: NOW_MS - 40,
  showsFailure: true,
};

/** Epoch 3 runs, and one worker fails. */
function fail(
  annotations: Readonly<Record<string, string>>,
  more: Partial<Snapshot>,
  before: JobSetStatus = {},
  failurePolicy: FailurePolicy = IN_PLACE,
): Plan {
  const status: JobSetStatus = {
    ...BEGUN,
    deprecatedEpoch: 2,
    syncedEpoch: 3,
    replicatedJobsStatus: [{ name: 'w', ...ZERO, syncedEpoch: 3 }],
    ...before,
  };
  const answer = answering({ Witness: witness, SucceededPods: true });
  const members = membersAt(4, TWO_WORKERS);
  const jobSet = jobSetOfTwo({ failurePolicy }, status, { annotations });
  return planForTwo(jobSet, { members, answer, ...more });
}

function endedAt(step: number): MemberEvidence {
  const place = { replicatedJob: 'w', jobIndex: 0, completions: 2, completionIndex: 0 };
  const member = { ...place, pod: 'p0', podUid: 'u0', node: 'n1' };
  return { member, end: { kind: 'Ended', epoch: 1, how: 'Stopped', step, atMs: 0 } };
}

describe('with a limit of 3 restarts without progress', () => {
  /** The reports of members at each failure, and the count after it; null: it is final. */
  test.each<[string, readonly [GroupProgress, number | null][]]>([
    [
      'a fourth failure at the same checkpoint is final',
      [
        [{ checkpoint: 300, highestStep: 310 }, 0],
        [{ checkpoint: 300, highestStep: 320 }, 1],
        [{ checkpoint: 300, highestStep: 330 }, 2],
        [{ checkpoint: 300, highestStep: 340 }, 3],
        [{ checkpoint: 300, highestStep: 350 }, null],
      ],
    ],
    [
      'a higher checkpoint counts as progress, and a lower one does not',
      [
        [{ checkpoint: 300 }, 0],
        [{ checkpoint: 200 }, 1],
        [{ checkpoint: 299 }, 2],
        [{ checkpoint: 301 }, 0],
        [{ checkpoint: 301 }, 1],
      ],
    ],
    [
      'an unknown checkpoint counts as progress',
      [
        [{ checkpoint: 300 }, 0],
        [{ checkpoint: 300 }, 1],
        [{ highestStep: 310 }, 0],
        [{ checkpoint: 300 }, 1],
      ],
    ],
    [
      'steps count where no checkpoint was ever reported',
      [
        [{ highestStep: 10 }, 0],
        [{ highestStep: 10 }, 1],
        [{ highestStep: 11 }, 0],
        [{ highestStep: 9 }, 1],
        [{}, 0],
        [{ checkpoint: 5, highestStep: 6 }, 0],
      ],
    ],
  ])('%s', (_, failures) => {
    let progress: EndedProgress | undefined;
    for (const [reported, expected] of failures) {
      const before = progress === undefined ? {} : { progress };
      const made = fail({ [LIMIT]: '3' }, { reported: () => reported }, before);
      if (expected === null) {
        expect(conditionsOf(made)).toEqual(['Failed=True NoProgress']);
        expect(made.status?.conditions?.[0]?.message).toBe(
          'jobset failed because 3 restarts in a row did not lead beyond checkpoint 300 (the cause is not known; first seen: Pod p0 exited with code 1 (Error))',
        );
        expect(made.status).toMatchObject({ deprecatedEpoch: 2, terminalState: 'Failed' });
      } else {
        expect(made.status).toMatchObject({ deprecatedEpoch: 3 });
        expect(made.status?.progress?.restartsWithoutProgress).toBe(expected);
      }
      progress = made.status?.progress;
    }
  });

  test('the step of a worker that reported its end counts too', () => {
    const before = { progress: { step: 20, restartsWithoutProgress: 3 } };
    const stuck = { reported: () => ({ highestStep: 12 }) };
    expect(conditionsOf(fail({ [LIMIT]: '3' }, stuck, before))).toEqual(['Failed=True NoProgress']);
    const more = { ...stuck, endsIn: () => [endedAt(21)] };
    expect(fail({ [LIMIT]: '3' }, more, before).status?.progress).toEqual({
      step: 21,
      restartsWithoutProgress: 0,
    });
  });

  test('failures that are not charged do not count', () => {
    const before = { progress: { checkpoint: 300, restartsWithoutProgress: 3 } };
    const same = { reported: () => ({ checkpoint: 300 }) };
    const made = fail({ [LIMIT]: '3' }, same, before, UNCHARGED);
    expect(made.status).toMatchObject({ deprecatedEpoch: 3, progress: before.progress });
    const unknown = fail({ [LIMIT]: '3' }, {}, before, UNCHARGED);
    expect(unknown.status?.progress).toEqual(before.progress);
  });

  test('the budget comes first', () => {
    const before = {
      inPlaceRestartsCountTowardsMax: 100,
      progress: { checkpoint: 300, restartsWithoutProgress: 3 },
    };
    const same = { reported: () => ({ checkpoint: 300 }) };
    expect(conditionsOf(fail({ [LIMIT]: '3' }, same, before))).toEqual([
      'Failed=True ReachedMaxRestarts',
    ]);
  });

  test.each<[string, Readonly<Record<string, string>>, Partial<Snapshot>]>([
    ['nobody asked for it', {}, {}],
    ['the stored definition lacks it', { [LIMIT]: '1' }, { lacks: new Set(['progress']) }],
  ])('nothing is written or decided if %s', (_, annotations, more) => {
    const reported = () => ({ checkpoint: 300 });
    const made = fail(annotations, { reported, ...more });
    expect(made.status).toMatchObject({ deprecatedEpoch: 3 });
    expect(made.status).not.toHaveProperty('progress');
  });
});

describe('extra restarts', () => {
  const used = (count: number): JobSetStatus => ({ inPlaceRestartsCountTowardsMax: count });

  test.each<[number, number, string, string]>([
    [2, 2, '0', 'Failed=True ReachedMaxRestarts'],
    [2, 2, '1', 'RestartingInPlace=True WorkerFailed'],
    [2, 3, '1', 'Failed=True ReachedMaxRestarts'],
    [-1, 0, '1', 'RestartingInPlace=True WorkerFailed'],
    // The user took back what is used already.
    [2, 7, '1', 'Failed=True ReachedMaxRestarts'],
    [2, 2, 'many', 'Failed=True ReachedMaxRestarts'],
  ])('maxRestarts %i, %i used, and %s more', (maxRestarts, count, extra, expected) => {
    const failurePolicy = { ...IN_PLACE, maxRestarts };
    const made = fail({ [EXTRA]: extra }, {}, used(count), failurePolicy);
    expect(conditionsOf(made)).toEqual([expected]);
  });

  test('are reported with those that are used', () => {
    const made = fail({ [EXTRA]: '4' }, {}, used(2), { ...IN_PLACE, maxRestarts: 2 });
    expect(made.status?.conditions?.[0]?.message).toContain('3 of 6 restarts used');
  });
});
