/** Clients with upstream's types that write a whole status: what they drop comes back. */

import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { TransportError } from '@lockstep/kube/runtime/ports/transport.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { JOBSETS, type JobSetSpec } from '../../src/jobset/jobset.ts';
import type { JobSetStatus } from '../../src/jobset/jobset-status.ts';
import { STATUS_RESTORES_PER_HOUR } from '../../src/jobset/status/stripped-status.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { EXCEPTIONS } from '../kubernetes.ts';
import { GroupUnderTest } from './group-under-test.fixture.ts';

const WORKERS = 2;
const CALM_MS = 30_000;
const HOUR_MS = 3_600_000;
const SPEC: JobSetSpec = {
  replicatedJobs: [replicatedJob('w', WORKERS)],
  failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 1 },
  activeDeadlineSeconds: 86_400,
};

let group: GroupUnderTest;
beforeEach(async () => {
  group = new GroupUnderTest();
  await group.start();
  await group.startOperator();
  await group.create(SPEC);
  await group.allIn(1, WORKERS);
  // Not charged.
  await group.patch({ metadata: { annotations: { 'lockstep/restart-epoch': '1' } } });
  await group.allIn(2, WORKERS);
  await group.cluster.calm(CALM_MS);
});
afterEach(() => group.stop());

async function status(): Promise<JobSetStatus> {
  return (await group.jobSet()).status ?? {};
}

/** What upstream's types for Go read and write, and what upstream's definition keeps. */
function upstreams(whole: JobSetStatus = {}): JobSetStatus {
  const { conditions, restarts, restartsCountTowardsMax, replicatedJobsStatus = [] } = whole;
  const { previousInPlaceRestartAttempt, currentInPlaceRestartAttempt } = whole;
  return {
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
}

async function updateStatus(): Promise<void> {
  const jobSet = await group.jobSet();
  const next = { ...jobSet, status: upstreams(jobSet.status) };
  await group.cluster.client.update(JOBSETS, next, { subresource: 'status' });
}

/** Sees an API server that still prunes by an older definition than the one that it has stored. */
function pruning(client: Client, isBehind: () => boolean): Client {
  const update: Client['update'] = (resource, object, options) => {
    const isPruned = options?.subresource === 'status' && isBehind();
    const { status } = object as { readonly status?: JobSetStatus };
    return client.update(
      resource,
      isPruned ? { ...object, status: upstreams(status) } : object,
      options,
    );
  };
  return new Proxy(client, {
    get: (of, name) => {
      if (name === 'update') return update;
      const member: unknown = Reflect.get(of, name, of);
      return typeof member === 'function' ? member.bind(of) : member;
    },
  });
}

async function events(reason: string): Promise<number> {
  const told = (await group.events()).filter((event) => event.reason === reason);
  return told.reduce((sum, { series }) => sum + (series?.count ?? 1), 0);
}

test('charges, the history and the deadline come back, and the next failure is not the last', async () => {
  const before = await status();
  await updateStatus();
  await group.cluster.calm(CALM_MS);
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

test.skipIf(EXCEPTIONS.timeIsReal)(
  'a client that continues is given in to, and gets another chance an hour later',
  async () => {
    for (let time = 0; time <= STATUS_RESTORES_PER_HOUR; time++) {
      await updateStatus();
      await group.cluster.calm(CALM_MS);
    }
    expect(await events('StatusRestored')).toBe(STATUS_RESTORES_PER_HOUR);
    expect(await events('TakenOver')).toBe(1);
    const writes = group.operatorClient.writes.length;
    await group.cluster.calm(CALM_MS);
    expect(group.operatorClient.writes.slice(writes)).toEqual([]);
    await group.cluster.pass(HOUR_MS);
    const before = await status();
    await updateStatus();
    await group.cluster.calm(CALM_MS);
    expect(await status()).toEqual(before);
  },
);

test('writes that an API server loses for a while cost no chance', async () => {
  const before = await status();
  let losses = 2 * STATUS_RESTORES_PER_HOUR;
  group.operatorClient.beforeWrite = ({ what }) => {
    if (what !== 'update jobsets/status' || losses-- <= 0) return;
    throw new TransportError('lost', { code: 'ECONNRESET' });
  };
  await updateStatus();
  await group.cluster.until(async () => losses <= 0);
  await group.cluster.calm(CALM_MS);
  expect(losses).toBeLessThanOrEqual(0);
  expect(await status()).toEqual(before);
  expect(await events('TakenOver')).toBe(0);
});

test('an operator that begins after that cannot know what was there', async () => {
  await group.stopOperator();
  await updateStatus();
  await group.startOperator();
  await group.cluster.calm(CALM_MS);
  expect(await events('TakenOver')).toBe(1);
  expect(await status()).toMatchObject({ deprecatedEpoch: 1, inPlaceRestartsCountTowardsMax: 1 });
});

test('fields that an API server drops, as it does not serve its new definition yet, come a little later', async () => {
  await group.stopOperator();
  await updateStatus();
  let isBehind = true;
  group.asOperator = (client) => pruning(client, () => isBehind);
  await group.startOperator();
  await group.cluster.calm(CALM_MS);
  expect((await status()).deprecatedEpoch).toBeUndefined();
  const { length } = group.operatorClient.writes;
  expect(length).toBeLessThan(CALM_MS / 1000);
  isBehind = false;
  await group.until(({ deprecatedEpoch }) => deprecatedEpoch === 1);
  await group.cluster.calm(CALM_MS);
  expect(await status()).toMatchObject({ deprecatedEpoch: 1, inPlaceRestartsCountTowardsMax: 1 });
  const writes = group.operatorClient.writes.length;
  await group.cluster.calm(CALM_MS);
  expect(group.operatorClient.writes.slice(writes)).toEqual([]);
});

test.skipIf(EXCEPTIONS.timeIsReal)(
  'an API server that drops fields for ever is asked ever more seldom',
  async () => {
    await group.stopOperator();
    await updateStatus();
    group.asOperator = (client) => pruning(client, () => true);
    await group.startOperator();
    await group.cluster.pass(HOUR_MS);
    const writes = group.operatorClient.writes.length;
    await group.cluster.pass(HOUR_MS);
    expect(group.operatorClient.writes.length - writes).toBeLessThanOrEqual(7);
  },
);
