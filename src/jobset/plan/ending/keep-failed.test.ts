import type { Stored } from '@lockstep/kube/meta.ts';
import { timeText } from '@lockstep/kube/time.ts';
import { describe, expect, test } from 'vitest';
import {
  afterwards,
  conditionsOf,
  kindsOf,
  FAILED as OF_JOB,
  ZERO,
} from '../../../../test/fixtures/planned.ts';
import { answering, membersAt, NOW_MS } from '../../../../test/fixtures/snapshots.ts';
import {
  BEGUN,
  jobSetOfTwo,
  planForTwo,
  TWO_WORKERS,
} from '../../../../test/fixtures/two-workers.ts';
import type { JobSet, JobSetSpec } from '../../jobset.ts';
import type { JobSetStatus } from '../../jobset-status.ts';
import type { Plan } from '../../plan.ts';
import type { Snapshot } from '../snapshot.ts';

const KEY = 'lockstep/keep-failed';
const HOUR_MS = 3_600_000;
const SPEC = { failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 0 } } as const;
/** Epoch 3 is released. */
const RUNNING: JobSetStatus = {
  ...BEGUN,
  restartsCountTowardsMax: 0,
  deprecatedEpoch: 2,
  syncedEpoch: 3,
  startTime: timeText(NOW_MS - 60_000),
  syncedTime: timeText(NOW_MS - 60_000),
  replicatedJobsStatus: [{ name: 'w', ...ZERO, syncedEpoch: 3 }],
};
const witness = {
  record: { pod: 'p0', exitCode: 1, reason: 'Error' },
  finishedMs: NOW_MS - 40,
  showsFailure: true,
};
/** A worker has failed, so its agent announces epoch 4. */
const FAILURE: Partial<Snapshot> = {
  members: membersAt(4, TWO_WORKERS),
  answer: answering({ Witness: witness, SucceededPods: true }),
};

function jobSetWith(keep: string | undefined, spec: Partial<JobSetSpec> = {}): Stored<JobSet> {
  const annotations = keep === undefined ? undefined : { [KEY]: keep };
  return jobSetOfTwo({ ...SPEC, ...spec }, RUNNING, annotations && { annotations });
}

/** The JobSet after its failure. */
function failed(keep: string | undefined, spec: Partial<JobSetSpec> = {}): Stored<JobSet> {
  const jobSet = jobSetWith(keep, spec);
  return afterwards(jobSet, planForTwo(jobSet, FAILURE));
}

function later(jobSet: Stored<JobSet>, ms: number): Plan {
  return planForTwo(jobSet, { members: membersAt(4, TWO_WORKERS), nowMs: NOW_MS + ms });
}

function annotated(jobSet: Stored<JobSet>, annotations: Readonly<Record<string, string>>) {
  return { ...jobSet, metadata: { ...jobSet.metadata, annotations } };
}

