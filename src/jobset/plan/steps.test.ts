/** Each step of a plan alone, on facts that are written down here and deeply frozen. */

import { timeText } from '@lockstep/kube/time.ts';
import { describe, expect, test } from 'vitest';
import { literalFacts, literalGroupFacts } from '../../../test/fixtures/facts.ts';
import {
  replicatedJob,
  SURROUNDINGS,
  storedJob,
  storedJobSet,
} from '../../../test/fixtures/jobset-objects.ts';
import { COMPLETE, FAILED, ZERO } from '../../../test/fixtures/planned.ts';
import { answering, membersAt, NOW_MS, podOf } from '../../../test/fixtures/snapshots.ts';
import { withDefaults } from '../defaults.ts';
import type { Stage } from '../epoch/in-place-restart.ts';
import type { JobSetSpec, ReplicatedJob } from '../jobset.ts';
import type { JobSetStatus } from '../jobset-status.ts';
import { MemberCounts } from '../roster/members.ts';
import type { Decision } from './decision.ts';
import { awaitDeadline, failIfOverdue, keepStartTime } from './ending/active-deadline.ts';
import { dealWithFailedJobs, reportJobsReady } from './ending/job-failure.ts';
import { complete } from './ending/success-policy.ts';
import { deleteExpired } from './ending/ttl.ts';
import type { Facts } from './facts.ts';
import { countFirstRun } from './jobs/execution-attempts.ts';
import { createJobs } from './jobs/job-creation.ts';
import { createClaims, createService } from './jobs/surroundings.ts';
import { beginResume, resumeJobs, suspendJobs } from './jobs/suspend.ts';
import {
  lookBeforeRecreating,
  recreateHalfDone,
  resizeJobs,
  stopWhatRuns,
  tidyUp,
} from './jobs/tidying.ts';
import { unchanged } from './merge.ts';
import { NO_ANSWERS } from './questions.ts';
import { reportBypass } from './reports/bypass.ts';
import { rejectInvalidSpec, writeFirstStatus } from './reports/first-status.ts';
import { grantRights } from './reports/planned-rights.ts';
import { recordMode } from './reports/recorded-mode.ts';
import { beginAttempt, writeCounters } from './reports/status-write.ts';
import { restartInPlace } from './restart/group-restart.ts';
import { dealWithLostPods, reviewNamedPods } from './restart/lost-pods.ts';

const JOB = storedJob('train-w-0', 'w');
const LEAVING = { ...JOB, metadata: { ...JOB.metadata, deletionTimestamp: timeText(NOW_MS) } };
const LONG_AGO = timeText(NOW_MS - 600_000);
const NO_JOBS = literalFacts().children;

function specOf(more: Partial<JobSetSpec> = {}): Pick<Facts, 'spec' | 'jobSet'> {
  const spec: JobSetSpec = { replicatedJobs: [replicatedJob('w')], ...more };
  return { spec: withDefaults(spec), jobSet: storedJobSet(spec) };
}

function namedIn(job: ReplicatedJob, serviceAccountName: string): ReplicatedJob {
  const { spec } = job.template;
  const template = { ...spec.template, spec: { ...spec.template.spec, serviceAccountName } };
  return { ...job, template: { ...job.template, spec: { ...spec, template } } };
}

const kindsOf = (decisions: readonly Decision[]): readonly string[] =>
  decisions.flatMap(({ actions = [] }) => actions.map(({ kind }) => kind));
const conditionsOf = (decisions: readonly Decision[]): readonly string[] =>
  decisions.flatMap(({ conditions = [] }) =>
    conditions.map(
      ({ type, status, onlyIfTrue }) => `${onlyIfTrue ? 'clear ' : ''}${type}=${status}`,
    ),
  );
const isLast = (decisions: readonly Decision[]): boolean =>
  decisions.some((each) => each.isLast === true);

