/** Clients with upstream's types that write a whole status: what they drop comes back. */

import { TransportError } from '@lockstep/kube/runtime/ports/transport.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { JOBSETS, type JobSetSpec } from '../../src/jobset/jobset.ts';
import type { JobSetStatus } from '../../src/jobset/jobset-status.ts';
import { STATUS_RESTORES_PER_HOUR } from '../../src/jobset/status/stripped-status.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { TrainingGroup } from './training-group.fixture.ts';

const WORKERS = 2;
const CALM_MS = 30_000;
const HOUR_MS = 3_600_000;
const SPEC: JobSetSpec = {
  replicatedJobs: [replicatedJob('w', WORKERS)],
  failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 1 },
  activeDeadlineSeconds: 86_400,
};

let group: TrainingGroup;
beforeEach(async () => {
  group = new TrainingGroup();
  await group.start();
  await group.startOperator();
  await group.create(SPEC);
  await group.allIn(1, WORKERS);
  // Not charged.
  await group.patch({ metadata: { annotations: { 'lockstep/restart-epoch': '1' } } });
  await group.allIn(2, WORKERS);
  await group.cluster.clock.advance(CALM_MS);
});
afterEach(() => group.stop());

async function status(): Promise<JobSetStatus> {
  return (await group.jobSet()).status ?? {};
}

/** What upstream's types for Go read and write. */
async function updateStatus(): Promise<void> {
  const { status: whole = {}, ...jobSet } = await group.jobSet();
  const { conditions, restarts, restartsCountTowardsMax, replicatedJobsStatus = [] } = whole;
  const { previousInPlaceRestartAttempt, currentInPlaceRestartAttempt } = whole;
  const written = {
    conditions,
    restarts,
    restartsCountTowardsMax,
    replicatedJobsStatus: replicatedJobsStatus.map(
      ({ name, ready, succeeded, failed, active, suspended }) => {
        return { name, ready, succeeded, failed, active, suspended };
      },
    ),
    previousInPlaceRestartAttempt,
    currentInPlaceRestartAttempt,
  } as JobSetStatus;
  const next = { ...jobSet, status: written };
  await group.cluster.client.update(JOBSETS, next, { subresource: 'status' });
}

async function events(reason: string): Promise<number> {
  const told = (await group.events()).filter((event) => event.reason === reason);
  return told.reduce((sum, { series }) => sum + (series?.count ?? 1), 0);
}

test('charges, the history and the deadline come back, and the next failure is not the last', async () => {
  const before = await status();
  await updateStatus();
  await group.cluster.clock.advance(CALM_MS);
  expect(await status()).toEqual(before);
  expect(before).toMatchObject({ deprecatedEpoch: 1, inPlaceRestartsCountTowardsMax: 0 });
  expect(await events('StatusRestored')).toBe(1);
  expect(await events('TakenOver')).toBe(0);
  group.exit('w/1', 7);
  await group.allIn(3, WORKERS);
  expect(await status()).toMatchObject({
    inPlaceRestarts: 1,
    inPlaceRestartsCountTowardsMax: 1,
    startTime: before.startTime,
  });
});

test('a client that continues is given in to, and gets another chance an hour later', async () => {
  for (let time = 0; time <= STATUS_RESTORES_PER_HOUR; time++) {
    await updateStatus();
    await group.cluster.clock.advance(CALM_MS);
  }
  expect(await events('StatusRestored')).toBe(STATUS_RESTORES_PER_HOUR);
  expect(await events('TakenOver')).toBe(1);
  const writes = group.operatorClient.writes.length;
  await group.cluster.clock.advance(CALM_MS);
  expect(group.operatorClient.writes.slice(writes)).toEqual([]);
  await group.cluster.clock.advance(HOUR_MS);
  const before = await status();
  await updateStatus();
  await group.cluster.clock.advance(CALM_MS);
  expect(await status()).toEqual(before);
});

test('writes that an API server loses for a while cost no chance', async () => {
  const before = await status();
  let losses = 2 * STATUS_RESTORES_PER_HOUR;
  group.operatorClient.beforeWrite = ({ what }) => {
    if (what !== 'update jobsets/status' || losses-- <= 0) return;
    throw new TransportError('lost', { code: 'ECONNRESET' });
  };
  await updateStatus();
  await group.cluster.clock.advance(2 * CALM_MS);
  expect(losses).toBeLessThanOrEqual(0);
  expect(await status()).toEqual(before);
  expect(await events('TakenOver')).toBe(0);
});

test('an operator that begins after that cannot know what was there', async () => {
  await group.stopOperator();
  await updateStatus();
  await group.startOperator();
  await group.cluster.clock.advance(CALM_MS);
  expect(await events('TakenOver')).toBe(1);
  expect(await status()).toMatchObject({ deprecatedEpoch: 1, inPlaceRestartsCountTowardsMax: 1 });
});
