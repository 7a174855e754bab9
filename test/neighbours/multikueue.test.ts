/**
 * MultiKueue: a JobSet that is created in one cluster runs in another. Lockstep runs in both, and
 * restarts it in place where its Pods are.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { NAMESPACES, SECRETS } from '@lockstep/kube/objects/core.ts';
import { JOBS } from '@lockstep/kube/objects/job.ts';
import { connectClient } from '@lockstep/kube/runtime/adapters/http-client-connection.ts';
import { loadKubeconfig } from '@lockstep/kube/runtime/adapters/kubeconfig-files.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WorkerGroup } from '../../src/bench/worker-group.ts';
import { JOBSETS } from '../../src/jobset/jobset.ts';
import { installJobSets } from '../integration/api-server.fixture.ts';
import { ClusterInBadWeather, RUNTIME } from '../integration/bad-weather.fixture.ts';
import { KUBERNETES } from '../kubernetes.ts';
import { Lockstep } from './lockstep.fixture.ts';
import { apply, Neighbour } from './neighbour.fixture.ts';
import { Queues, queued } from './queues.fixture.ts';

const SIZE = 2;
/** MultiKueue connects no cluster that lacks the kind of a framework. */
const configuration = {
  integrations: { frameworks: ['batch/job', 'jobset.x-k8s.io/jobset'] },
};
const QUEUE = 'far';
/** Where Kueue looks for the credentials of other clusters. */
const KUEUE_NAMESPACE = 'kueue-system';

/** The last of the control planes, which no other suite uses. */
const MANAGER = join(
  process.env['LOCKSTEP_TEST_CONTROL_PLANES']?.split(delimiter).at(-1) ?? '',
  'kubeconfig',
);

const worker = new ClusterInBadWeather();
let manager: Client;
let queues: Queues;
const stops: (() => Promise<void> | void)[] = [];

beforeAll(async () => {
  await worker.start();
  stops.push(() => worker.stop());
  const access = await loadKubeconfig({ path: MANAGER, env: {}, homeDirectory: '/' });
  const connection = connectClient(access, { ...RUNTIME, userAgent: 'test' });
  manager = connection.client;
  stops.push(() => connection.close());
  await installJobSets(manager);
  for (const [kubeconfig, client, name] of [
    [KUBERNETES ?? '', worker.client, 'worker'],
    [MANAGER, manager, 'manager'],
  ] as const) {
    const lockstep = await Lockstep.startAt(kubeconfig, client, worker);
    stops.push(() => lockstep.stop());
    const directory = join(worker.state.path, name);
    mkdirSync(directory);
    const kueue = await Neighbour.start('kueue', { client, directory, kubeconfig, configuration });
    stops.push(() => kueue.stop());
    const each = new Queues(client);
    stops.push(() => each.remove());
    await each.make('ResourceFlavor', 'default', {});
    if (client === manager) await makeWorkerKnown(each);
    const checks = { admissionChecksStrategy: { admissionChecks: [{ name: QUEUE }] } };
    await each.makeQueue(QUEUE, [['default', SIZE]], client === manager ? checks : {});
    await each.untilActive(QUEUE);
    queues = each;
  }
});
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

/** MultiKueue of the manager gets the worker's credentials, and a check that sends workloads there. */
async function makeWorkerKnown(of: Queues): Promise<void> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: KUEUE_NAMESPACE } };
  await apply(manager, NAMESPACES, namespace);
  const text = readFileSync(KUBERNETES ?? '', 'utf8');
  await apply(manager, SECRETS, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: KUEUE_NAMESPACE, name: 'worker' },
    stringData: { kubeconfig: text },
  } as Parameters<typeof apply>[2]);
  const kubeConfig = { location: 'worker', locationType: 'Secret' };
  await of.make('MultiKueueCluster', 'worker', { spec: { clusterSource: { kubeConfig } } });
  await of.make('MultiKueueConfig', QUEUE, { spec: { clusters: ['worker'] } });
  const parameters = { apiGroup: 'kueue.x-k8s.io', kind: 'MultiKueueConfig', name: QUEUE };
  const controllerName = 'kueue.x-k8s.io/multikueue';
  await of.make('AdmissionCheck', QUEUE, { spec: { controllerName, parameters } });
}

/** Writes go to the manager, and all else is seen in the worker cluster. */
function split(): Client {
  return new Proxy(worker.client, {
    get: (target, key: keyof Client) => {
      const of = key === 'create' || key === 'delete' ? manager : target;
      return of[key].bind(of);
    },
  });
}

it('a JobSet runs in another cluster, and restarts in place there', async () => {
  const name = 'far';
  const group = await WorkerGroup.start({
    client: split(),
    directory: worker.state.path,
    name,
    mode: 'Supervisor',
    size: SIZE,
    edit: queued(QUEUE),
  });
  await group.running(1);
  const at = { namespace: 'default', name };
  expect((await manager.get(JOBSETS, at)).spec.managedBy).toBe('kueue.x-k8s.io/multikueue');
  expect((await worker.client.get(JOBSETS, at)).spec.managedBy).toBeUndefined();
  const uids = group.livePods().map(({ metadata }) => metadata.uid);
  group.kill(1);
  await group.running(2);
  expect(group.livePods().map(({ metadata }) => metadata.uid)).toEqual(uids);
  await until('the manager has the status', async () => {
    const { status } = await manager.get(JOBSETS, at);
    expect(status).toMatchObject({ currentInPlaceRestartAttempt: 1 });
    expect(status?.replicatedJobsStatus).toMatchObject([{ name: 'w', ready: 1 }]);
  });
  expect((await manager.list(JOBS, { namespace: 'default' })).items).toEqual([]);
  expect(await queues.condition(name, 'Admitted')).toMatchObject({ status: 'True' });
  await group.remove();
  await until('the manager forgets it', async () =>
    expect((await manager.list(JOBSETS, { namespace: 'default' })).items).toEqual([]),
  );
});