describe('the beginning', () => {
  test('a spec that is wrong ends the plan, and one that is right takes that back', () => {
    const wrong = rejectInvalidSpec(literalFacts(specOf({ replicatedJobs: [replicatedJob('W')] })));
    expect(conditionsOf(wrong)).toEqual(['Rejected=True']);
    expect(isLast(wrong)).toBe(true);
    const right = rejectInvalidSpec(literalFacts(specOf()));
    expect(conditionsOf(right)).toEqual(['clear Rejected=False']);
    expect(isLast(right)).toBe(false);
  });

  test('a group that was taken out of in-place restart is reported', () => {
    const status = { deprecatedEpoch: 3 };
    const told = [
      'InPlaceRestartBypassed=True',
      'clear RestartingInPlace=False',
      'clear ReplacementPending=False',
    ];
    expect(conditionsOf(reportBypass(literalFacts({ status })))).toEqual(told);
    expect(reportBypass(literalFacts())).toEqual([]);
    const back = reportBypass(literalGroupFacts({ status }));
    expect(conditionsOf(back)).toEqual(['clear InPlaceRestartBypassed=False']);
  });

  test.each<[string, JobSetStatus, boolean, number | undefined]>([
    ['is counted before Jobs run', {}, false, 0],
    ['waits while it is suspended', {}, true, undefined],
    ['of a JobSet that has restarted is as many', { restarts: 2 }, true, 2],
    ['is counted once', { executionAttempts: 1 }, false, undefined],
  ])('the first run %s', (_, status, suspend, expected) => {
    const [decision] = countFirstRun(literalFacts({ ...specOf({ suspend }), status }));
    expect(decision?.status?.executionAttempts).toBe(expected);
  });

  test('the first status says what a JobSet, and a group, starts from', () => {
    const none = { restarts: 0, restartsCountTowardsMax: 0 };
    expect(writeFirstStatus(literalFacts(specOf()))[0]?.status).toEqual(none);
    const ofGroup = writeFirstStatus(literalGroupFacts(specOf()))[0]?.status;
    expect(ofGroup).toEqual({ ...none, deprecatedEpoch: 0, syncedEpoch: 0 });
    expect(writeFirstStatus(literalFacts({ status: { restarts: 0 } }))).toEqual([]);
  });
});

describe('the end', () => {
  const successful = [storedJob('train-w-0', 'w', { status: COMPLETE })];
  const failed = [storedJob('train-w-0', 'w', { status: FAILED })];

  test('comes when the success policy is met, and Jobs of before are tidied up', () => {
    const children = { ...NO_JOBS, successful, surplus: [JOB] };
    const made = complete(literalFacts({ ...specOf(), children }));
    expect(made[0]).toMatchObject({ status: { terminalState: 'Completed' } });
    expect(kindsOf(made)).toEqual(['DeleteJob']);
    expect(isLast(made)).toBe(true);
    expect(complete(literalFacts(specOf()))).toEqual([]);
  });

  test('comes with the deadline, and what runs is stopped', () => {
    const facts = { ...specOf({ activeDeadlineSeconds: 60 }), status: { startTime: LONG_AGO } };
    const made = failIfOverdue(literalFacts({ ...facts, children: { ...NO_JOBS, active: [JOB] } }));
    expect(made[0]).toMatchObject({ status: { terminalState: 'Failed' } });
    expect(kindsOf(made)).toEqual(['DeleteJob']);
    expect(
      failIfOverdue(literalFacts({ ...facts, status: { startTime: timeText(NOW_MS) } })),
    ).toEqual([]);
  });

  test('does not come while restarts are left: they are counted, and a restart ends with ready Jobs', () => {
    const policy = specOf({ failurePolicy: { maxRestarts: 1 } });
    const children = { ...NO_JOBS, failed };
    const restart = dealWithFailedJobs(literalFacts({ ...policy, children }));
    expect(conditionsOf(restart)).toEqual(['RestartingJobSet=True']);
    expect(restart).toContainEqual(
      expect.objectContaining({ status: { restarts: 1, restartsCountTowardsMax: 1 } }),
    );
    const status = { restartsCountTowardsMax: 1 };
    const spent = dealWithFailedJobs(literalFacts({ ...policy, children, status }));
    expect(spent[0]).toMatchObject({ outcomes: [{ kind: 'Failed' }] });
    const counters = [{ name: 'w', ...ZERO, ready: 1 }];
    const ready = reportJobsReady(literalFacts({ ...policy, counters }));
    expect(conditionsOf(ready)).toEqual(['clear RestartingJobSet=False']);
  });

  test('of a group asks in which epoch its Job failed', () => {
    const policy = specOf({ failurePolicy: { maxRestarts: 1 } });
    const facts = literalGroupFacts({ ...policy, children: { ...NO_JOBS, failed } });
    expect(dealWithFailedJobs(facts)).toEqual([
      { question: { kind: 'FailedJob', job: failed[0] } },
    ]);
  });

  test('leaves nothing that runs, and in the end not the JobSet', () => {
    const children = { ...NO_JOBS, active: [JOB, LEAVING], successful };
    const stopped = stopWhatRuns(literalFacts({ ...specOf(), children }));
    expect(stopped).toEqual([{ actions: [{ kind: 'DeleteJob', job: JOB }] }]);
    const over = { type: 'Failed', status: 'True', reason: '', message: '' } as const;
    const expiring = (ttlSecondsAfterFinished: number, lastTransitionTime: string) =>
      deleteExpired(
        literalFacts({
          ...specOf({ ttlSecondsAfterFinished }),
          status: { conditions: [{ ...over, lastTransitionTime }] },
        }),
      );
    expect(expiring(60, LONG_AGO)).toEqual([{ actions: [{ kind: 'DeleteJobSet' }] }]);
    expect(expiring(660, LONG_AGO)).toEqual([{ requeueAfterMs: 60_000 }]);
    expect(expiring(60, '')[0]?.events?.[0]?.reason).toBe('UnknownFinishTime');
    expect(deleteExpired(literalFacts())).toEqual([]);
  });
});

