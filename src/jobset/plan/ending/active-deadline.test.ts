import type { Job } from '@lockstep/kube/objects/job.ts';
import { timeText } from '@lockstep/kube/time.ts';
import { describe, expect, test } from 'vitest';
import { storedJob } from '../../../../test/fixtures/jobset-objects.ts';
import {
  COMPLETE,
  conditionsOf,
  FAILED,
  kindsOf,
  planOf,
  SUSPENDED,
  ZERO,
} from '../../../../test/fixtures/planned.ts';
import { answering, membersAt, NOW_MS } from '../../../../test/fixtures/snapshots.ts';
import {
  BEGUN,
  jobSetOfTwo,
  planForTwo,
  TWO_WORKERS,
} from '../../../../test/fixtures/two-workers.ts';
import { DEFAULT_FEATURE_GATES } from '../../feature-gates.ts';
import type { FailurePolicyRule, JobSetSpec } from '../../jobset.ts';
import type { JobSetStatus } from '../../jobset-status.ts';

const NOW = timeText(NOW_MS);
const started = (secondsAgo: number, more: JobSetStatus = {}): JobSetStatus => ({
  ...BEGUN,
  restartsCountTowardsMax: 0,
  startTime: timeText(NOW_MS - secondsAgo * 1000),
  ...more,
});
const DEADLINE = { activeDeadlineSeconds: 60 } as const;
const ended = (status: Job['status']) =>
  storedJob('train-w-0', 'w', { pods: 2, status: status ?? {} });

describe('the deadline of a JobSet', () => {
  test('is waited for, a day at the most', () => {
    const soon = planForTwo(jobSetOfTwo(DEADLINE, started(59)));
    expect(soon).toMatchObject({ status: undefined, requeueAfterMs: 1000 });
    const late = planForTwo(jobSetOfTwo({ activeDeadlineSeconds: 9e15 }, started(59)));
    expect(late.requeueAfterMs).toBe(24 * 60 * 60_000);
    const skewed = planForTwo(jobSetOfTwo(DEADLINE, started(-10)));
    expect(skewed, 'by another clock').toMatchObject({ status: undefined, requeueAfterMs: 70_000 });
  });

  test('fails it, and ends its Jobs in the same pass', () => {
    const made = planForTwo(jobSetOfTwo(DEADLINE, started(60)));
    expect(made.status).toMatchObject({ terminalState: 'Failed' });
    expect(conditionsOf(made)).toEqual(['Failed=True DeadlineExceeded']);
    expect(made.events).toEqual([
      {
        type: 'Warning',
        reason: 'DeadlineExceeded',
        note: 'jobset was active for longer than its deadline of 60 s',
      },
    ]);
    expect(kindsOf(made)).toEqual(['DeleteJob']);
    expect(made.requeueAfterMs).toBeUndefined();
  });

  test('also fails a group that waits at its barrier', () => {
    const failurePolicy = { restartStrategy: 'InPlaceRestart', maxRestarts: 3 } as const;
    const status = started(60, { deprecatedEpoch: 1, syncedEpoch: 1 });
    const members = membersAt(1, TWO_WORKERS);
    const made = planForTwo(jobSetOfTwo({ ...DEADLINE, failurePolicy }, status), { members });
    expect(conditionsOf(made)).toEqual(['Failed=True DeadlineExceeded']);
  });

  test.each<[string, JobSetSpec, JobSetStatus]>([
    ['without one', {}, started(1e6)],
    ['while it is suspended', { ...DEADLINE, suspend: true }, started(1e6)],
    ['before it is known when it started', DEADLINE, BEGUN],
  ])('fails none %s', (_when, spec, status) => {
    const made = planForTwo(jobSetOfTwo(spec, status));
    expect(made.status?.terminalState).toBeUndefined();
  });

  test('is judged after success and before failure', () => {
    const overdue = jobSetOfTwo({ ...DEADLINE, failurePolicy: { maxRestarts: 3 } }, started(60));
    const complete = planForTwo(overdue, { jobs: [ended({ ...COMPLETE, succeeded: 2 })] });
    expect(complete.status?.terminalState).toBe('Completed');
    const failed = planForTwo(overdue, { jobs: [ended(FAILED)] });
    expect(failed.status).toMatchObject({ terminalState: 'Failed', restarts: 0 });
    expect(conditionsOf(failed)).toEqual(['Failed=True DeadlineExceeded']);
    const inTime = jobSetOfTwo({ ...DEADLINE, failurePolicy: { maxRestarts: 3 } }, started(9));
    expect(planForTwo(inTime, { jobs: [ended(FAILED)] }).status).toMatchObject({ restarts: 1 });
  });

  test('is not kept without its gate, nor is the start', () => {
    const gates = { ...DEFAULT_FEATURE_GATES, JobSetActiveDeadlineSeconds: false };
    expect(planForTwo(jobSetOfTwo(DEADLINE, started(60)), { gates })).toMatchObject({
      status: undefined,
      actions: [],
    });
    const suspended = planForTwo(jobSetOfTwo({ suspend: true }, started(60)), { gates });
    expect(suspended.status?.startTime).toBe(started(60).startTime);
    const fresh = planOf(jobSetOfTwo({}, {}), { gates });
    expect(fresh.status).not.toHaveProperty('startTime');
  });
});

