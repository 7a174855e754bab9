/**
 * JobSets change hands between the controller of kubernetes-sigs/jobset and ours, in both
 * directions, each under its own definition. Jobs, Pods and Services stay, counts continue, and if
 * both may act they do not fight (docs/migrating-from-upstream.md).
 */
import type { Condition } from '@lockstep/kube/meta.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MANAGED_BY_JOBSET, MANAGED_BY_LOCKSTEP, RESTART_ATTEMPT } from '../../src/jobset/names.ts';
import { JOBSET_CRD } from '../../src/jobset/schema/crd.ts';
import { FOR_TOOLS } from '../../src/jobset/status/conditions.ts';
import { removeWorkloads } from '../fixtures/workloads.ts';
import { ClusterInBadWeather } from '../integration/bad-weather.fixture.ts';
import { controllersOf } from './controllers.fixture.ts';
import { applyDefinition } from './neighbour.fixture.ts';
import { ToldJobs } from './told-jobs.fixture.ts';

/** As API servers call it after its program. */
const UPSTREAMS_CLIENT = 'jobset';

const cluster = new ClusterInBadWeather();
const controllers = controllersOf(cluster);
const { ours: OURS, upstreams: UPSTREAMS } = controllers;
let group: ToldJobs;
let count = 0;

beforeAll(() => cluster.start());
afterAll(async () => {
  await applyDefinition(cluster.client, JOBSET_CRD);
  await cluster.stop();
});
beforeEach(() => {
  group = new ToldJobs(`train-${count++}`, cluster.client, cluster.state.path);
});
afterEach(async () => {
  await controllers.leave();
  await removeWorkloads(cluster.client);
});

async function attempts(): Promise<readonly (string | undefined)[]> {
  return (await group.jobs()).map(({ metadata }) => metadata.labels?.[RESTART_ATTEMPT]);
}

const forPeople = ({ type }: Condition): boolean => !FOR_TOOLS.includes(type);

describe.each([
  { from: UPSTREAMS, to: OURS },
  { from: OURS, to: UPSTREAMS },
])('a JobSet that goes from $from.name controller to $to.name', ({ from, to }) => {
  async function begin(maxRestarts = 2): Promise<void> {
    await from.takeOver();
    await group.create({ failurePolicy: { maxRestarts } });
    await group.running();
    await group.rest();
  }

  async function handOver(): Promise<void> {
    await from.leave();
    await to.takeOver();
    await group.rest();
  }

  it('keeps its Jobs, its Pods and its Service, also when it goes back', async () => {
    await begin();
    const before = await group.belongings();
    await handOver();
    expect(await group.belongings()).toEqual(before);
    const { status } = await group.jobSet();
    expect(status).toMatchObject({
      restarts: 0,
      replicatedJobsStatus: expect.arrayContaining([
        expect.objectContaining({ name: 'worker', ready: 2, active: 2, failed: 0 }),
        expect.objectContaining({ name: 'driver', ready: 1, active: 1, failed: 0 }),
      ]),
    });
    await to.leave();
    await from.takeOver();
    await group.rest();
    expect(await group.belongings()).toEqual(before);
  });

  it('has used up what it had used up', async () => {
    await begin();
    await group.finish('worker-1', 1);
    await group.running(1);
    await group.rest();
    await handOver();
    const { status } = await group.jobSet();
    expect(status).toMatchObject({ restarts: 1, restartsCountTowardsMax: 1 });
    expect(await attempts(), 'one restart, not two').toEqual(['1', '1', '1']);

    await group.finish('driver-0', 1);
    await group.running(2);
    await group.finish('worker-0', 1);
    await group.until('it has failed', ({ status: end }) => {
      expect(end).toMatchObject({ terminalState: 'Failed', restarts: 2 });
      expect(end?.conditions).toContainEqual(
        expect.objectContaining({ type: 'Failed', status: 'True', reason: 'ReachedMaxRestarts' }),
      );
    });
  });

  it('counts the Jobs that had succeeded', async () => {
    await begin();
    await group.finish('worker-0', 0);
    await group.until('one has succeeded', ({ status }) =>
      expect(status?.replicatedJobsStatus).toContainEqual(
        expect.objectContaining({ name: 'worker', succeeded: 1 }),
      ),
    );
    await handOver();
    await group.finish('worker-1', 0);
    await group.finish('driver-0', 0);
    await group.until('it is complete', ({ status }) =>
      expect(status).toMatchObject({ terminalState: 'Completed', restarts: 0 }),
    );
    expect(await group.jobs()).toHaveLength(3);
  });

  it('stays finished', async () => {
    await begin(0);
    await group.finish('driver-0', 3);
    await group.until('it has failed', ({ status }) =>
      expect(status).toMatchObject({ terminalState: 'Failed' }),
    );
    await group.rest();
    const before = await group.jobSet();
    const left = await group.belongings();
    await handOver();
    const { status } = await group.jobSet();
    expect(status?.terminalState).toBe('Failed');
    expect(status?.conditions?.filter(forPeople)).toEqual(
      before.status?.conditions?.filter(forPeople),
    );
    expect(await group.belongings()).toEqual(left);
  });

  it('finishes a restart that had begun, and charges it once', async () => {
    await begin();
    await group.finish('worker-1', 1);
    await until('it is counted', async () =>
      expect((await group.jobSet()).status?.restarts).toBe(1),
    );
    await from.leave();
    await to.takeOver();
    await group.running(1);
    await group.rest();
    expect((await group.jobSet()).status).toMatchObject({
      restarts: 1,
      restartsCountTowardsMax: 1,
    });
  });
});

describe('a pilot beside upstream’s controller, under its definition', () => {
  beforeEach(async () => {
    await UPSTREAMS.takeOver();
    await controllers.pilot.takeOver();
  });

  it('leaves each controller its own JobSets', async () => {
    const named = new ToldJobs(`${group.name}-named`, cluster.client, cluster.state.path);
    const ours = new ToldJobs(`${group.name}-ours`, cluster.client, cluster.state.path);
    await group.create();
    await named.create({ managedBy: MANAGED_BY_JOBSET });
    await ours.create({ managedBy: MANAGED_BY_LOCKSTEP });
    for (const each of [group, named, ours]) await each.running();
    await ours.finish('worker-1', 1);
    await group.finish('worker-1', 1);
    await ours.running(1);
    await group.running(1);
    for (const each of [group, named, ours]) await each.rest();
    for (const each of [group, ours]) {
      expect((await each.jobSet()).status).toMatchObject({ restarts: 1 });
    }
    expect(await group.writers()).toEqual([UPSTREAMS_CLIENT]);
    expect(await named.writers()).toEqual([UPSTREAMS_CLIENT]);
    expect(await ours.writers()).not.toContain(UPSTREAMS_CLIENT);
  });
});

it('a JobSet that names a third controller is touched by none', async () => {
  await UPSTREAMS.takeOver();
  await OURS.takeOver();
  await group.create({ managedBy: 'example.com/other' });
  await group.rest();
  expect(await group.jobs()).toEqual([]);
  expect(await group.writers()).toEqual([]);
});

it('both controllers by mistake make nothing twice, charge once and come to rest', async () => {
  await UPSTREAMS.takeOver();
  await OURS.takeOver();
  await group.create();
  await group.running();
  await group.rest();
  await group.finish('worker-1', 1);
  await group.running(1);
  await group.rest();
  expect(await attempts()).toEqual(['1', '1', '1']);
  expect((await group.jobSet()).status).toMatchObject({
    restarts: 1,
    restartsCountTowardsMax: 1,
  });
});