describe('a group that restarts in place', () => {
  const stage: Stage = {
    name: 'w',
    released: 1,
    isComplete: false,
    replicas: 1,
    parallelism: 1,
    jobs: [JOB],
    succeededIn: () => new Set(),
  };
  const policy = specOf({ failurePolicy: { maxRestarts: 1, restartStrategy: 'InPlaceRestart' } });
  const at = (epoch: number, more: Partial<Facts> = {}, released = 1) => {
    const members = membersAt(epoch, JOB);
    const { group: _, ...others } = more;
    const group = { members, stages: [{ ...stage, released }] };
    return restartInPlace(literalGroupFacts({ ...policy, members, group, ...others }));
  };
  const witness = {
    record: { pod: 'p', exitCode: 1, reason: 'Error' },
    finishedMs: NOW_MS - 40,
    showsFailure: true,
  };

  test('asks how a member failed, and ends the epoch with the answer', () => {
    expect(at(2).at(-1)).toMatchObject({ question: { kind: 'Witness' } });
    const ended = at(2, { answer: answering({ Witness: witness }) });
    expect(ended).toContainEqual(
      expect.objectContaining({
        status: expect.objectContaining({ deprecatedEpoch: 1, inPlaceRestarts: 1 }),
        outcomes: [{ kind: 'EpochEnded', cause: 'WorkerFailed', counted: true, detectMs: 40 }],
      }),
    );
    expect(ended.at(-1)).toEqual({ isLast: true, keepsCounters: true });
  });

  test('releases the epoch when everybody is at the barrier, alone in its plan', () => {
    const counters = [{ name: 'w', ...ZERO }];
    const released = at(1, { counters }, 0);
    expect(released).toContainEqual(
      expect.objectContaining({
        status: expect.objectContaining({ syncedEpoch: 1, releasedGeneration: 1 }),
      }),
    );
    expect(isLast(released)).toBe(true);
  });

  test('waits for the rest of them, and leaves the plan to the steps that follow', () => {
    const waiting = restartInPlace(
      literalGroupFacts({ ...policy, group: { stages: [{ ...stage, released: 0 }] } }),
    );
    expect(waiting).toEqual([{ conditions: [expect.objectContaining({ onlyIfTrue: true })] }]);
    expect(restartInPlace(literalFacts(policy)), 'it is none').toEqual([]);
  });

  test('throws work away only after a look at what is done', () => {
    const facts = { group: { toRecreate: [JOB, LEAVING] } };
    const asked = [{ question: { kind: 'SucceededPods' } }];
    expect(lookBeforeRecreating(literalGroupFacts(facts))).toEqual(asked);
    const sure = literalGroupFacts({ ...facts, answer: answering({ SucceededPods: true }) });
    expect(lookBeforeRecreating(sure)).toEqual([]);
    expect(recreateHalfDone(sure)).toEqual([{ actions: [{ kind: 'DeleteJob', job: JOB }] }]);
  });

  test('names a Pod that does not end, and deletes it when its deadline has passed', () => {
    const members = new MemberCounts();
    const pod = podOf(JOB, 0, 1, {
      isTerminating: true,
      endMs: NOW_MS - 100_000,
      lostNodeDeadlineMs: 60_000,
    });
    members.observe(pod, NOW_MS);
    expect(dealWithLostPods(literalGroupFacts({ members }))).toEqual([
      { question: { kind: 'OverduePods', pods: [pod] } },
    ]);
    const overduePods = new Map([[pod.uid, { node: 'n' }]]);
    const made = dealWithLostPods(
      literalGroupFacts({ members, answer: answering({ OverduePods: overduePods }) }),
    );
    expect(conditionsOf(made)).toEqual(['WaitingForLostNode=True']);
    expect(kindsOf(made)).toEqual(['DeleteLostPod']);
    expect(dealWithLostPods(literalFacts({ members })), 'it is no group').toEqual([]);
  });
});

