/**
 * JobSets change hands between upstream's controller and ours, in both directions. Jobs, Pods and
 * Services stay, counts continue, and if both may act they do not fight
 * (docs/migrating-from-upstream.md).
 */

import type { Condition, Stored } from '@lockstep/kube/meta.ts';
import { SERVICES } from '@lockstep/kube/objects/core.ts';
import { JOBS, type Job } from '@lockstep/kube/objects/job.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobSetSpec } from '../../src/jobset/jobset.ts';
import { MANAGED_BY_JOBSET, MANAGED_BY_LOCKSTEP, RESTART_ATTEMPT } from '../../src/jobset/names.ts';
import { FOR_TOOLS } from '../../src/jobset/status/conditions.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { TrainingGroup } from './training-group.fixture.ts';
import { UpstreamsJobs } from './upstream-jobs.fixture.ts';

/** Long enough for every delayed action. */
const CALM_MS = 10_000;
/** A handover that needs more passes goes round in circles. */
const MAX_PASSES = 20;

/** A driver and two workers; each Job has one Pod and fails with it. */
const SPEC: JobSetSpec = {
  replicatedJobs: [failingAtOnce('driver', 1), failingAtOnce('worker', 2)],
  failurePolicy: { maxRestarts: 2 },
};

function failingAtOnce(name: string, replicas: number) {
  const { template, ...others } = replicatedJob(name, 1, replicas);
  const pod = template.spec.template;
  const spec = {
    ...template.spec,
    backoffLimit: 0,
    template: { spec: { ...pod.spec, restartPolicy: 'Never' as const } },
  };
  return { ...others, template: { spec } };
}

let group: TrainingGroup;
let upstream: UpstreamsJobs;

function upstreamAs(manager?: string): UpstreamsJobs {
  const { client, clock } = group.cluster;
  const as = manager === undefined ? {} : { manager };
  return new UpstreamsJobs({ client, clock, jobSetName: 'train', ...as });
}

/** Passes of upstream's controller, with time between them, until it has nothing to do. */
async function upstreamActs(controller: UpstreamsJobs = upstream): Promise<void> {
  const writes: string[] = [];
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const done = await controller.pass().catch(refusal);
    if (done.length === 0) return;
    writes.push(...done);
    await calm();
  }
  throw new Error(`upstream's controller does not come to rest: ${writes.join(', ')}`);
}

/** Another writer was faster: a pass fails, and the next one sees the change. */
function refusal(error: unknown): readonly string[] {
  if (!isReason(error, 'AlreadyExists', 'Conflict')) throw error;
  return ['refused'];
}

async function calm(): Promise<void> {
  await group.cluster.clock.advance(CALM_MS);
}

