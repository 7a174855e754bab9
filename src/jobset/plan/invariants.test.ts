import { expect, test } from 'vitest';
import { storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import { planOf, ZERO } from '../../../test/fixtures/planned.ts';
import type { JobSetStatus } from '../jobset-status.ts';
import type { GroupFacts } from './facts.ts';
import { assertInvariants } from './invariants.ts';

const BEFORE: JobSetStatus = {
  restarts: 2,
  restartsCountTowardsMax: 1,
  deprecatedEpoch: 3,
  syncedEpoch: 3,
  inPlaceRestarts: 1,
  inPlaceRestartsCountTowardsMax: 1,
  replicatedJobsStatus: [
    { name: 'a', ...ZERO, syncedEpoch: 4 },
    { name: 'b', ...ZERO, syncedEpoch: 3 },
  ],
};

const JOBSET = storedJobSet({ replicatedJobs: [] });

function write(change: JobSetStatus, before = BEFORE): void {
  const facts = { jobSet: JOBSET, status: before, group: {} as GroupFacts['group'] };
  assertInvariants(facts, { ...before, ...change });
}

/** The ReplicatedJobs, with the epochs in which they were released last. */
function released(...epochs: readonly number[]): JobSetStatus {
  const names = ['a', 'b', 'c'];
  return {
    replicatedJobsStatus: epochs.map((syncedEpoch, i) => ({
      name: names[i] ?? '',
      ...ZERO,
      syncedEpoch,
    })),
  };
}

test.each<[string, JobSetStatus]>([
  ['restarts from 2 to 1', { restarts: 1 }],
  ['restartsCountTowardsMax from 1 to 0', { restartsCountTowardsMax: 0 }],
  ['inPlaceRestarts from 1 to 0', { inPlaceRestarts: 0 }],
  ['inPlaceRestartsCountTowardsMax from 1 to 0', { inPlaceRestartsCountTowardsMax: 0 }],
  ['deprecatedEpoch from 3 to 2', { deprecatedEpoch: 2 }],
  ['deprecatedEpoch from 3 to 5', { deprecatedEpoch: 5 }],
  ['the counted restarts from 2 to 3', { inPlaceRestartsCountTowardsMax: 2 }],
  ['the counted restarts from 2 to 4', { deprecatedEpoch: 4, inPlaceRestartsCountTowardsMax: 3 }],
  ['syncedEpoch of a from 4 to 3', released(3, 3)],
  ['syncedEpoch of b from 3 to 5', released(4, 5)],
  ['syncedEpoch of c from 0 to 3', released(4, 3, 3)],
  ['syncedEpoch of b from 3 to 4', { deprecatedEpoch: 4, ...released(4, 4) }],
])('no write changes %s', (what, change) => {
  expect(() => write(change)).toThrow(`the plan for default/train would change ${what}`);
});

test.each<[string, JobSetStatus, JobSetStatus?]>([
  ['nothing', {}],
  ['the end of an epoch', { deprecatedEpoch: 4, inPlaceRestarts: 2 }],
  ['and its charge', { deprecatedEpoch: 4, inPlaceRestartsCountTowardsMax: 2 }],
  ['a release', released(4, 4)],
  ['a release to a ReplicatedJob that came later', released(4, 3, 4)],
  ['one ReplicatedJob less', released(4)],
  ['the least of the released epochs, as other ReplicatedJobs count', { syncedEpoch: 2 }],
  ['epochs that another client wrote', { deprecatedEpoch: 4 }, { ...BEFORE, ...released(9, 0) }],
  ['the first status', { restarts: 0, deprecatedEpoch: 0 }, {}],
  [
    'the take-over of a group of upstream',
    { deprecatedEpoch: 7, inPlaceRestartsCountTowardsMax: 7, ...released(8, 8) },
    { restarts: 0, previousInPlaceRestartAttempt: 6, currentInPlaceRestartAttempt: 7 },
  ],
])('a write may have %s', (_what, change, before) => {
  expect(() => write(change, before)).not.toThrow();
});

test('restarts of Jobs are charged one by one also without a group', () => {
  const before = { restarts: 0, restartsCountTowardsMax: 0 };
  const facts = { jobSet: JOBSET, status: before, group: undefined };
  expect(() => assertInvariants(facts, { restartsCountTowardsMax: 1 })).not.toThrow();
  expect(() => assertInvariants(facts, { restartsCountTowardsMax: 2 })).toThrow('from 0 to 2');
});

test('a first status keeps epochs that it finds', () => {
  const failurePolicy = { restartStrategy: 'InPlaceRestart', maxRestarts: 1 } as const;
  const jobSet = storedJobSet({ replicatedJobs: [], failurePolicy });
  const status = { deprecatedEpoch: 4, syncedEpoch: 4 };
  expect(planOf({ ...jobSet, status }).status).toMatchObject({ restarts: 0, ...status });
  expect(planOf(jobSet).status).toMatchObject({ deprecatedEpoch: 0, syncedEpoch: 0 });
});
