import type { Condition, Stored } from '@lockstep/kube/meta.ts';
import type { Job, JobStatus } from '@lockstep/kube/objects/job.ts';
import { deepFrozen } from '@lockstep/kube/runtime/memory/deep-frozen.ts';
import { timeText } from '@lockstep/kube/time.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  replicatedJob,
  SURROUNDINGS,
  storedJob,
  storedJobSet,
} from '../../test/fixtures/jobset-objects.ts';
import { COMPLETE, FAILED, SUSPENDED, ZERO } from '../../test/fixtures/planned.ts';
import { answering, NOW_MS, podOf, snapshotOf } from '../../test/fixtures/snapshots.ts';
import type { Witness } from './epoch/witness.ts';
import { DEFAULT_FEATURE_GATES } from './feature-gates.ts';
import type { JobSetSpec } from './jobset.ts';
import type { JobSetStatus, RestartRecord } from './jobset-status.ts';
import { DISABLE_IN_PLACE_RESTART } from './names.ts';
import { type AnswerOf, NO_ANSWERS } from './plan/questions.ts';
import type { Snapshot } from './plan/snapshot.ts';
import { plan } from './plan.ts';
import { MemberCounts } from './roster/members.ts';

/** Any snapshot, possible or not. */
const NAMES = ['a', 'b'] as const;
const PODS = 2;
const LONG_AGO_MS = NOW_MS - 600_000;

const SPEC: fc.Arbitrary<JobSetSpec> = fc
  .record(
    {
      replicas: fc.integer({ min: 1, max: 3 }),
      order: fc.constantFrom('Any', 'Any', 'InOrder', 'DependsOn'),
      successPolicy: fc.constantFrom({ operator: 'All' } as const, { operator: 'Any' } as const),
      failurePolicy: fc.record(
        {
          maxRestarts: fc.nat(2),
          restartStrategy: fc.constantFrom(
            'InPlaceRestart',
            'InPlaceRestart',
            'Recreate',
            'BlockingRecreate',
          ),
          rules: fc.array(
            fc.record({
              action: fc.constantFrom('FailJobSet', 'RestartJobSet', 'RestartJob'),
              onJobFailureReasons: fc.constantFrom([], ['BackoffLimitExceeded']),
            }),
            { maxLength: 1 },
          ),
        },
        { requiredKeys: ['maxRestarts', 'restartStrategy'] },
      ),
      suspend: fc.boolean(),
      activeDeadlineSeconds: fc.constantFrom(60, 100_000),
      ttlSecondsAfterFinished: fc.constantFrom(0, 1000),
    },
    { requiredKeys: ['replicas', 'order'] },
  )
  .map(({ replicas, order, ...others }): JobSetSpec => {
    const [a, b] = [replicatedJob('a', PODS, replicas), replicatedJob('b', PODS)];
    const dependsOn = [{ name: 'a', status: 'Ready' } as const];
    return {
      ...others,
      replicatedJobs: [a, order === 'DependsOn' ? { ...b, dependsOn } : b],
      ...(order === 'InOrder' && { startupPolicy: { startupPolicyOrder: 'InOrder' } }),
    };
  });

const CONDITIONS = fc
  .uniqueArray(
    fc.record({
      type: fc.constantFrom(
        'Suspended',
        'RestartingInPlace',
        'RestartingJobSet',
        'WaitingForLostNode',
        'InPlaceRestartBypassed',
        'NameConflict',
      ),
      status: fc.constantFrom('True', 'False'),
    }),
    { maxLength: 3, selector: ({ type }) => type },
  )
  .map((some) => some.map((each): Condition => ({ ...each, ...SAID })));
const SAID = { reason: 'R', message: 'm', lastTransitionTime: timeText(LONG_AGO_MS) };
const OVER: Condition = { type: 'Completed', status: 'True', ...SAID };

