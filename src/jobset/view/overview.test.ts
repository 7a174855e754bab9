import type { Condition, Stored } from '@lockstep/kube/meta.ts';
import { describe, expect, it } from 'vitest';
import { jobSetWith } from '../../../test/fixtures/hub-jobset.ts';
import {
  CREATED,
  replicatedJob,
  storedJob,
  storedJobSet,
} from '../../../test/fixtures/jobset-objects.ts';
import { failureInWords } from '../culprits/failure-words.ts';
import type { JobSet } from '../jobset.ts';
import type { Goodput, JobSetStatus, RestartRecord } from '../jobset-status.ts';
import { DISABLE_IN_PLACE_RESTART } from '../names.ts';
import { overviewRow, podCountsOf } from './overview.ts';

const CREATED_MS = Date.parse(CREATED);
const NOW_MS = CREATED_MS + 1_000_000;
const ONE = { ready: 1, succeeded: 0 };

function group(status: JobSetStatus = {}): Stored<JobSet> {
  const jobSet = jobSetWith(2, 3, 7);
  return { ...jobSet, status: { ...jobSet.status, syncedEpoch: 3, ...status } };
}

function row(status: JobSetStatus = {}): ReturnType<typeof overviewRow> {
  return overviewRow(group(status), ONE, NOW_MS);
}

describe('the row of a JobSet', () => {
  it('says what a group does', () => {
    const restarts = { inPlaceRestarts: 2, inPlaceRestartsCountTowardsMax: 1, restarts: 1 };
    expect(row(restarts)).toEqual({
      namespace: 'default',
      name: 'train',
      uid: 'jobset-uid',
      state: 'Released',
      shown: { kind: 'Running', text: 'Running' },
      epoch: 3,
      ready: 1,
      size: 1,
      budget: { countedRestarts: 1, maxRestarts: 0, extraRestarts: 0, restartsWithoutProgress: 0 },
      restarts: 3,
      goodput: null,
      goodputUnknown: 'its time is not accounted for',
      goodputUntilMs: null,
      lastFailure: null,
      createdMs: CREATED_MS,
      finishedMs: null,
    });
  });

  it('has no epoch without restart in place, and no count without Jobs', () => {
    const jobSet = storedJobSet({ replicatedJobs: [replicatedJob('w', 3, 2)] });
    const seen = overviewRow(jobSet, null, NOW_MS);
    expect(seen).toMatchObject({ state: 'Running', epoch: null, ready: null, size: 6 });
  });

  it.each([
    ['Completed', { terminalState: 'Completed' }],
    ['Failed', { terminalState: 'Failed' }],
    ['AtBarrier', { deprecatedEpoch: 3 }],
    ['Released', {}],
  ] as const)('tells %s', (state, status) => {
    expect(row(status).state).toBe(state);
  });

  it('tells no epoch of a group that was taken out of in-place restart', () => {
    const annotations = { [DISABLE_IN_PLACE_RESTART]: '' };
    const bypassed = { ...group(), metadata: { ...group().metadata, annotations } };
    expect(overviewRow(bypassed, null, NOW_MS)).toMatchObject({ state: 'Running', epoch: null });
  });

  it('tells Suspended unless it is over', () => {
    const suspended = { ...group(), spec: { ...group().spec, suspend: true } };
    expect(overviewRow(suspended, null, NOW_MS).state).toBe('Suspended');
    const over = { ...suspended, status: { terminalState: 'Failed' } as const };
    expect(overviewRow(over, null, NOW_MS).state).toBe('Failed');
  });

  it('knows when it ended', () => {
    const conditions = [condition('Suspended', 10), condition('Completed', 20)];
    expect(row({ conditions }).finishedMs).toBe(CREATED_MS + 20_000);
  });
});

function condition(type: string, atS: number, message = '', status: 'True' | 'False' = 'True') {
  return { type, status, reason: 'R', message, lastTransitionTime: at(atS) } satisfies Condition;
}

function at(seconds: number): string {
  return new Date(CREATED_MS + seconds * 1000).toISOString();
}

const WITNESS = { pod: 'p', node: 'n', signal: 'SIGKILL', exitCode: null, reason: 'Killed' };
const SUSPECT = {
  worker: 'worker 5 of w (w-0, index 5)',
  replicatedJob: 'w',
  jobIndex: 0,
  pod: 'q',
  why: 'exited with code 3 before the others',
  confidence: 'Certain',
} as const;

/** The next epoch was released, so the suspects are known. */
const JUDGED = { announceMs: 5 };

function record(atS: number, more: Partial<RestartRecord> = {}): RestartRecord {
  const phases = JUDGED;
  return { epoch: 1, time: at(atS), cause: 'WorkerFailed', counted: true, phases, ...more };
}

const OVER = 'jobset failed due to reaching max number of restarts';

