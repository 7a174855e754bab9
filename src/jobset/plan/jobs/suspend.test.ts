import type { Stored } from '@lockstep/kube/meta.ts';
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
  RESTARTING,
  SUSPENDED,
  ZERO,
} from '../../../../test/fixtures/planned.ts';
import { DEFAULT_FEATURE_GATES } from '../../feature-gates.ts';
import type { JobSet, JobSetSpec } from '../../jobset.ts';
import type { JobSetStatus } from '../../jobset-status.ts';
import { EXECUTION_ATTEMPT } from '../../names.ts';
import type { Plan } from '../../plan.ts';

const SPEC: JobSetSpec = { replicatedJobs: [replicatedJob('a', 1, 2), replicatedJob('b')] };

function begun(spec: JobSetSpec, status: JobSetStatus = {}): Stored<JobSet> {
  const first = { restarts: 0, restartsCountTowardsMax: 0, executionAttempts: 0 };
  return { ...storedJobSet(spec), status: { ...first, ...status } };
}

function withSpec(jobSet: Stored<JobSet>, spec: Partial<JobSetSpec>): Stored<JobSet> {
  return { ...jobSet, spec: { ...jobSet.spec, ...spec } };
}

function jobs(suspend: boolean, of: Record<string, object> = {}) {
  const options = (name: string) => ({ suspend, status: { ...SUSPENDED, ...of[name] } });
  return [
    storedJob('train-a-0', 'a', options('a')),
    storedJob('train-a-1', 'a', { index: 1, ...options('a') }),
    storedJob('train-b-0', 'b', options('b')),
  ];
}

const attemptsOf = ({ actions }: Plan): readonly (string | undefined)[] =>
  actions.map((action) =>
    action.kind === 'ResumeJob'
      ? action.resume.patch.metadata?.annotations?.[EXECUTION_ATTEMPT]
      : undefined,
  );

describe('suspending', () => {
  test('keeps the Jobs, says so at once, and ends the condition of a restart', () => {
    const jobSet = begun({ ...SPEC, suspend: true }, { conditions: [RESTARTING] });
    const made = planOf(jobSet, { jobs: jobs(false) });
    expect(actionsOf(made)).toEqual([
      'SuspendJob train-a-0',
      'SuspendJob train-a-1',
      'SuspendJob train-b-0',
    ]);
    expect(conditionsOf(made)).toEqual([
      'RestartingJobSet=False JobSetSuspended',
      'Suspended=True SuspendedJobs',
    ]);
    const next = planOf(afterwards(jobSet, made), { jobs: jobs(true) });
    expect(next.actions).toEqual([]);
  });
});

