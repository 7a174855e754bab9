import { SERVICES } from '@lockstep/kube/objects/core.ts';
import type { JobSpec } from '@lockstep/kube/objects/job.ts';
import { JOBS } from '@lockstep/kube/objects/job.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { type GroupUnderTest, startedGroupUnderTest } from './group-under-test.fixture.ts';
import { CALM_MS, SUPERVISOR } from './three-workers.fixture.ts';

let group: GroupUnderTest;

beforeEach(async () => {
  group = await startedGroupUnderTest();
});

afterEach(() => group.stop());

/** A ReplicatedJob whose Jobs fail with their first Pod. */
function fragile(name: string, pods: number, replicas = 1) {
  const base = replicatedJob(name, pods, replicas);
  const { spec } = base.template;
  const template = { spec: { ...spec.template.spec, restartPolicy: 'Never' as const } };
  const job: JobSpec = { ...spec, backoffLimit: 0, template };
  return { ...base, template: { spec: job } };
}

async function jobs(): Promise<ReadonlyMap<string, string>> {
  const { items } = await group.cluster.client.list(JOBS, { namespace: 'default' });
  return new Map(items.map(({ metadata }) => [metadata.name, metadata.uid]));
}

describe.each(['Recreate', 'BlockingRecreate'] as const)('%s', (restartStrategy) => {
  const spec = {
    replicatedJobs: [fragile('w', 1, 2)],
    failurePolicy: { restartStrategy, maxRestarts: 1 },
  };

  test('recreates all Jobs for one failure, and fails at the second', async () => {
    await group.create(spec);
    await group.cluster.until(async () => group.running().size > 0 && (await jobs()).size === 2);
    await group.cluster.running(2);
    const before = await jobs();
    await group.finish('w/0', 1);
    await group.until(({ restarts }) => restarts === 1);
    await group.cluster.until(async () => {
      const now = await jobs();
      return now.size === 2 && [...now].every(([name, uid]) => before.get(name) !== uid);
    });
    await group.cluster.running(2);
    expect((await group.jobSet()).status).toMatchObject({
      restarts: 1,
      restartsCountTowardsMax: 1,
    });

    await group.finish('w/0', 1);
    await group.until(({ terminalState }) => terminalState === 'Failed');
    const { status } = await group.jobSet();
    const failed = status?.conditions?.find(({ type }) => type === 'Failed');
    expect(failed?.reason).toBe('ReachedMaxRestarts');
    expect(failed?.message).toMatch(/\(first failed job: train-w-[01]\)$/);
    expect(status?.deprecatedEpoch, 'has no epochs').toBeUndefined();
  });
});

test('BlockingRecreate makes no Job before all of the last attempt are gone', async () => {
  await group.create({
    replicatedJobs: [fragile('w', 1, 3)],
    failurePolicy: { restartStrategy: 'BlockingRecreate', maxRestarts: 1 },
  });
  await group.cluster.running(3);
  await group.cluster.calm(CALM_MS);
  const { writes } = group.operatorClient;
  const before = writes.length;
  await group.finish('w/0', 1);
  await group.until(({ restarts }) => restarts === 1);
  await group.cluster.running(3);
  const since = writes.slice(before).map(({ what }) => what);
  const creations = since.indexOf('create jobs');
  expect(since.slice(0, creations).filter((what) => what === 'delete jobs')).toHaveLength(3);
  expect(since.slice(creations).filter((what) => what === 'delete jobs')).toEqual([]);
});

test('a JobSet without failure policy fails with its first Job', async () => {
  await group.create({ replicatedJobs: [fragile('w', 1)] });
  await group.cluster.running(1);
  await group.finish('w/0', 1);
  await group.until(({ terminalState }) => terminalState === 'Failed');
  const { status } = await group.jobSet();
  expect(
    status?.conditions?.map(({ type, status: is, reason }) => `${type}=${is} ${reason}`),
  ).toEqual(['Ready=False Failed', 'Failed=True FailedJobs', 'Stalled=True Failed']);
});

test('success completes the JobSet, and Jobs that still run are ended', async () => {
  await group.create({
    replicatedJobs: [replicatedJob('driver'), replicatedJob('w', 2)],
    successPolicy: { operator: 'All', targetReplicatedJobs: ['driver'] },
  });
  await group.cluster.running(3);
  await group.finish('driver/0', 0);
  await group.until(({ terminalState }) => terminalState === 'Completed');
  await group.cluster.until(async () => !(await jobs()).has('train-w-0'));
  expect([...(await jobs()).keys()]).toEqual(['train-driver-0']);
  await group.untilTold('AllJobsCompleted');
});