describe('convergence', () => {
  test('deletes Jobs of before, and recreates one whose labels are lost', () => {
    const unreadable = [{ job: JOB, problem: 'label x is missing', wanted: {}, lost: ['x'] }];
    const children = { ...NO_JOBS, previous: [storedJob('train-w-1', 'w'), LEAVING], unreadable };
    const [made] = tidyUp(literalFacts({ ...specOf(), children }));
    expect(made?.actions).toMatchObject([
      { kind: 'DeleteJob', job: { metadata: { name: 'train-w-1' } } },
      { kind: 'DeleteJob', job: { metadata: { name: 'train-w-0' } } },
    ]);
    expect(made?.events).toMatchObject([{ reason: 'UnreadableJob', isOnce: true }]);
  });

  test('makes the Service, the claims and the rights that are not there', () => {
    const templates = [
      { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'c' } },
    ];
    const none = { service: undefined, hasClaim: () => false, hasAgentRights: false };
    const facts = literalFacts({
      ...specOf({
        failurePolicy: { restartStrategy: 'InPlaceRestart' },
        replicatedJobs: [namedIn(replicatedJob('w'), 'trainer')],
        volumeClaimPolicies: [{ templates }],
      }),
      agent: { image: 'agent', grantsRights: true },
      surroundings: { ...SURROUNDINGS, ...none },
    });
    const made = [createService, createClaims, grantRights].flatMap((step) => step(facts));
    expect(kindsOf(made)).toEqual(['CreateService', 'CreateClaim', 'GrantAgentRights']);
    const there = { ...facts, surroundings: SURROUNDINGS };
    expect(
      kindsOf([createService, createClaims, grantRights].flatMap((step) => step(there))),
    ).toEqual([]);
  });

  test('resizes Jobs, unless the gate is off', () => {
    const facts = literalFacts({
      ...specOf({ replicatedJobs: [replicatedJob('w', 3)] }),
      children: { ...NO_JOBS, active: [JOB] },
    });
    const size = { parallelism: 3, completions: 3 };
    expect(resizeJobs(facts)).toEqual([{ actions: [{ kind: 'ResizeJob', job: JOB, size }] }]);
    expect(resizeJobs({ ...facts, gates: { ...facts.gates, ElasticJobSet: false } })).toEqual([]);
  });

  test('makes the Jobs that may start and are not there', () => {
    const facts = specOf({ replicatedJobs: [replicatedJob('v'), replicatedJob('w', 1, 2)] });
    const startup = { startable: new Set(['w']), inProgress: undefined };
    const made = createJobs(literalFacts({ ...facts, startup, jobs: [JOB] }));
    expect(made.flatMap(({ actions = [] }) => actions)).toMatchObject([
      { kind: 'CreateJob', job: { metadata: { name: 'train-w-1' } } },
    ]);
    expect(conditionsOf(made)).toEqual(['clear NameConflict=False']);
  });

  test('suspends Jobs, and resumes those that may start', () => {
    const active = [JOB, storedJob('train-w-1', 'w', { suspend: true, index: 1 })];
    const children = { ...NO_JOBS, active };
    const suspend = suspendJobs(literalFacts({ ...specOf({ suspend: true }), children }));
    expect(suspend[0]?.actions).toEqual([{ kind: 'SuspendJob', job: JOB }]);
    const facts = literalFacts({
      ...specOf(),
      children,
      counters: [{ name: 'w', ...ZERO, suspended: 1 }],
      startup: { startable: new Set(['w']), inProgress: undefined },
    });
    const [, suspended] = active;
    const unanswered = { ...facts, answer: NO_ANSWERS };
    expect(resumeJobs(unanswered)).toEqual([
      { question: { kind: 'WholeJobs', jobs: [suspended] } },
    ]);
    const wholeJobs = new Map(active.map((job) => [job.metadata.uid, job]));
    expect(kindsOf(resumeJobs({ ...facts, answer: answering({ WholeJobs: wholeJobs }) }))).toEqual([
      'ResumeJob',
    ]);
    const none = { ...facts, answer: answering({ WholeJobs: new Map() }) };
    expect(resumeJobs(none), 'later').toMatchObject([{ actions: [], requeueAfterMs: 100 }]);
    expect(resumeJobs({ ...facts, startup: { startable: new Set(), inProgress: 'v' } })).toEqual(
      [],
    );
  });

  test.each([
    ['is over at once', undefined, 'clear Suspended=False'],
    ['waits for a ReplicatedJob', 'w', 'Suspended=True'],
  ])('a resume is counted once, and %s', (_, inProgress, expected) => {
    const suspended = {
      type: 'Suspended',
      status: 'True',
      message: '',
      lastTransitionTime: '',
    } as const;
    const resuming = (reason: string) =>
      beginResume(
        literalFacts({
          ...specOf(),
          status: { executionAttempts: 0, conditions: [{ ...suspended, reason }] },
          startup: { startable: new Set(), inProgress },
        }),
      );
    expect(resuming('SuspendedJobs')[0]).toEqual({ status: { executionAttempts: 1 } });
    expect(conditionsOf(resuming('SuspendedJobs'))).toEqual([expected]);
    expect(resuming('ResumingJobs').flatMap(({ status = {} }) => Object.keys(status))).toEqual([]);
  });
});

