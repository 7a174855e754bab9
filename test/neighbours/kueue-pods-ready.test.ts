/** Kueue that waits for Pods to be ready (`waitForPodsReady`), and groups that are slow, or wait. */
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { WorkerGroup } from '../../src/bench/worker-group.ts';
import type { JobSet } from '../../src/jobset/jobset.ts';
import { ClusterInBadWeather } from '../integration/bad-weather.fixture.ts';
import { Lockstep } from './lockstep.fixture.ts';
import { Neighbour } from './neighbour.fixture.ts';
import { Queues, queued, withPod } from './queues.fixture.ts';

const SIZE = 2;

const cluster = new ClusterInBadWeather();
let kueue: Neighbour;
let lockstep: Lockstep;
let queues: Queues;
let group: WorkerGroup;

beforeAll(async () => {
  await cluster.start();
  const { client, state } = cluster;
  lockstep = await Lockstep.start(cluster);
  const waitForPodsReady = {
    timeout: '20s',
    recoveryTimeout: '15s',
    requeuingStrategy: { backoffBaseSeconds: 1, backoffLimitCount: 1 },
  };
  const configuration = { waitForPodsReady };
  kueue = await Neighbour.start('kueue', { client, directory: state.path, configuration });
  queues = new Queues(client);
  await queues.make('ResourceFlavor', 'default', {});
  await queues.makeQueue('ready', [['default', SIZE]]);
});
afterEach(() => group.remove());
afterAll(async () => {
  await queues?.remove();
  await kueue?.stop();
  await lockstep?.stop();
  await cluster.stop();
});

async function start(
  name: string,
  edit: (jobSet: JobSet) => JobSet,
  mode: 'Sidecar' | 'Supervisor',
) {
  const { client, state } = cluster;
  const options = { client, directory: state.path, name, mode, size: SIZE, edit };
  group = await WorkerGroup.start(options);
}

it.each(['Supervisor', 'Sidecar'] as const)(
  'a restart in place in %s mode is no reason to evict',
  async (mode) => {
    await start(`ready-${mode.toLowerCase()}`, queued('ready'), mode);
    await group.running(1);
    await queues.until(group.name, 'PodsReady', 'True');
    const before = await queues.condition(group.name, 'Admitted');
    group.kill(1);
    await group.running(2);
    await queues.until(group.name, 'PodsReady', 'True');
    expect(await queues.condition(group.name, 'Admitted')).toEqual(before);
    expect(await queues.condition(group.name, 'Evicted')).toBeUndefined();
  },
);

it('a group that never starts is evicted, tried again, and taken out of its queue', async () => {
  const nowhere = (jobSet: JobSet): JobSet => {
    const { spec, ...others } = queued('ready')(jobSet);
    const jobs = (spec.replicatedJobs ?? []).map((job) =>
      withPod(job, (pod) => ({ ...pod, nodeSelector: { 'example.com/nowhere': '' } })),
    );
    return { ...others, spec: { ...spec, replicatedJobs: jobs } };
  };
  await start('nowhere', nowhere, 'Supervisor');
  await queues.until(group.name, 'PodsReady', 'False', 'WaitForStart');
  await queues.until(group.name, 'Requeued', 'True');
  await until(
    'it is no longer tried',
    async () => {
      const { spec } = await queues.workload(group.name);
      expect(spec.active).toBe(false);
    },
    90_000,
  );
  await until('no Pod is left', () => expect(group.livePods()).toEqual([]));
  expect(group.status).toMatchObject({ restarts: 0 });
  expect(group.status.terminalState).toBeUndefined();
});