describe('the last failure', () => {
  it.each<[string, JobSetStatus, number, string]>([
    ['without a witness', { restartHistory: [record(9)] }, 9, 'a worker failed'],
    [
      'with a witness',
      { restartHistory: [record(9, { witness: WITNESS })] },
      9,
      'the cause is not known; first seen: Pod p on node n was killed by SIGKILL (Killed)',
    ],
    [
      'whose members still stop',
      { restartHistory: [record(9, { witness: WITNESS, phases: { detectMs: 5 } })] },
      9,
      'the cause is not known yet; first seen: Pod p on node n was killed by SIGKILL (Killed)',
    ],
    [
      'before the barrier',
      { restartHistory: [record(9, { witness: WITNESS, cause: 'StartFailed' })] },
      9,
      'containers keep crashing before the barrier; first seen: Pod p on node n was killed by SIGKILL (Killed)',
    ],
    [
      'with a witness whose rank is known',
      {
        restartHistory: [
          record(9, { witness: { ...WITNESS, worker: 'worker 3 of w (w-0, index 3)' } }),
        ],
      },
      9,
      'the cause is not known; first seen: worker 3 on node n: was killed by SIGKILL (Killed)',
    ],
    [
      'with a certain suspect',
      { restartHistory: [record(9, { witness: WITNESS, suspects: [SUSPECT] })] },
      9,
      'worker 5: exited with code 3 before the others',
    ],
    [
      'with a likely suspect',
      {
        restartHistory: [
          record(9, { witness: WITNESS, suspects: [{ ...SUSPECT, confidence: 'Likely' }] }),
        ],
      },
      9,
      'likely worker 5: exited with code 3 before the others',
    ],
    [
      'before what users ended',
      { restartHistory: [record(9, { cause: 'Resumed' }), record(5), record(4)] },
      5,
      'a worker failed',
    ],
    [
      'that ended it',
      { restartHistory: [record(9.4)], conditions: [condition('Failed', 9, OVER)] },
      9.4,
      `a worker failed; ${OVER}`,
    ],
    [
      'that ended it, once',
      {
        restartHistory: [record(9, { witness: WITNESS })],
        conditions: [
          condition(
            'Failed',
            9,
            `${OVER} (${failureInWords(record(9, { witness: WITNESS }), 'RankAndPod')})`,
          ),
        ],
      },
      9,
      `${failureInWords(record(9, { witness: WITNESS }))}; ${OVER}`,
    ],
    [
      'that ended it long after the last restart',
      { restartHistory: [record(5)], conditions: [condition('Failed', 900, OVER)] },
      900,
      OVER,
    ],
    [
      'for which Jobs are recreated',
      { conditions: [condition('RestartingJobSet', 7, 'a Job failed')] },
      7,
      'a Job failed',
    ],
  ])('%s', (_, status, atS, text) => {
    expect(row(status).lastFailure).toEqual({ timeMs: CREATED_MS + atS * 1000, text });
  });

  it('is none after a resume or a change of the size', () => {
    const restartHistory = [record(9, { cause: 'Resumed' }), record(8, { cause: 'Scaled' })];
    expect(row({ restartHistory }).lastFailure).toBeNull();
  });
});

describe('the goodput', () => {
  const accounted = (goodput: Partial<Goodput>): number | null =>
    row({ goodput: { time: at(100), phase: 'Running', ...goodput } }).goodput;

  it.each<[string, Partial<Goodput>, number | null]>([
    ['unknown without a checkpoint', { runningMs: 100_000 }, null],
    ['none when nothing was saved', { checkpoint: 0, lostMs: 90_000 }, 0],
    ['what was kept', { checkpoint: 9, productiveMs: 75_000, hungMs: 25_000 }, 0.75],
    ['that of a whole life', { phase: 'Finished', productiveMs: 90_000, lostMs: 10_000 }, 0.9],
    ['less while it restarts', { phase: 'Restarting', productiveMs: 100_000 }, 0.1],
    ['the same while it waits', { phase: 'Suspended', productiveMs: 50_000 }, 1],
  ])('is %s', (_, goodput, share) => {
    expect(accounted(goodput)).toBe(share);
  });
});

it('counts ready Pods of its own Jobs only', () => {
  const owned = (name: string, uid: string, ready: number) =>
    storedJob(name, 'w', {
      status: { ready },
      metadata: {
        ownerReferences: [
          {
            apiVersion: 'jobset.x-k8s.io/v1alpha2',
            kind: 'JobSet',
            name: 'train',
            uid,
            controller: true,
          },
        ],
      },
    });
  const jobs = [
    owned('a', 'jobset-uid', 2),
    owned('b', 'jobset-uid', 3),
    owned('c', 'another-uid', 7),
    storedJob('d', 'w', { status: { ready: 9 } }),
  ];
  expect(podCountsOf(jobs)(group())).toEqual({ ready: 5, succeeded: 0 });
  expect(podCountsOf([])(group())).toEqual({ ready: 0, succeeded: 0 });
});
