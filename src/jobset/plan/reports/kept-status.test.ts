import { expect, test } from 'vitest';
import { definitionWithout } from '../../../../test/fixtures/older-definition.ts';
import { upstreamDefinition } from '../../../../test/fixtures/upstream-definition.ts';
import { DEFAULT_FEATURE_GATES } from '../../feature-gates.ts';
import type { JobSetStatus } from '../../jobset-status.ts';
import { missingStatusFields } from '../../schema/missing-fields.ts';
import type { Snapshot } from '../snapshot.ts';
import { readAsKept, writtenAsKept } from './kept-status.ts';

const COUNTER = { name: 'w', ready: 1, succeeded: 0, failed: 0, active: 1, suspended: 0 };
const STORED: JobSetStatus = {
  restarts: 1,
  previousInPlaceRestartAttempt: 3,
  currentInPlaceRestartAttempt: 4,
  replicatedJobsStatus: [COUNTER],
};

function snapshot(status: JobSetStatus, more: Partial<Snapshot> = {}): Snapshot {
  const lacks = new Set(missingStatusFields(upstreamDefinition('0.12')));
  return { jobSet: { status }, gates: DEFAULT_FEATURE_GATES, lacks, ...more } as Snapshot;
}

test('epochs and charges come from attempts, if the definition keeps nothing else', () => {
  const { jobSet, gates } = readAsKept(snapshot(STORED));
  expect(jobSet.status).toEqual({
    ...STORED,
    deprecatedEpoch: 4,
    syncedEpoch: 5,
    inPlaceRestarts: 3,
    inPlaceRestartsCountTowardsMax: 3,
    replicatedJobsStatus: [{ ...COUNTER, syncedEpoch: 5 }],
  });
  expect(gates).toMatchObject({
    ExecutionAttemptsTracking: false,
    JobSetActiveDeadlineSeconds: false,
    ElasticJobSet: true,
  });
});

test('what is read and not changed is not written', () => {
  const given = snapshot(STORED);
  const read = readAsKept(given).jobSet.status ?? {};
  expect(writtenAsKept(given, read)).toBeUndefined();
  expect(
    writtenAsKept(given, { ...read, syncedTime: 'now', executionAttempts: 7 }),
  ).toBeUndefined();
  expect(writtenAsKept(given, { ...read, restarts: 2 })).toEqual({ ...STORED, restarts: 2 });
});

test('under an older definition of ours only its fields are left out', () => {
  const lacks = new Set(missingStatusFields(definitionWithout('goodput.course')));
  const given = snapshot({ deprecatedEpoch: 1 }, { lacks });
  expect(readAsKept(given).jobSet.status).toEqual({ deprecatedEpoch: 1 });
  const goodput = { time: 't', phase: 'Waiting' } as const;
  const course = { fromMs: 0, parts: [] };
  expect(writtenAsKept(given, { deprecatedEpoch: 1, goodput: { ...goodput, course } })).toEqual({
    deprecatedEpoch: 1,
    goodput,
  });
});

test.each<[string, Partial<Snapshot>]>([
  ['that lacks nothing', { lacks: new Set() }],
  ['that may not be read, and may keep everything', { isDefinitionUnread: true }],
])('a definition %s changes nothing', (_, more) => {
  const given = snapshot(STORED, more);
  expect(readAsKept(given)).toBe(given);
  const status = { ...STORED, avoidedNodes: [] };
  expect(writtenAsKept(given, status)).toBe(status);
});