describe('the start of a JobSet', () => {
  const startOf = (
    spec: Partial<JobSetSpec>,
    status: JobSetStatus,
    more: Parameters<typeof planForTwo>[1] = {},
  ) => {
    const made = planForTwo(jobSetOfTwo(spec, status), more);
    return made.status?.startTime;
  };

  test('comes with the first status, and not to one that is made suspended or rejected', () => {
    expect(startOf({}, {})).toBe(NOW);
    expect(startOf({ suspend: true }, {})).toBeUndefined();
    expect(
      startOf({ replicatedJobs: [{ name: 'W', template: { spec: TWO_WORKERS.spec } }] }, {}),
    ).toBe(undefined);
  });

  test('costs no write of its own unless a deadline asks for it', () => {
    expect(planForTwo(jobSetOfTwo({}, BEGUN)).status).toBeUndefined();
    expect(startOf(DEADLINE, BEGUN)).toBe(NOW);
  });

  test('goes with a suspend and is a new one after the resume', () => {
    const suspended = planForTwo(jobSetOfTwo({ suspend: true }, started(9)));
    expect(conditionsOf(suspended)).toEqual(['Suspended=True SuspendedJobs']);
    expect(suspended.status).not.toHaveProperty('startTime');
    const jobs = [storedJob('train-w-0', 'w', { pods: 2, suspend: true, status: SUSPENDED })];
    expect(startOf({}, suspended.status ?? {}, { jobs })).toBe(NOW);
  });

  test('is a new one when all Jobs are recreated, and stays when one is', () => {
    const restarts = (action: FailurePolicyRule['action']) =>
      startOf({ failurePolicy: { maxRestarts: 3, rules: [{ name: 'r', action }] } }, started(9), {
        jobs: [ended(FAILED)],
      });
    expect(restarts('RestartJobSet')).toBe(NOW);
    expect(restarts('RestartJobSetAndIgnoreMaxRestarts')).toBe(NOW);
    expect(restarts('RestartJob')).toBe(started(9).startTime);
  });

  test('stays when the group restarts in place', () => {
    const failurePolicy = { restartStrategy: 'InPlaceRestart', maxRestarts: 3 } as const;
    const status = started(9, {
      deprecatedEpoch: 0,
      syncedEpoch: 1,
      replicatedJobsStatus: [{ name: 'w', ...ZERO, syncedEpoch: 1 }],
    });
    const witness = {
      record: { pod: 'p', exitCode: 1, reason: 'Error' },
      finishedMs: undefined,
      showsFailure: true,
    };
    const members = membersAt(2, TWO_WORKERS);
    const made = planForTwo(jobSetOfTwo({ failurePolicy }, status), {
      members,
      answer: answering({ Witness: witness }),
    });
    expect(made.status).toMatchObject({ deprecatedEpoch: 1, startTime: status.startTime });
  });
});