const STATUS: fc.Arbitrary<JobSetStatus | undefined> = fc.option(
  fc
    .record({
      isOver: fc.integer({ min: 0, max: 9 }).map((roll) => roll === 0),
      isOurs: fc.integer({ min: 0, max: 9 }).map((roll) => roll !== 0),
      restarts: fc.nat(1),
      ended: fc.nat(2),
      released: fc.tuple(fc.nat(3), fc.nat(3)),
      ranMs: fc.constantFrom(undefined, 100),
      conditions: CONDITIONS,
    })
    .map(({ isOver, isOurs, restarts, ended, released, ranMs, conditions }): JobSetStatus => {
      const history = Array.from(
        { length: ended * 2 },
        (): RestartRecord => ({
          epoch: ended,
          time: timeText(NOW_MS - 500),
          cause: 'WorkerFailed',
          counted: true,
          generation: 1,
          ...(ranMs !== undefined && { ranMs }),
        }),
      );
      return {
        restarts,
        conditions: isOver ? [...conditions, OVER] : conditions,
        startTime: timeText(LONG_AGO_MS),
        ...(isOurs
          ? { deprecatedEpoch: ended, syncedEpoch: Math.min(...released), restartHistory: history }
          : { previousInPlaceRestartAttempt: ended, currentInPlaceRestartAttempt: ended }),
        replicatedJobsStatus: NAMES.map((name, i) => ({
          name,
          ...ZERO,
          active: 1,
          syncedEpoch: Math.min(released[i] ?? 0, ended + 1),
        })),
      };
    }),
  { nil: undefined },
);

const JOB_STATUS: fc.Arbitrary<JobStatus> = fc.constantFrom(
  { ready: PODS, active: PODS },
  { ready: PODS, active: PODS },
  { active: 1, failed: 4 },
  { active: 1, succeeded: 1, completedIndexes: '0' },
  SUSPENDED,
  FAILED,
  { ...COMPLETE, succeeded: PODS },
);

/** A Job with its Pods: the epoch that each announces, 0 for none. */
const JOB = fc.record(
  {
    name: fc.constantFrom(...NAMES),
    index: fc.nat(3),
    attempt: fc.nat(1),
    suspend: fc.boolean(),
    status: JOB_STATUS,
    isLeaving: fc.integer({ min: 0, max: 5 }).map((roll) => roll === 0),
    hasLabels: fc.integer({ min: 0, max: 9 }).map((roll) => roll !== 0),
    pods: fc.array(
      fc.record({
        epoch: fc.nat(4),
        kind: fc.constantFrom('Live', 'Live', 'Live', 'Noticed', 'Overdue', 'Crashing'),
      }),
      { maxLength: PODS },
    ),
  },
  { requiredKeys: ['name', 'index', 'attempt', 'status', 'isLeaving', 'hasLabels', 'pods'] },
);
type GeneratedJob = typeof JOB extends fc.Arbitrary<infer T> ? T : never;

type GeneratedPod = GeneratedJob['pods'][number];

function jobOf({ name, index, isLeaving, hasLabels, ...more }: GeneratedJob): Stored<Job> {
  const metadata = {
    ...(isLeaving && { deletionTimestamp: timeText(NOW_MS) }),
    ...(!hasLabels && { labels: {} }),
  };
  return storedJob(`train-${name}-${index}`, name, { ...more, index, pods: PODS, metadata });
}

function membersOf(jobs: readonly GeneratedJob[]): MemberCounts {
  const members = new MemberCounts();
  for (const job of jobs) {
    for (const [slot, { epoch, kind }] of job.pods.entries()) {
      const facts = podOf(jobOf(job), slot, epoch === 0 ? undefined : epoch, {
        ...(kind === 'Noticed' && { notice: { epoch } }),
        ...(kind === 'Crashing' && { starts: { epoch, starts: 9 } }),
        ...(kind === 'Overdue' && {
          isTerminating: true,
          endMs: LONG_AGO_MS,
          lostNodeDeadlineMs: 60_000,
        }),
      });
      members.observe(facts, LONG_AGO_MS);
    }
  }
  return members;
}

const WITNESS: Witness = {
  record: { pod: 'train-a-0-0', exitCode: 1, reason: 'Error' },
  finishedMs: NOW_MS - 1000,
  showsFailure: true,
};

