import { describe, expect, test } from 'vitest';
import type { JobSetStatus } from '../jobset-status.ts';
import { droppedFields, restoredStatus } from './stripped-status.ts';

const JOB = { name: 'w', ready: 1, succeeded: 0, failed: 0, active: 1, suspended: 0 };
const UPSTREAMS: JobSetStatus = {
  conditions: [],
  restarts: 1,
  restartsCountTowardsMax: 1,
  replicatedJobsStatus: [JOB],
  previousInPlaceRestartAttempt: 2,
  currentInPlaceRestartAttempt: 3,
};
const WHOLE: JobSetStatus = {
  ...UPSTREAMS,
  observedGeneration: 4,
  replicatedJobsStatus: [{ ...JOB, syncedEpoch: 4, succeededIndexes: '0' }],
  deprecatedEpoch: 3,
  syncedEpoch: 4,
  inPlaceRestarts: 3,
  inPlaceRestartsCountTowardsMax: 0,
  startTime: '2026-01-02T03:04:05Z',
};
const FIELDS = [
  'observedGeneration',
  'deprecatedEpoch',
  'syncedEpoch',
  'inPlaceRestarts',
  'inPlaceRestartsCountTowardsMax',
  'startTime',
];

describe('a status without any field of ours', () => {
  test('gets all of them back', () => {
    expect(restoredStatus(WHOLE, UPSTREAMS)).toEqual({ status: WHOLE, fields: FIELDS });
  });

  test('keeps what the client has written besides', () => {
    const conditions = [
      { type: 'X', status: 'True', reason: 'R', message: '', lastTransitionTime: 'T' },
    ] as const;
    const written = { ...UPSTREAMS, conditions, replicatedJobsStatus: [{ ...JOB, ready: 0 }] };
    expect(restoredStatus(WHOLE, written)?.status).toMatchObject({
      conditions,
      replicatedJobsStatus: [{ ready: 0, syncedEpoch: 4, succeededIndexes: '0' }],
    });
  });

  test('gets back what types of before 0.11 lack, and zeros that Go leaves out', () => {
    const zero = { ...WHOLE, restarts: 0, restartsCountTowardsMax: 0 };
    const written = { conditions: [], replicatedJobsStatus: [JOB] };
    expect(restoredStatus(zero, written)?.status).toEqual(zero);
  });
});

test.each<[string, JobSetStatus | undefined, JobSetStatus | undefined, string[]?]>([
  ['nothing is remembered', undefined, UPSTREAMS],
  ['there is no status any more', WHOLE, undefined],
  ['it had no field of ours', UPSTREAMS, UPSTREAMS],
  ['one of our fields is left', WHOLE, { ...UPSTREAMS, startTime: '2026-01-02T03:04:05Z' }],
  [
    'a field of ours is left in a ReplicatedJob',
    WHOLE,
    { ...UPSTREAMS, replicatedJobsStatus: [{ ...JOB, syncedEpoch: 4 }] },
  ],
  ['Jobs were recreated', WHOLE, { ...UPSTREAMS, restarts: 2 }],
  ['another attempt has begun', WHOLE, { ...UPSTREAMS, previousInPlaceRestartAttempt: 3 }],
  ['somebody has emptied it', WHOLE, {}],
  ['the definition drops all of them', WHOLE, UPSTREAMS, FIELDS],
])('is left as it is if %s', (_why, known, now, lacks = []) => {
  expect(restoredStatus(known, now, new Set(lacks))).toBeUndefined();
});

test('a write has lost each field of ours that the definition has and the server does not store', () => {
  expect(droppedFields(WHOLE, UPSTREAMS)).toEqual(FIELDS);
  expect(droppedFields(WHOLE, UPSTREAMS, new Set(FIELDS.slice(1)))).toEqual(FIELDS.slice(0, 1));
  expect(droppedFields(WHOLE, undefined)).toEqual(FIELDS);
  expect(droppedFields(WHOLE, WHOLE)).toEqual([]);
  const absent = { ...UPSTREAMS, startTime: undefined as unknown as string };
  expect(droppedFields(absent, UPSTREAMS)).toEqual([]);
});
