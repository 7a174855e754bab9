/** Groups in queues of the real Kueue: quota, priority, flavors, topology and its own stops. */
import { NODES } from '@lockstep/kube/objects/node.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { Mode, WorkerGroup } from '../../src/bench/worker-group.ts';
import { WorkerGroup as Group } from '../../src/bench/worker-group.ts';
import { JOBSETS, type JobSet } from '../../src/jobset/jobset.ts';
import { ClusterInBadWeather } from '../integration/bad-weather.fixture.ts';
import { Lockstep } from './lockstep.fixture.ts';
import { Neighbour } from './neighbour.fixture.ts';
import { Queues, queued, withPod } from './queues.fixture.ts';

const SIZE = 3;
const POOL = 'example.com/pool';

const cluster = new ClusterInBadWeather();
let kueue: Neighbour;
let lockstep: Lockstep;
let queues: Queues;
const groups = new Set<WorkerGroup>();

beforeAll(async () => {
  await cluster.start();
  const { client, state } = cluster;
  lockstep = await Lockstep.start(cluster);
  kueue = await Neighbour.start('kueue', { client, directory: state.path });
  queues = new Queues(client);
  const pool = { metadata: { labels: { [POOL]: 'a' } } };
  await client.patch(NODES, { name: 'weather-0' }, { type: 'merge', patch: pool });
  await queues.make('WorkloadPriorityClass', 'urgent', { value: 1000 });
  await queues.make('ResourceFlavor', 'default', {});
  await queues.makeQueue('team', [['default', SIZE]]);
});
afterEach(async () => {
  for (const each of groups) await each.remove();
  groups.clear();
});
afterAll(async () => {
  await queues?.remove();
  await kueue?.stop();
  await lockstep?.stop();
  await cluster.stop();
});

async function start(
  name: string,
  edit: (jobSet: JobSet) => JobSet = queued('team'),
  options: { mode?: Mode; size?: number; maxRestarts?: number } = {},
): Promise<WorkerGroup> {
  const { client, state } = cluster;
  const group = await Group.start({
    client,
    directory: state.path,
    name,
    mode: 'Supervisor',
    size: SIZE,
    edit,
    ...options,
  });
  groups.add(group);
  return group;
}

function podUids(group: WorkerGroup): readonly string[] {
  return group.livePods().map(({ metadata }) => metadata.uid);
}

it.each<Mode>(['Supervisor', 'Sidecar'])(
  'a group in %s mode keeps its quota when it restarts in place',
  async (mode) => {
    const group = await start(mode.toLowerCase(), queued('team'), { mode });
    await group.running(1);
    const before = await queues.condition(group.name, 'Admitted');
    const uids = podUids(group);
    group.kill(1);
    await group.running(2);
    expect(podUids(group)).toEqual(uids);
    expect(await queues.condition(group.name, 'Admitted')).toEqual(before);
    expect(before).toMatchObject({ status: 'True' });
  },
);

it('a group waits for its quota without Pods, and gives way to an urgent one', async () => {
  const train = await start('train');
  await train.running(1);
  const later = await start('later');
  await queues.until('later', 'QuotaReserved', 'False');
  expect(later.livePods()).toEqual([]);
  const urgent = await start('urgent', queued('team', { priority: 'urgent' }));
  await urgent.running(1);
  await queues.until('train', 'Evicted', 'True', 'Preempted');
  await until('its Pods are gone', () => expect(train.livePods()).toEqual([]));
  await urgent.remove();
  groups.delete(urgent);
  // The one that ran is older than the one that waits.
  await train.running(2, 2 * SIZE);
  expect(train.status.restartHistory).toMatchObject([{ cause: 'Resumed', counted: false }]);
  expect(train.status).toMatchObject({ inPlaceRestarts: 0, restarts: 0 });
  await train.remove();
  groups.delete(train);
  await later.running(1);
});

it('a group is paused and resumed by its workload', async () => {
  const group = await start('paused');
  await group.running(1);
  await queues.setActive(group.name, false);
  await until('its Pods are gone', () => expect(group.livePods()).toEqual([]));
  await queues.setActive(group.name, true);
  await group.running(2);
  expect(group.status).toMatchObject({ inPlaceRestarts: 0, restarts: 0 });
});

