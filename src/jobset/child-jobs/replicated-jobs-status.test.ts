import { expect, test } from 'vitest';
import { asked, replicatedJob, storedJob } from '../../../test/fixtures/jobset-objects.ts';
import { withDefaults } from '../defaults.ts';
import { classifyJobs } from './child-jobs.ts';
import { replicatedJobsStatus } from './replicated-jobs-status.ts';

test('replicatedJobsStatus counts Jobs in descending order of names', () => {
  const jobs = classifyJobs(
    [
      storedJob('train-a-0', 'a', { pods: 2, status: { active: 2, ready: 1, succeeded: 1 } }),
      storedJob('train-a-1', 'a', {
        index: 1,
        pods: 2,
        status: { active: 2, ready: 1 },
        suspend: true,
      }),
      storedJob('train-b-0', 'b', {
        status: { conditions: [{ type: 'Complete', status: 'True' }] },
      }),
      storedJob('unknown', 'x'),
      storedJob('previous', 'b', { attempt: -1 }),
    ],
    asked(0, { replicas: new Map([['b', 2]]), succeeded: new Map([['b', '1']]) }),
  );
  const old = [
    { name: 'a', ready: 9, succeeded: 9, failed: 9, active: 9, suspended: 9, syncedEpoch: 4 },
  ];
  const { replicatedJobs } = withDefaults({
    replicatedJobs: [replicatedJob('a', 1, 2), replicatedJob('b', 1, 2)],
  });
  expect(replicatedJobsStatus(replicatedJobs, jobs, old)).toEqual([
    { name: 'b', ready: 0, succeeded: 2, failed: 0, active: 0, suspended: 0 },
    { name: 'a', ready: 1, succeeded: 0, failed: 0, active: 2, suspended: 1, syncedEpoch: 4 },
  ]);
});