test('the headless Service is made, and made again if it is deleted', async () => {
  await group.create({ replicatedJobs: [replicatedJob('w')] });
  await group.cluster.running(1);
  const at = { namespace: 'default', name: 'train' };
  expect((await group.cluster.client.get(SERVICES, at)).spec).toMatchObject({
    clusterIP: 'None',
    selector: { 'jobset.sigs.k8s.io/jobset-name': 'train' },
  });
  await group.cluster.client.delete(SERVICES, at);
  await group.cluster.until(() => group.cluster.exists(SERVICES, 'train'));
});

describe('suspend', () => {
  const spec = {
    replicatedJobs: [replicatedJob('w', 2)],
    failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 0 },
  } as const;

  test('makes no Pods until it is resumed', async () => {
    await group.create({ ...spec, suspend: true }, SUPERVISOR);
    await group.until(({ conditions }) => conditions?.some(isTrue('Suspended')) ?? false);
    await group.cluster.calm(CALM_MS);
    expect(await group.cluster.pods()).toEqual([]);
    await group.patch({ spec: { suspend: false } });
    await group.allIn(1, 2);
    const { status } = await group.jobSet();
    expect(status).toMatchObject({ deprecatedEpoch: 0, syncedEpoch: 1 });
    expect(status?.conditions?.some(isTrue('Suspended'))).toBe(false);
  });

  test('ends a running epoch at no charge when it is resumed', async () => {
    await group.create(spec, SUPERVISOR);
    await group.allIn(1, 2);
    await group.patch({ spec: { suspend: true } });
    await group.cluster.until(async () => (await group.cluster.pods()).length === 0);
    await group.until(({ conditions }) => conditions?.some(isTrue('Suspended')) ?? false);
    expect((await group.jobSet()).status?.deprecatedEpoch).toBe(0);

    await group.patch({ spec: { suspend: false } });
    await group.allIn(2, 2);
    expect((await group.jobSet()).status).toMatchObject({
      deprecatedEpoch: 1,
      syncedEpoch: 2,
      inPlaceRestartsCountTowardsMax: 0,
      restartHistory: [{ cause: 'Resumed', counted: false }],
    });
  });

  test('says why Jobs stay suspended whose new resources the API server refuses', async () => {
    const asking = (name: string) => {
      const job = replicatedJob('w', 2);
      const template = job.template.spec.template;
      const containers = template.spec.containers.map((container) => ({
        ...container,
        resources: { limits: { [name]: '1' } },
      }));
      const pods = { ...template, spec: { ...template.spec, containers } };
      return [{ ...job, template: { spec: { ...job.template.spec, template: pods } } }];
    };
    const refused = async () => {
      const { conditions = [] } = (await group.jobSet()).status ?? {};
      return conditions.find(({ type }) => type === 'JobsRefused');
    };
    await group.create({ ...spec, suspend: true }, SUPERVISOR);
    await group.cluster.until(async () => (await jobs()).size === 1);
    await group.patch({ spec: { suspend: false, replicatedJobs: asking('gpu') } });
    await group.cluster.until(async () => (await refused())?.status === 'True');
    expect(await refused()).toMatchObject({
      reason: 'ResumeFailed',
      message: expect.stringContaining('resources.limits[gpu]: Invalid value'),
    });

    await group.patch({ spec: { suspend: true, replicatedJobs: [replicatedJob('w', 2)] } });
    await group.cluster.until(async () => (await refused())?.status === 'False');
    await group.patch({ spec: { suspend: false } });
    await group.allIn(1, 2);
  });
});

test('a Job that fails in a group that restarts in place recreates all Jobs in the next epoch', async () => {
  const limited = replicatedJob('short');
  const { spec } = limited.template;
  await group.create(
    {
      replicatedJobs: [
        replicatedJob('w', 2),
        { ...limited, template: { spec: { ...spec, activeDeadlineSeconds: 30 } } },
      ],
      failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 1 },
    },
    SUPERVISOR,
  );
  await group.allIn(1, 3);
  const before = await jobs();
  await group.until(({ restarts }) => restarts === 1);
  await group.allIn(2, 3);
  for (const [name, uid] of await jobs()) expect(uid).not.toBe(before.get(name));
  expect((await group.jobSet()).status).toMatchObject({
    deprecatedEpoch: 1,
    syncedEpoch: 2,
    restartsCountTowardsMax: 1,
    inPlaceRestartsCountTowardsMax: 0,
    restartHistory: [{ epoch: 1, cause: 'JobsRecreated', counted: true }],
  });
});

test('what cannot be right is said to be so, and works when it is put right', async () => {
  await group.create({ replicatedJobs: [replicatedJob('w')] }, { 'lockstep/restart-mode': 'Fast' });
  await group.until(({ conditions }) => conditions?.some(isTrue('Rejected')) ?? false);
  expect(await jobs()).toEqual(new Map());
  await group.patch({ metadata: { annotations: { 'lockstep/restart-mode': 'Sidecar' } } });
  await group.cluster.running(1);
});

function isTrue(of: string): (condition: { type: string; status: string }) => boolean {
  return ({ type, status }) => type === of && status === 'True';
}