describe('a failure that is kept', () => {
  test.each<[string, Partial<JobSetSpec>, Partial<Snapshot>, string]>([
    ['beyond the budget', {}, FAILURE, 'ReachedMaxRestarts'],
    [
      'that a rule makes final',
      {
        failurePolicy: {
          ...SPEC.failurePolicy,
          maxRestarts: 9,
          rules: [
            { name: 'r', action: 'FailJobSet', onJobFailureReasons: ['BackoffLimitExceeded'] },
          ],
        },
      },
      FAILURE,
      'FailJobSetFailurePolicyAction',
    ],
    ['by the deadline', { activeDeadlineSeconds: 60 }, {}, 'DeadlineExceeded'],
    [
      'of a Job',
      {},
      {
        jobs: [{ ...TWO_WORKERS, status: OF_JOB }],
        answer: answering({ FailedJob: { epoch: 3, witness } }),
      },
      'ReachedMaxRestarts',
    ],
  ])(
    'ends the epoch with the same write, and deletes nothing: %s',
    (_which, spec, more, reason) => {
      const made = planForTwo(jobSetWith('1h', spec), more);
      expect(conditionsOf(made)).toEqual([`Failed=True ${reason}`]);
      expect(made.status).toMatchObject({ terminalState: 'Failed', deprecatedEpoch: 3 });
      expect(kindsOf(made)).toEqual([]);
    },
  );

  test.each<[string, string | undefined]>([
    ['without the annotation', undefined],
    ['for no time', '0s'],
    ['for a time that is none', 'ever'],
  ])('leaves the epoch as it is %s, and deletes the Jobs', (_when, keep) => {
    const jobSet = failed(keep);
    expect(jobSet.status).toMatchObject({ terminalState: 'Failed', deprecatedEpoch: 2 });
    const made = later(jobSet, 0);
    expect(kindsOf(made)).toEqual(['DeleteJob']);
    expect(made.requeueAfterMs).toBeUndefined();
  });

  test('is over after its time, and looked at once a day until then', () => {
    const jobSet = failed('1h');
    expect(later(jobSet, 0)).toMatchObject({
      status: undefined,
      actions: [],
      requeueAfterMs: HOUR_MS,
    });
    expect(later(jobSet, HOUR_MS - 1)).toMatchObject({ actions: [], requeueAfterMs: 1 });
    expect(kindsOf(later(jobSet, HOUR_MS))).toEqual(['DeleteJob']);
    expect(later(failed('720h'), 0).requeueAfterMs).toBe(24 * HOUR_MS);
    expect(later(jobSet, -HOUR_MS).requeueAfterMs, 'by another clock').toBe(HOUR_MS);
  });

  test('releases no epoch, although all members wait for it', () => {
    const made = later(failed('1h'), 1000);
    expect(made.status).toBeUndefined();
    expect(made.outcomes).toEqual([]);
  });

  test('follows its annotation: shorter, longer, removed, or of a queue', () => {
    const jobSet = failed('1h');
    const kindsWith = (annotations: Readonly<Record<string, string>>, ms: number) =>
      kindsOf(later(annotated(jobSet, annotations), ms));
    expect(kindsWith({ [KEY]: '1m' }, 60_000)).toEqual(['DeleteJob']);
    expect(kindsWith({ [KEY]: '2h' }, HOUR_MS)).toEqual([]);
    expect(kindsWith({}, 0)).toEqual(['DeleteJob']);
    const queue = { 'kueue.x-k8s.io/queue-name': 'gpus' };
    expect(kindsWith({ [KEY]: '1h', ...queue }, 0)).toEqual(['DeleteJob']);
  });

  test('keeps no worker that runs because the annotation came too late', () => {
    const jobSet = annotated(failed(undefined), { [KEY]: '1h' });
    expect(kindsOf(later(jobSet, 0))).toEqual(['DeleteJob']);
  });

  test('ends with a suspend, and with the time to live of its JobSet', () => {
    const jobSet = failed('1h');
    const suspended = { ...jobSet, spec: { ...jobSet.spec, suspend: true } };
    expect(kindsOf(later(suspended, 0))).toEqual(['DeleteJob']);
    const brief = { ...jobSet, spec: { ...jobSet.spec, ttlSecondsAfterFinished: 60 } };
    expect(later(brief, 0)).toMatchObject({ actions: [], requeueAfterMs: 60_000 });
    expect(kindsOf(later(brief, 60_000))).toEqual(['DeleteJobSet']);
  });

  test('concerns no JobSet whose Jobs are recreated, because nothing would stop its workers', () => {
    const jobSet = jobSetWith('1h', { failurePolicy: { maxRestarts: 0 } });
    const jobs = [{ ...TWO_WORKERS, status: OF_JOB }];
    const made = planForTwo(jobSet, { jobs });
    expect(made.status).toMatchObject({ terminalState: 'Failed', deprecatedEpoch: 2 });
    expect(kindsOf(later(afterwards(jobSet, made), 0))).toEqual(['DeleteJob']);
  });

  test('is told to upstream’s agents in their words', () => {
    expect(failed('1h').status?.previousInPlaceRestartAttempt).toBe(2);
  });
});

test('a success ends the Jobs that still run, whatever is kept of failures', () => {
  const completed = {
    ...RUNNING,
    terminalState: 'Completed',
    conditions: [
      {
        type: 'Completed',
        status: 'True',
        reason: 'AllJobsCompleted',
        message: '',
        lastTransitionTime: timeText(NOW_MS),
      },
    ],
  } as const;
  const jobSet = { ...jobSetWith('1h'), status: { ...completed, deprecatedEpoch: 3 } };
  expect(kindsOf(later(jobSet, 0))).toEqual(['DeleteJob']);
});