describe('resuming', () => {
  const suspended = (spec: JobSetSpec): Stored<JobSet> => {
    const jobSet = begun({ ...spec, suspend: true });
    return withSpec(afterwards(jobSet, planOf(jobSet, { jobs: jobs(true) })), { suspend: false });
  };

  test('resumes all Jobs, says so, and counts one more run before it does', () => {
    const made = planOf(suspended(SPEC), { jobs: jobs(true) });
    expect(actionsOf(made)).toEqual([
      'ResumeJob train-a-0',
      'ResumeJob train-a-1',
      'ResumeJob train-b-0',
    ]);
    expect(conditionsOf(made)).toEqual(['Suspended=False ResumeJobs']);
    expect(made.status).toMatchObject({ executionAttempts: 1 });
    expect(attemptsOf(made)).toEqual(['1', '1', '1']);
    const again = planOf(afterwards(suspended(SPEC), made), { jobs: jobs(true) });
    expect(again.status?.executionAttempts ?? 1, 'counted once').toBe(1);
    expect(actionsOf(again), 'what is not done yet is done').toHaveLength(3);
  });

  test('in order: one ReplicatedJob after the other, and the condition waits for the last', () => {
    const spec: JobSetSpec = { ...SPEC, startupPolicy: { startupPolicyOrder: 'InOrder' } };
    const first = planOf(suspended(spec), { jobs: jobs(true, { a: { ready: 1 } }) });
    expect(actionsOf(first), 'readiness from before does not count').toEqual([
      'ResumeJob train-a-0',
      'ResumeJob train-a-1',
    ]);
    expect(conditionsOf(first)).toEqual([
      'Suspended=True ResumingJobs',
      'StartupPolicyInProgress=True InOrderStartupPolicyInProgress',
    ]);
    expect(first.status).toMatchObject({ executionAttempts: 1 });
    expect(first.events.map(({ reason }) => reason)).toContain('StartingReplicatedJob');

    const [a0, a1] = jobs(false, { a: { ready: 1 } });
    const [, , b0] = jobs(true);
    if (a0 === undefined || a1 === undefined || b0 === undefined) throw new Error('no Jobs');
    const second = planOf(afterwards(suspended(spec), first), { jobs: [a0, a1, b0] });
    expect(actionsOf(second)).toEqual(['ResumeJob train-b-0']);
    const started = { ...b0, spec: { ...b0.spec, suspend: false }, status: { ready: 1 } };
    const third = planOf(afterwards(suspended(spec), first), { jobs: [a0, a1, started] });
    expect(conditionsOf(third)).toEqual([
      'Suspended=False ResumeJobs',
      'StartupPolicyInProgress=False InOrderStartupPolicyInProgress',
      'StartupPolicyCompleted=True InOrderStartupPolicyCompleted',
    ]);
    expect(third.status).toMatchObject({ executionAttempts: 1 });
  });

  test('with dependsOn: dependents wait, though the condition says that the JobSet is resumed', () => {
    const dependent = {
      ...replicatedJob('b'),
      dependsOn: [{ name: 'a', status: 'Ready' }],
    } as const;
    const spec = { replicatedJobs: [replicatedJob('a', 1, 2), dependent] };
    const made = planOf(suspended(spec), { jobs: jobs(true) });
    expect(actionsOf(made)).toEqual(['ResumeJob train-a-0', 'ResumeJob train-a-1']);
    expect(conditionsOf(made)).toEqual(['Suspended=False ResumeJobs']);
    const [a0, a1] = jobs(false, { a: { ready: 1 } });
    const [, , b0] = jobs(true);
    if (a0 === undefined || a1 === undefined || b0 === undefined) throw new Error('no Jobs');
    const next = planOf(afterwards(suspended(spec), made), { jobs: [a0, a1, b0] });
    expect(actionsOf(next)).toEqual(['ResumeJob train-b-0']);
  });

  test('waits with changes for a Job that has started and is not told to be suspended', () => {
    const unseen = jobs(true).map((job) => ({
      ...job,
      status: { startTime: '2026-01-01T00:00:00Z' },
    }));
    const made = planOf(suspended(SPEC), { jobs: unseen });
    // The recorded run of the Pods is such a change.
    expect(made.actions).toEqual([]);
  });
});

describe('execution attempts (KEP-1282)', () => {
  const fresh = storedJobSet(SPEC);
  const attempts = (jobSet: Stored<JobSet>, more: Parameters<typeof planOf>[1] = {}) =>
    (planOf(jobSet, more).status ?? jobSet.status)?.executionAttempts;
  const counters = [
    { name: 'b', ...ZERO },
    { name: 'a', ...ZERO },
  ];

  test.each([
    ['the first run is 0', fresh, 0],
    ['a JobSet made suspended has not run', withSpec(fresh, { suspend: true }), undefined],
    [
      'one of a time before the count begins with its restarts',
      { ...fresh, status: { restarts: 3, replicatedJobsStatus: counters } },
      3,
    ],
    [
      'also while it is suspended',
      { ...withSpec(fresh, { suspend: true }), status: { restarts: 3 } },
      3,
    ],
  ])('%s', (_behaviour, jobSet, expected) => {
    expect(attempts(jobSet)).toBe(expected);
  });

  test('the first resume of a JobSet made suspended is its first run', () => {
    const suspended = withSpec(fresh, { suspend: true });
    const jobSet = withSpec(afterwards(suspended, planOf(suspended)), { suspend: false });
    expect(attempts(jobSet, { jobs: jobs(true) })).toBe(0);
  });

  test('are written to Jobs and Pods, and kept but not written there without the gate', () => {
    const [, created] = planOf(fresh).actions;
    const [action] = planOf(begun(SPEC, { executionAttempts: 2 })).actions;
    if (action?.kind !== 'CreateJob' || created?.kind !== 'CreateJob') throw new Error('no Job');
    expect(action.job.metadata.annotations).toMatchObject({ [EXECUTION_ATTEMPT]: '2' });
    expect(action.job.metadata.labels).not.toHaveProperty([EXECUTION_ATTEMPT]);
    expect(action.job.spec.template.metadata?.annotations).toMatchObject({
      [EXECUTION_ATTEMPT]: '2',
    });
    const gates = { ...DEFAULT_FEATURE_GATES, ExecutionAttemptsTracking: false };
    const off = planOf(begun(SPEC, { executionAttempts: 2 }), { gates });
    const [job] = off.actions;
    if (job?.kind !== 'CreateJob') throw new Error('no Job');
    expect(job.job.metadata.annotations).not.toHaveProperty([EXECUTION_ATTEMPT]);
    expect(attempts(begun(SPEC, { executionAttempts: 2 }), { gates })).toBe(2);
  });
});