/** All Jobs that are asked for, alike, whose Pods announce the current epoch: one may be otherwise. */
function calm(spec: JobSetSpec, status: JobSetStatus | undefined, like: GeneratedJob) {
  const epoch = (status?.deprecatedEpoch ?? 0) + 1;
  const other = (pod: GeneratedPod) => ({ ...pod, epoch: pod.epoch > 2 ? epoch + 1 : epoch });
  const live = Array.from({ length: PODS }, () => ({ epoch, kind: 'Live' }) as const);
  return (spec.replicatedJobs ?? []).flatMap(({ replicas = 1 }, i) =>
    Array.from({ length: replicas }, (_, index): GeneratedJob => {
      const isFirst = i === 0 && index === 0;
      const [first] = like.pods;
      return {
        name: NAMES[i] ?? 'a',
        index,
        attempt: status?.restarts ?? 0,
        status: like.status,
        isLeaving: false,
        hasLabels: true,
        ...(like.suspend !== undefined && { suspend: like.suspend }),
        pods: isFirst && first !== undefined ? [other(first), ...live.slice(1)] : live,
      };
    }),
  );
}

const SNAPSHOT: fc.Arbitrary<Snapshot> = fc
  .record({
    spec: SPEC,
    status: STATUS,
    jobs: fc.uniqueArray(JOB, { maxLength: 5, selector: ({ name, index }) => `${name}-${index}` }),
    like: fc.option(JOB),
    vanished: fc.array(JOB, { maxLength: 1 }),
    isAnswered: fc.boolean(),
    hasFreshPods: fc.boolean(),
    isBypassed: fc.integer({ min: 0, max: 9 }).map((roll) => roll === 0),
    generation: fc.constantFrom(1, 1, 2),
    hasService: fc.boolean(),
    silentMs: fc.constantFrom(0, 1_000_000),
    gate: fc.constantFrom(undefined, 'RestartJob', 'ElasticJobSet', 'ExecutionAttemptsTracking'),
  })
  .map(({ spec, status, like, isAnswered, hasFreshPods, gate, ...some }) => {
    const jobs = like === null ? some.jobs : calm(spec, status, like);
    const stored = jobs.map(jobOf);
    const failedJob = stored.find((job) => job.status === FAILED);
    const suspect = stored.find((job) => job.status?.failed === 4);
    const answers: Partial<AnswerOf> = {
      ContainerMinimums: {},
      FreshJobs: true,
      SucceededPods: true,
      FreshJobSet: [],
      Witness: WITNESS,
      OverduePods: new Map([['pod-train-a-0-0', { node: 'n' }]]),
      ...(hasFreshPods && { FreshPods: membersOf(jobs) }),
      ...(failedJob && { FailedJob: { epoch: 1 } }),
      ...(suspect && {
        FailedPods: { inEpoch: 4, witness: WITNESS },
      }),
    };
    const metadata = {
      generation: some.generation,
      ...(some.isBypassed && { annotations: { [DISABLE_IN_PLACE_RESTART]: '' } }),
    };
    return snapshotOf(
      { ...storedJobSet(spec, metadata), ...(status && { status }) },
      {
        jobs: stored,
        vanished: some.vanished.map(jobOf),
        members: membersOf(jobs),
        answer: isAnswered ? answering(answers) : NO_ANSWERS,
        surroundings: some.hasService ? SURROUNDINGS : { ...SURROUNDINGS, service: undefined },
        hubReach: { streams: 0, missing: 1, silent: [], mayLook: some.silentMs > 0 },
        gates: { ...DEFAULT_FEATURE_GATES, ...(gate && { [gate]: false }) },
      },
    );
  });

test('planning twice from one deeply frozen snapshot gives identical bytes', () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(SNAPSHOT, (snapshot) => {
      const frozen = deepFrozen(snapshot);
      const made = plan(frozen);
      expect(bytesOf(plan(frozen))).toBe(bytesOf(made));
      for (const { kind } of [...made.actions, ...made.outcomes]) seen.add(kind);
      if (made.question !== undefined) seen.add(made.question.kind);
    }),
    { numRuns: 3000 },
  );
  expect([...seen].sort(), 'what the snapshots make a plan do').toEqual(
    expect.arrayContaining(REACHED),
  );
});

function bytesOf(made: object): string {
  return JSON.stringify(made, (_, value: unknown) => (value instanceof Set ? [...value] : value));
}

/** Actions, outcomes and questions that the snapshots surely lead to. */
const REACHED = [
  'Completed',
  'CreateJob',
  'CreateService',
  'DeleteJob',
  'DeleteJobSet',
  'DeleteLostPod',
  'EpochEnded',
  'EpochReleased',
  'Failed',
  'FailedJob',
  'FreshJobs',
  'JobsRestarted',
  'OverduePods',
  'ResumeJob',
  'SucceededPods',
  'SuspendJob',
  'Witness',
];
