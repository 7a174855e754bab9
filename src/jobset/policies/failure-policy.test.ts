import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { describe, expect, test } from 'vitest';
import { replicatedJob, storedJob, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import { RESTARTING } from '../../../test/fixtures/planned.ts';
import { snapshotOf, WITHOUT_READY } from '../../../test/fixtures/snapshots.ts';
import { DEFAULT_FEATURE_GATES } from '../feature-gates.ts';
import type { FailurePolicy, FailurePolicyRule } from '../jobset.ts';
import type { JobSetStatus, ReplicatedJobStatus } from '../jobset-status.ts';
import { type Plan, plan } from '../plan.ts';
import { judgeWorker } from './failure-policy.ts';
import { findsPattern } from './message-pattern.ts';

/** Two ReplicatedJobs of two Jobs each; `a` and `b` are names of both. */
const REPLICATED_JOBS = [replicatedJob('a', 1, 2), replicatedJob('b', 1, 2)];

function failedJob(
  of: 'a' | 'b',
  index: number,
  more: { second?: number; reason?: string; message?: string } = {},
): Stored<Job> {
  const { second = 0, reason = 'BackoffLimitExceeded', message = 'it broke' } = more;
  const lastTransitionTime = `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`;
  return storedJob(`train-${of}-${index}`, of, {
    index,
    status: {
      conditions: [{ type: 'Failed', status: 'True', reason, message, lastTransitionTime }],
    },
  });
}

function planFor(
  failurePolicy: FailurePolicy | undefined,
  jobs: readonly Stored<Job>[],
  status: JobSetStatus = {},
  gates = DEFAULT_FEATURE_GATES,
): Plan {
  const spec = {
    replicatedJobs: REPLICATED_JOBS,
    ...(failurePolicy === undefined ? {} : { failurePolicy }),
  };
  const jobSet = { ...storedJobSet(spec), status: { restarts: 0, ...status } };
  return plan(snapshotOf(jobSet, { ...WITHOUT_READY, jobs, gates }));
}

function rule(action: FailurePolicyRule['action'], more: Partial<FailurePolicyRule> = {}) {
  return { name: 'r', action, ...more };
}

/** Reasons of the Warnings, in order. */
function warnings({ events }: Plan): readonly string[] {
  return events.filter(({ type }) => type === 'Warning').map(({ reason }) => reason);
}

function conditions({ status }: Plan): readonly string[] {
  return (status?.conditions ?? []).map((c) => `${c.type} ${c.reason}: ${c.message}`);
}

const ZERO = { ready: 0, succeeded: 0, failed: 0, active: 0, suspended: 0 };
const FIRST = '(first failed job: train-a-0)';

describe('4.11 actions', () => {
  test.each<[string, FailurePolicy | undefined, readonly string[], readonly string[], object]>([
    [
      'no policy: the JobSet fails',
      undefined,
      [`Failed FailedJobs: jobset failed due to one or more job failures ${FIRST}`],
      ['FailedJobs'],
      { terminalState: 'Failed', restarts: 0 },
    ],
    [
      'FailJobSet: the JobSet fails, whatever is left of the budget',
      { maxRestarts: 9, rules: [rule('FailJobSet')] },
      [`Failed FailJobSetFailurePolicyAction: applying FailJobSet failure policy action ${FIRST}`],
      ['FailJobSetFailurePolicyAction'],
      { terminalState: 'Failed', restarts: 0 },
    ],
    [
      'no rule: all Jobs restart, charged',
      { maxRestarts: 1 },
      [
        `RestartingJobSet DefaultFailurePolicy: applying RestartJobSet failure policy action ${FIRST}`,
      ],
      ['RestartJobSetFailurePolicyAction', 'DefaultFailurePolicy'],
      { restarts: 1, restartsCountTowardsMax: 1 },
    ],
    [
      'RestartJobSet: all Jobs restart, charged',
      { maxRestarts: 1, rules: [rule('RestartJobSet')] },
      [`RestartingJobSet FailurePolicy_r: applying RestartJobSet failure policy action ${FIRST}`],
      ['RestartJobSetFailurePolicyAction', 'FailurePolicy_r'],
      { restarts: 1, restartsCountTowardsMax: 1 },
    ],
    [
      'RestartJobSetAndIgnoreMaxRestarts: all Jobs restart, whatever is left of the budget',
      { maxRestarts: 0, rules: [rule('RestartJobSetAndIgnoreMaxRestarts')] },
      [
        `RestartingJobSet FailurePolicy_r: applying RestartJobSetAndIgnoreMaxRestarts failure policy action ${FIRST}`,
      ],
      ['RestartJobSetAndIgnoreMaxRestartsFailurePolicyAction', 'FailurePolicy_r'],
      { restarts: 1, restartsCountTowardsMax: 0 },
    ],
    [
      'RestartJob: one Job restarts, charged, and no condition says so',
      { maxRestarts: 1, rules: [rule('RestartJob')] },
      [],
      ['RestartJobFailurePolicyAction'],
      { restarts: 0, restartsCountTowardsMax: 0 },
    ],
    [
      'RestartJobAndIgnoreMaxRestarts: one Job restarts, whatever is left of the budget',
      { maxRestarts: 0, rules: [rule('RestartJobAndIgnoreMaxRestarts')] },
      [],
      ['RestartJobAndIgnoreMaxRestartsFailurePolicyAction'],
      { restarts: 0, restartsCountTowardsMax: 0 },
    ],
    [
      'maxRestarts 0: the first charged failure fails the JobSet',
      { rules: [rule('RestartJob')] },
      [`Failed ReachedMaxRestarts: jobset failed due to reaching max number of restarts ${FIRST}`],
      ['ReachedMaxRestarts'],
      { terminalState: 'Failed', restarts: 0 },
    ],
    [
      'negative maxRestarts: the same',
      { maxRestarts: -1 },
      [`Failed ReachedMaxRestarts: jobset failed due to reaching max number of restarts ${FIRST}`],
      ['ReachedMaxRestarts'],
      { terminalState: 'Failed' },
    ],
  ])('%s', (_action, policy, expectedConditions, events, status) => {
    const made = planFor(policy, [failedJob('a', 0)], { restartsCountTowardsMax: 0 });
    expect(conditions(made)).toEqual(expectedConditions);
    expect(warnings(made)).toEqual(events);
    expect(made.status).toMatchObject(status);
  });

  test('a failure in the condition ends the condition that reported a restart', () => {
    const made = planFor({ maxRestarts: 0 }, [failedJob('a', 0)], { conditions: [RESTARTING] });
    expect(made.status?.conditions).toEqual([
      expect.objectContaining({
        status: 'False',
        reason: 'JobSetFailed',
        message: 'jobset failed',
      }),
      expect.objectContaining({ type: 'Failed', status: 'True' }),
    ]);
  });
});

describe('4.11 which rule decides', () => {
  const JOBS = [
    failedJob('a', 0, { second: 2, reason: 'DeadlineExceeded', message: 'too slow on host-1' }),
    failedJob('b', 0, { second: 1, reason: 'BackoffLimitExceeded', message: 'node lost\nlast' }),
    failedJob('b', 1, { second: 3, reason: 'PodFailurePolicy', message: 'exit code 42' }),
  ];
  const only = (more: Partial<FailurePolicyRule>): readonly FailurePolicyRule[] => [
    rule('FailJobSet', more),
  ];

  test.each<[string, readonly FailurePolicyRule[], string]>([
    ['an empty rule matches the failure that came first', only({}), 'train-b-0'],
    ['a reason', only({ onJobFailureReasons: ['DeadlineExceeded'] }), 'train-a-0'],
    [
      'one of several reasons',
      only({ onJobFailureReasons: ['X', 'PodFailurePolicy'] }),
      'train-b-1',
    ],
    ['a target', only({ targetReplicatedJobs: ['a'] }), 'train-a-0'],
    ['a pattern, found anywhere', only({ onJobFailureMessagePatterns: ['host-\\d'] }), 'train-a-0'],
    [
      'one of several patterns',
      only({ onJobFailureMessagePatterns: ['^no$', '4.$'] }),
      'train-b-1',
    ],
    ['flags as RE2 has them', only({ onJobFailureMessagePatterns: ['(?i)NODE'] }), 'train-b-0'],
    [
      'the order of rules before the order of time',
      [
        rule('FailJobSet', { onJobFailureReasons: ['PodFailurePolicy'] }),
        rule('RestartJobSet', { name: 's' }),
      ],
      'train-b-1',
    ],
    [
      'all lists of a rule have to match',
      [
        rule('RestartJobSet', {
          onJobFailureReasons: ['PodFailurePolicy'],
          targetReplicatedJobs: ['a'],
        }),
        rule('FailJobSet', { name: 's', targetReplicatedJobs: ['b'] }),
      ],
      'train-b-0',
    ],
    [
      'a pattern that is none matches nothing',
      [
        rule('RestartJobSet', { onJobFailureMessagePatterns: ['(', '(?=x)'] }),
        rule('FailJobSet', { name: 's' }),
      ],
      'train-b-0',
    ],
  ])('%s', (_what, rules, job) => {
    const made = planFor({ maxRestarts: 1, rules }, JOBS);
    expect(conditions(made)).toEqual([
      `Failed FailJobSetFailurePolicyAction: applying FailJobSet failure policy action (first failed job: ${job})`,
    ]);
  });

  test('restarts for the first failure if no rule matches', () => {
    const made = planFor({ maxRestarts: 1, rules: only({ onJobFailureReasons: ['X'] }) }, JOBS);
    expect(conditions(made)).toEqual([
      'RestartingJobSet DefaultFailurePolicy: applying RestartJobSet failure policy action (first failed job: train-b-0)',
    ]);
  });

  test('a Job without a time of failure comes last', () => {
    const timeless = storedJob('train-a-1', 'a', {
      index: 1,
      status: { conditions: [{ type: 'Failed', status: 'True' }] },
    });
    expect(conditions(planFor(undefined, [timeless, ...JOBS]))[0]).toContain('train-b-0');
  });

  test('patterns are matched in linear time, and a thousand others do not slow them', () => {
    const text = `${'a'.repeat(40)}!`;
    for (let i = 0; i < 2000; i++) findsPattern(`x${i}`, text);
    expect(findsPattern('^(a+)+$', text)).toBe(false);
    expect(findsPattern('(a+)+', text)).toBe(true);
  });
});

describe('4.11 restarts of one Job', () => {
  const RULES = [
    rule('RestartJob', { targetReplicatedJobs: ['a'] }),
    rule('RestartJobAndIgnoreMaxRestarts', { name: 'free', targetReplicatedJobs: ['b'] }),
  ];
  const of = (made: Plan, name: string): ReplicatedJobStatus | undefined =>
    made.status?.replicatedJobsStatus?.find((each) => each.name === name);

  test('are counted by job index, with zeros for the other Jobs', () => {
    const made = planFor({ maxRestarts: 1, rules: RULES }, [failedJob('a', 1)]);
    expect(of(made, 'a')).toMatchObject({
      jobRestarts: [0, 1],
      jobRestartsCountTowardsMax: [0, 1],
    });
    expect(of(made, 'b')?.jobRestarts).toBeUndefined();
  });

  test('that ignore the limit do not count towards it', () => {
    const made = planFor({ maxRestarts: 0, rules: RULES }, [failedJob('b', 0)]);
    expect(of(made, 'b')).toMatchObject({ jobRestarts: [1, 0] });
    expect(of(made, 'b')?.jobRestartsCountTowardsMax).toBeUndefined();
  });

  test('come one in each pass, and leave the other Jobs alone', () => {
    const jobs = [failedJob('a', 0), failedJob('a', 1)];
    const policy = { maxRestarts: 2, rules: RULES };
    const first = planFor(policy, jobs);
    expect(of(first, 'a')?.jobRestarts).toEqual([1, 0]);
    const second = planFor(policy, jobs, first.status);
    expect(of(second, 'a')?.jobRestarts).toEqual([1, 1]);
    const third = planFor(policy, [...jobs, failedJob('b', 0)], second.status);
    expect(of(third, 'b')?.jobRestarts, 'b is next').toEqual([1, 0]);
  });

  test.each<[string, JobSetStatus]>([
    ['of all Jobs', { restartsCountTowardsMax: 2 }],
    ['in place', { inPlaceRestartsCountTowardsMax: 2 }],
    [
      'of single Jobs, everywhere',
      {
        replicatedJobsStatus: ['a', 'b'].map((name) => ({
          name,
          ...ZERO,
          jobRestarts: [7, 0],
          jobRestartsCountTowardsMax: [0, 1],
        })),
      },
    ],
  ])('draw on the same budget as restarts %s', (_which, spent) => {
    const made = planFor({ maxRestarts: 2, rules: RULES }, [failedJob('a', 1)], spent);
    expect(warnings(made)).toEqual(['ReachedMaxRestarts']);
  });

  test('survive a restart of all Jobs', () => {
    const before = planFor({ maxRestarts: 2, rules: RULES }, [failedJob('a', 1)]);
    const made = planFor({ maxRestarts: 2 }, [failedJob('b', 0)], before.status);
    expect(made.status).toMatchObject({ restarts: 1, restartsCountTowardsMax: 1 });
    expect(of(made, 'a')?.jobRestarts).toEqual([0, 1]);
  });

  test.each([
    ['RestartJob', 'RestartJobSetFailurePolicyAction', 1],
    ['RestartJobAndIgnoreMaxRestarts', 'RestartJobSetAndIgnoreMaxRestartsFailurePolicyAction', 0],
  ] as const)(
    'by %s become restarts of all with the gate off, and a Warning says so',
    (action, event, counted) => {
      const gates = { ...DEFAULT_FEATURE_GATES, RestartJob: false };
      const made = planFor(
        { maxRestarts: 1, rules: [rule(action)] },
        [failedJob('a', 0)],
        {},
        gates,
      );
      expect(warnings(made)).toEqual(['RestartJobNotPossible', event, 'FailurePolicy_r']);
      expect(made.status).toMatchObject({ restarts: 1, restartsCountTowardsMax: counted });
    },
  );
});

describe('rules about workers that restart in place', () => {
  const failure = {
    replicatedJob: 'a',
    message: 'container worker of Pod train-a-0-1 on node n exited with code 42 (Error)',
  };
  const listed = { onJobFailureReasons: ['DeadlineExceeded', 'BackoffLimitExceeded'] };
  const judged = (more: Partial<FailurePolicyRule>): string =>
    judgeWorker([rule('FailJobSet', more)], failure).action;

  test.each<[string, Partial<FailurePolicyRule>, string]>([
    ['a rule that lists BackoffLimitExceeded judges them', listed, 'FailJobSet'],
    ['a rule without reasons was written for Jobs', {}, 'RestartJobSet'],
    [
      'so was one with other reasons',
      { onJobFailureReasons: ['PodFailurePolicy'] },
      'RestartJobSet',
    ],
    ['targets apply', { ...listed, targetReplicatedJobs: ['b'] }, 'RestartJobSet'],
    [
      'the container is in the message',
      { ...listed, onJobFailureMessagePatterns: ['container worker'] },
      'FailJobSet',
    ],
    ['so is the Pod', { ...listed, onJobFailureMessagePatterns: ['train-a-0-1'] }, 'FailJobSet'],
    [
      'so is the exit code',
      { ...listed, onJobFailureMessagePatterns: ['code 4[0-9]\\b'] },
      'FailJobSet',
    ],
    [
      'no pattern is found',
      { ...listed, onJobFailureMessagePatterns: ['code 1\\b'] },
      'RestartJobSet',
    ],
  ])('%s', (_what, more, action) => {
    expect(judged(more)).toBe(action);
  });

  test('a Pod with an unknown ReplicatedJob matches no rule', () => {
    const decided = judgeWorker([rule('FailJobSet', listed)], {
      ...failure,
      replicatedJob: undefined,
    });
    expect(decided).toEqual({ action: 'RestartJobSet', rule: undefined });
  });
});