describe('what goes with a write', () => {
  const next = { ...unchanged({ restarts: 1 }), isChanged: true };

  test('counters, unless a restart in place will soon put them right', () => {
    const counters = [{ name: 'w', ...ZERO, ready: 1 }];
    const facts = literalFacts({
      ...specOf(),
      counters,
      children: { ...NO_JOBS, active: [storedJob('train-w-0', 'w', { status: { ready: 1 } })] },
      status: { replicatedJobsStatus: [{ name: 'w', ...ZERO }] },
    });
    expect(writeCounters(facts, next).status).toEqual({ replicatedJobsStatus: counters });
    const kept = writeCounters(facts, { ...next, keepsCounters: true });
    expect(kept).toMatchObject({ countersPutOff: { counted: counters } });
    expect(kept.status).toBeUndefined();
  });

  test('a new attempt forgets what succeeded, and is a new run', () => {
    const before = literalFacts({ status: { restarts: 0 } });
    const stored = { name: 'w', ...ZERO };
    const recreated = {
      restarts: 1,
      executionAttempts: 0,
      replicatedJobsStatus: [{ ...stored, succeededIndexes: '0' }],
    };
    expect(beginAttempt(before, { ...next, status: recreated })).toEqual({
      status: { executionAttempts: 1, replicatedJobsStatus: [stored] },
    });
    expect(beginAttempt(literalFacts({ status: { restarts: 1 } }), next)).toEqual({});
  });

  test('the start, which a suspend takes away', () => {
    const started = { ...next, status: { startTime: LONG_AGO } };
    expect(keepStartTime(literalFacts(specOf()), unchanged({}))).toEqual({});
    const begun = { status: { startTime: timeText(NOW_MS) } };
    expect(keepStartTime(literalFacts(specOf()), next)).toEqual(begun);
    expect(keepStartTime(literalFacts(specOf()), started)).toEqual({});
    const suspended = keepStartTime(literalFacts(specOf({ suspend: true })), started);
    expect(suspended).toStrictEqual({ status: { startTime: undefined } });
  });

  test('the mode of the agents', () => {
    const facts = literalFacts(specOf({ failurePolicy: { restartStrategy: 'InPlaceRestart' } }));
    expect(recordMode(facts, next)).toEqual({ status: { restartMode: 'Sidecar' } });
    expect(recordMode(facts, unchanged({ restarts: 0 }))).toEqual({});
  });

  test('when to look again: at the deadline, and at Pods that are named', () => {
    const facts = literalFacts(specOf({ activeDeadlineSeconds: 660 }));
    const started = unchanged({ startTime: LONG_AGO });
    expect(awaitDeadline(facts, started)).toEqual({ requeueAfterMs: 60_000 });
    const said = { reason: '', message: '', lastTransitionTime: '' };
    const named = { ...said, type: 'WaitingForUnknownPod', status: 'True' } as const;
    const over = { ...said, type: 'Failed', status: 'True' } as const;
    expect(reviewNamedPods(facts, unchanged({ conditions: [named] }))).toEqual({
      requeueAfterMs: 15_000,
    });
    expect(reviewNamedPods(facts, unchanged({ conditions: [named, over] }))).toEqual({});
  });
});