async function jobs(): Promise<readonly Stored<Job>[]> {
  const { items } = await group.cluster.client.list(JOBS, { namespace: 'default' });
  return items.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

/** Everything that a handover must leave as it is. */
async function belongings(): Promise<object> {
  const { items: services } = await group.cluster.client.list(SERVICES, { namespace: 'default' });
  const pods = await group.cluster.pods();
  return {
    jobs: (await jobs()).map(({ metadata, spec }) => ({
      uid: metadata.uid,
      generation: metadata.generation,
      labels: metadata.labels,
      owners: metadata.ownerReferences,
      spec,
    })),
    services: services.map(({ metadata }) => [metadata.name, metadata.uid]),
    pods: pods.map(({ metadata }) => metadata.uid),
  };
}

async function finishPodOf(job: string, exitCode: number): Promise<void> {
  const pods = await group.cluster.pods();
  const pod = pods.find(
    ({ metadata, status }) => metadata.name.startsWith(`${job}-0-`) && status?.phase === 'Running',
  );
  if (pod === undefined) throw new Error(`no Pod of Job ${job} runs`);
  await group.cluster.finish(pod, exitCode);
  await calm();
}

/** The attempts in the labels of all Jobs. */
async function attempts(): Promise<readonly (string | undefined)[]> {
  return (await jobs()).map(({ metadata }) => metadata.labels?.[RESTART_ATTEMPT]);
}

/** One of the controllers, as the tests below see it. */
interface Controller {
  readonly name: string;
  takeOver(): Promise<void>;
  /** Acts until it has nothing to do. */
  act(): Promise<void>;
  leave(): Promise<void>;
}

const OURS: Controller = {
  name: 'ours',
  takeOver: () => group.startOperator(),
  act: calm,
  leave: () => group.stopOperator(),
};
const UPSTREAMS: Controller = {
  name: "upstream's",
  takeOver: () => Promise.resolve(),
  act: () => upstreamActs(),
  leave: () => Promise.resolve(),
};

beforeEach(async () => {
  group = new TrainingGroup();
  await group.start();
  await group.stopOperator();
  upstream = upstreamAs();
});
afterEach(() => group.stop());

describe.each([
  { from: UPSTREAMS, to: OURS },
  { from: OURS, to: UPSTREAMS },
])('a JobSet that goes from $from.name controller to $to.name', ({ from, to }) => {
  async function begin(spec: JobSetSpec = SPEC): Promise<void> {
    await from.takeOver();
    await group.create(spec);
    await from.act();
  }

  async function handOver(): Promise<void> {
    await from.act();
    await from.leave();
    await to.takeOver();
    await to.act();
  }

  it('keeps its Jobs, its Pods and its Service', async () => {
    await begin();
    await group.cluster.running(3);
    await from.act();
    const before = await belongings();
    await handOver();
    expect(await belongings()).toEqual(before);
    expect((await group.jobSet()).status).toMatchObject({
      restarts: 0,
      replicatedJobsStatus: [
        { name: 'worker', ready: 2, active: 2, failed: 0 },
        { name: 'driver', ready: 1, active: 1, failed: 0 },
      ],
    });
  });

  it('has used up what it had used up', async () => {
    await begin();
    await finishPodOf('train-worker-1', 1);
    await from.act();
    expect(await attempts()).toEqual(['1', '1', '1']);
    await handOver();
    const { status } = await group.jobSet();
    expect(status).toMatchObject({ restarts: 1, restartsCountTowardsMax: 1 });
    expect(await attempts(), 'one restart, not two').toEqual(['1', '1', '1']);

    await finishPodOf('train-driver-0', 1);
    await to.act();
    expect(await attempts()).toEqual(['2', '2', '2']);
    await finishPodOf('train-worker-0', 1);
    await to.act();
    const { conditions, ...end } = (await group.jobSet()).status ?? {};
    expect(end).toMatchObject({ terminalState: 'Failed', restarts: 2 });
    expect(conditions).toContainEqual(
      expect.objectContaining({ type: 'Failed', status: 'True', reason: 'ReachedMaxRestarts' }),
    );
  });

  it('counts the Jobs that had succeeded', async () => {
    await begin();
    await finishPodOf('train-worker-0', 0);
    await handOver();
    await finishPodOf('train-worker-1', 0);
    await finishPodOf('train-driver-0', 0);
    await to.act();
    expect((await group.jobSet()).status).toMatchObject({
      terminalState: 'Completed',
      restarts: 0,
    });
    expect(await jobs()).toHaveLength(3);
  });

  it('stays finished', async () => {
    await begin({ ...SPEC, failurePolicy: { maxRestarts: 0 } });
    await finishPodOf('train-driver-0', 3);
    await from.act();
    const before = await group.jobSet();
    expect(before.status?.terminalState).toBe('Failed');
    const left = await belongings();
    await handOver();
    const { status } = await group.jobSet();
    const forPeople = ({ type }: Condition): boolean => !FOR_TOOLS.includes(type);
    expect(status?.conditions?.filter(forPeople)).toEqual(
      before.status?.conditions?.filter(forPeople),
    );
    expect(await belongings()).toEqual(left);
  });

  it('may go back again', async () => {
    await begin();
    const before = await belongings();
    await handOver();
    await to.leave();
    await from.takeOver();
    await from.act();
    expect(await belongings()).toEqual(before);
  });
});

it('a restart that upstream’s controller has only begun is finished by ours', async () => {
  await group.create(SPEC);
  await upstreamActs();
  await finishPodOf('train-worker-1', 1);
  // It writes that all Jobs belong to the past, and is gone before it deletes one.
  expect(await upstream.pass()).toEqual(['status']);
  await group.startOperator();
  await calm();
  expect(await attempts()).toEqual(['1', '1', '1']);
  expect((await group.jobSet()).status).toMatchObject({ restarts: 1, restartsCountTowardsMax: 1 });
  await group.cluster.running(3);
});

describe('two controllers', () => {
  it('leave each other what `managedBy` says', async () => {
    const other = upstreamAs('example.com/other');
    await group.startOperator();
    await group.create({ ...SPEC, managedBy: 'example.com/other' });
    await upstreamActs(other);
    await group.cluster.running(3);
    await finishPodOf('train-worker-1', 1);
    await upstreamActs(other);
    await calm();
    expect(group.operatorClient.writes).toEqual([]);
    expect((await group.jobSet()).status).toMatchObject({ restarts: 1 });
    expect(await upstream.pass(), 'nor does the one that is not meant').toEqual([]);
  });

  it('that both run on purpose act each on their own JobSets', async () => {
    group.onlyManaged = true;
    await group.startOperator();
    await group.create({ ...SPEC, managedBy: MANAGED_BY_LOCKSTEP }, {}, 'ours');
    await group.create(SPEC);
    await group.create({ ...SPEC, managedBy: MANAGED_BY_JOBSET }, {}, 'named');
    await calm();
    await group.cluster.running(3);
    const owned = (await jobs()).map(({ metadata }) => metadata.name);
    expect(owned).toEqual(['ours-driver-0', 'ours-worker-0', 'ours-worker-1']);

    const before = group.operatorClient.writes.length;
    await upstreamActs();
    await group.cluster.running(6);
    await finishPodOf('train-worker-1', 1);
    await upstreamActs();
    await calm();
    expect(group.operatorClient.writes.slice(before)).toEqual([]);
    expect((await group.jobSet()).status).toMatchObject({ restarts: 1 });
    expect((await group.jobSet('named')).status).not.toHaveProperty('restarts');

    await finishPodOf('ours-worker-1', 1);
    expect((await group.jobSet('ours')).status).toMatchObject({ restarts: 1 });
    const { client, clock } = group.cluster;
    const theirs = new UpstreamsJobs({ client, clock, jobSetName: 'ours' });
    expect(await theirs.pass(), 'nor does upstream touch ours').toEqual([]);
  });

  it('that both run by mistake make nothing twice, charge once and come to rest', async () => {
    await group.startOperator();
    await group.create(SPEC);
    await upstreamActs();
    await group.cluster.running(3);
    await calm();
    await finishPodOf('train-worker-1', 1);
    await upstreamActs();
    await calm();
    expect(await attempts()).toEqual(['1', '1', '1']);
    expect((await group.jobSet()).status).toMatchObject({
      restarts: 1,
      restartsCountTowardsMax: 1,
    });
    const before = group.operatorClient.writes.length;
    expect(await upstream.pass()).toEqual([]);
    await calm();
    expect(group.operatorClient.writes.slice(before)).toEqual([]);
  });
});
