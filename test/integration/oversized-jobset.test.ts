/**
 * JobSets that were stored before there was a bound, and ask for more Jobs than any operator could
 * make: they are rejected, and their owners can still make harmless changes.
 */

import type { Stored } from '@lockstep/kube/meta.ts';
import { JOBS } from '@lockstep/kube/objects/job.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { sha1 } from '@lockstep/kube/runtime/adapters/sha1.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { waitFor } from '@lockstep/kube/runtime/informer/wait-for.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { JOBSETS, type JobSet } from '../../src/jobset/jobset.ts';
import { type Operator, startOperator } from '../../src/operator/operator.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { unlessGone } from '../fixtures/workloads.ts';
import { type ApiUnderTest, installJobSets, startApi } from './api-server.fixture.ts';
import { HUGE, jobSetOfJobs, storeOversized } from './oversized-jobset.fixture.ts';

const NAMES = ['huge', 'leaving', 'shrinking', 'many-pods'] as const;
const FINALIZER = 'test.example.com/hold';
const PORTS = { clock: nodeClock, random: systemRandom, logger: SILENT } as const;
const TIMEOUT_MS = 30_000;

let api: ApiUnderTest;
let client: Client;
let operator: Operator;

beforeAll(async () => {
  api = await startApi();
  ({ client } = api);
  await installJobSets(client);
  const held = { finalizers: [FINALIZER] };
  const replicatedJobs = [replicatedJob('w', 1_000_001)];
  await storeOversized(
    client,
    [
      jobSetOfJobs('huge', HUGE),
      jobSetOfJobs('leaving', HUGE, held),
      jobSetOfJobs('shrinking', HUGE),
      { ...jobSetOfJobs('many-pods', 1), spec: { replicatedJobs } },
    ],
    (what, isSo) => until(what, isSo),
  );
  // Its status has not been written yet.
  await client.delete(JOBSETS, at('leaving'));
  operator = await startOperator({ ...PORTS, client, sha1, config: { agentImage: 'agent' } });
});

afterAll(async () => {
  await operator.stop();
  await Promise.all(NAMES.map((name) => client.delete(JOBSETS, at(name)).catch(unlessGone)));
  await api.stop();
});

function at(name: string) {
  return { namespace: 'default', name };
}

function jobSetThat(name: string, condition: (jobSet: Stored<JobSet> | undefined) => boolean) {
  return waitFor(client, JOBSETS, at(name), condition, { ...PORTS, timeoutMs: TIMEOUT_MS });
}

function rejection(jobSet: Stored<JobSet> | undefined) {
  return jobSet?.status?.conditions?.find(({ type }) => type === 'Rejected');
}

it.each([
  ['huge', 'spec.replicatedJobs: Invalid value: 2000000000: the sum of replicas must not exceed'],
  ['many-pods', 'Invalid value: 1000001: the sum of replicas times parallelism must not exceed'],
])('says why it is rejected: %s', async (name, why) => {
  const jobSet = await jobSetThat(name, (one) => rejection(one)?.status === 'True');
  expect(rejection(jobSet)?.message).toContain(why);
  const { items } = await client.list(JOBS, { namespace: 'default' });
  expect(items.filter(({ metadata }) => metadata.name.startsWith(`${name}-`))).toEqual([]);
});

it.each([
  ['an annotation', { metadata: { annotations: { owner: 'me' } } }],
  ['a suspension', { spec: { suspend: true } }],
])('takes %s', async (_what, patch) => {
  const changed = await client.patch(JOBSETS, at('huge'), { type: 'merge', patch });
  expect(changed).toMatchObject(patch);
});

it('cannot grow', async () => {
  const patch = jobSetOfJobs('huge', HUGE + 1);
  await expect(
    client.patch(JOBSETS, at('huge'), { type: 'merge', patch: { spec: patch.spec } }),
  ).rejects.toThrow('the sum of replicas must not exceed 100000');
});

it('runs when it has shrunk', async () => {
  await jobSetThat('shrinking', (one) => rejection(one)?.status === 'True');
  const shrink = (replicas: number) => {
    const { spec } = jobSetOfJobs('shrinking', replicas);
    return client.patch(JOBSETS, at('shrinking'), { type: 'merge', patch: { spec } });
  };
  await shrink(HUGE - 1);
  await shrink(1);
  await jobSetThat('shrinking', (one) => rejection(one)?.status === 'False');
  await waitFor(client, JOBS, at('shrinking-w-0'), (job) => job !== undefined, {
    ...PORTS,
    timeoutMs: TIMEOUT_MS,
  });
});

it('can be deleted, and its finalizers can go', async () => {
  await jobSetThat('leaving', (one) => rejection(one)?.status === 'True');
  const patch = { metadata: { finalizers: null } };
  await client.patch(JOBSETS, at('leaving'), { type: 'merge', patch });
  await jobSetThat('leaving', (one) => one === undefined);
});