it('a group that has spent its restarts finishes its workload with our message', async () => {
  const group = await start('spent', queued('team'), { maxRestarts: 1 });
  await group.running(1);
  group.kill(1);
  await group.running(2);
  group.kill(1);
  await queues.until(group.name, 'Finished', 'True');
  expect(await queues.condition(group.name, 'Finished')).toMatchObject({
    reason: 'Failed',
    message: expect.stringMatching(/^jobset failed due to reaching max number of restarts \(/),
  });
});

it('a group whose size changes queues again with the new size', async () => {
  const group = await start('scaled', queued('team'), { size: 2 });
  await group.running(1);
  const at = { namespace: 'default', name: group.name };
  const operations = ['parallelism', 'completions'].map((field) => ({
    op: 'replace' as const,
    path: `/spec/replicatedJobs/0/template/spec/${field}`,
    value: SIZE,
  }));
  await cluster.client.patch(JOBSETS, at, { type: 'json', operations });
  await until('its workload has the new size', async () => {
    const { spec } = await queues.workload(group.name);
    expect(spec.podSets).toMatchObject([{ name: 'w', count: SIZE }]);
  });
  await group.until('all run', () => group.starts().length === 2 + SIZE);
  expect(group.status).toMatchObject({ inPlaceRestarts: 0, restarts: 0 });
});

it('fields that only we know stay when Kueue writes the JobSet', async () => {
  const withDeadline = (jobSet: JobSet): JobSet =>
    queued('team')({ ...jobSet, spec: { ...jobSet.spec, activeDeadlineSeconds: 3600 } });
  const group = await start('deadline', withDeadline);
  await group.running(1);
  const at = { namespace: 'default', name: group.name };
  const { spec } = await cluster.client.get(JOBSETS, at);
  expect(spec.activeDeadlineSeconds).toBe(3600);
});

it('no group keeps the Pods of a failure in a queue', async () => {
  const keeps = (jobSet: JobSet): JobSet => {
    const { metadata, ...others } = queued('team')(jobSet);
    const annotations = { ...metadata?.annotations, 'lockstep/keep-failed': '1h' };
    return { ...others, metadata: { ...metadata, annotations } };
  };
  await expect(start('kept', keeps)).rejects.toThrow(
    'Kueue gives its quota of queue "team" (kueue.x-k8s.io/queue-name) to others',
  );
});

it('a group gets the nodes of its flavor, and of another after a preemption', async () => {
  await queues.make('ResourceFlavor', 'pool-a', { spec: { nodeLabels: { [POOL]: 'a' } } });
  await queues.make('ResourceFlavor', 'pool-b', { spec: { nodeLabels: { [POOL]: 'b' } } });
  await queues.makeQueue('pools', [
    ['pool-a', SIZE],
    ['pool-b', SIZE],
  ]);
  const group = await start('flavored', queued('pools'));
  await group.running(1);
  const selectors = (of: WorkerGroup) => of.livePods().map(({ spec }) => spec.nodeSelector);
  expect(selectors(group)).toEqual(Array.from({ length: SIZE }, () => ({ [POOL]: 'a' })));
  await queues.setActive(group.name, false);
  await until('its Pods are gone', () => expect(group.livePods()).toEqual([]));
  const other = await start('other', queued('pools'));
  await other.running(1);
  await queues.setActive(group.name, true);
  await group.until(
    'its Pods ask for the other pool',
    () => selectors(group).filter((each) => each?.[POOL] === 'b').length === SIZE,
  );
  const pool = { metadata: { labels: { [POOL]: 'b' } } };
  await cluster.client.patch(NODES, { name: 'weather-0' }, { type: 'merge', patch: pool });
  await group.running(2);
});

it('a group in a topology restarts in place, and a new Pod goes to the node of the old one', async () => {
  const hostname = 'kubernetes.io/hostname';
  await queues.make('Topology', 'hosts', { spec: { levels: [{ nodeLabel: hostname }] } });
  await queues.make('ResourceFlavor', 'hosts', {
    spec: { nodeLabels: { [hostname]: 'weather-0' }, topologyName: 'hosts' },
  });
  await queues.makeQueue('hosts', [['hosts', SIZE]]);
  const inTopology = (jobSet: JobSet): JobSet => {
    const { spec, ...others } = queued('hosts')(jobSet);
    const annotations = { 'kueue.x-k8s.io/podset-required-topology': hostname };
    const jobs = (spec.replicatedJobs ?? []).map((job) => withPod(job, (pod) => pod, annotations));
    return { ...others, spec: { ...spec, replicatedJobs: jobs } };
  };
  const group = await start('placed', inTopology);
  await group.running(1);
  const before = await queues.condition(group.name, 'Admitted');
  group.kill(1);
  await group.running(2);
  const [pod] = group.livePods();
  const at = { namespace: 'default', name: pod?.metadata.name ?? '' };
  await cluster.client.delete(PODS, at, { gracePeriodSeconds: 0 });
  await group.running(3);
  for (const { spec } of group.livePods()) {
    expect(spec.nodeSelector).toMatchObject({ [hostname]: 'weather-0' });
  }
  expect(await queues.condition(group.name, 'Admitted')).toEqual(before);
});
