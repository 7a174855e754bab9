/** Groups that a user takes out of the restart in place, and Pods that lose their group. */

import { JOBS } from '@lockstep/kube/objects/job.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DISABLE_IN_PLACE_RESTART } from '../../src/jobset/names.ts';
import { type GroupUnderTest, startedGroupUnderTest } from './group-under-test.fixture.ts';
import { CALM_MS, SUPERVISOR, THREE_WORKERS, WORKERS } from './three-workers.fixture.ts';

let group: GroupUnderTest;

beforeEach(async () => {
  group = await startedGroupUnderTest();
});

afterEach(() => group.stop());

function bypass(value: string | null): Promise<void> {
  return group.patch({ metadata: { annotations: { [DISABLE_IN_PLACE_RESTART]: value } } });
}

test('a running group that is taken out runs on, and continues from its epoch when it is back', async () => {
  await group.create(THREE_WORKERS, SUPERVISOR);
  await group.allIn(1, WORKERS);
  await bypass('true');
  await group.cluster.calm(CALM_MS);
  await bypass(null);
  await group.cluster.calm(CALM_MS);
  expect(group.starts).toHaveLength(WORKERS);
  expect((await group.jobSet()).status).toMatchObject({ deprecatedEpoch: 0, syncedEpoch: 1 });

  group.exit('w/1', 7);
  await group.allIn(2, WORKERS);
  expect((await group.jobSet()).status).toMatchObject({ inPlaceRestarts: 1 });
});

test('a group that began without barriers joins its first epoch without a restart', async () => {
  await group.create(THREE_WORKERS, { ...SUPERVISOR, [DISABLE_IN_PLACE_RESTART]: '' });
  await group.cluster.until(async () => group.running().size === WORKERS);
  expect((await group.jobSet()).status?.syncedEpoch ?? 0).toBe(0);
  await bypass(null);
  await group.until(({ syncedEpoch }) => syncedEpoch === 1);
  await group.cluster.calm(CALM_MS);
  expect(group.starts).toHaveLength(WORKERS);
  expect([...group.running().values()]).toEqual([1, 1, 1]);

  group.exit('w/1', 7);
  await group.allIn(2, WORKERS);
});

test('barriers open when the group is taken out in mid-restart', async () => {
  await group.create(THREE_WORKERS, SUPERVISOR);
  await group.allIn(1, WORKERS);
  await group.stopOperator();
  group.exit('w/1', 7);
  await group.cluster.calm(CALM_MS);
  expect(group.running().size).toBe(WORKERS - 1);
  await bypass('true');
  await group.cluster.until(async () => group.running().size === WORKERS);
});

test('Pods whose Job was deleted without them start no worker in a new epoch', async () => {
  await group.create(THREE_WORKERS, SUPERVISOR);
  await group.allIn(1, WORKERS);
  const orphans = new Set(group.starts.map(({ podUid }) => podUid));
  const at = { namespace: 'default', name: 'train-w-0' };
  await group.cluster.client.delete(JOBS, at, { propagationPolicy: 'Orphan' });
  await group.cluster.until(async () => {
    const running = group.starts.filter(({ epoch }) => epoch === 2);
    return running.length === WORKERS;
  });
  await group.cluster.calm(CALM_MS);
  const second = group.starts.filter(({ epoch }) => epoch > 1);
  expect(second).toHaveLength(WORKERS);
  expect(second.filter(({ podUid }) => orphans.has(podUid))).toEqual([]);
  expect([...group.running().values()]).toEqual([2, 2, 2]);
});
