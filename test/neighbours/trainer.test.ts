/** TrainJobs of the real Kubeflow Trainer, whose JobSets restart in place (docs/kubeflow-trainer.md). */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Condition, KubeObject, Stored } from '@lockstep/kube/meta.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { type Resource, resource } from '@lockstep/kube/resource.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { JOBSETS, type JobSet } from '../../src/jobset/jobset.ts';
import { JOBSET_NAME } from '../../src/jobset/names.ts';
import { ClusterInBadWeather } from '../integration/bad-weather.fixture.ts';
import { Lockstep } from './lockstep.fixture.ts';
import { apply, Neighbour } from './neighbour.fixture.ts';

const API = 'trainer.kubeflow.org/v1alpha1';
const SIZE = 3;
const TIMEOUT_MS = 90_000;

interface TrainJob extends KubeObject {
  readonly spec: object;
  readonly status?: { readonly conditions?: readonly Condition[] };
}
const TRAIN_JOBS: Resource<TrainJob> = resource(API, 'trainjobs', 'TrainJob');
const RUNTIMES = resource(API, 'clustertrainingruntimes', 'ClusterTrainingRuntime', 'Cluster');

const cluster = new ClusterInBadWeather();
let lockstep: Lockstep;
let trainer: Neighbour;
const made: string[] = [];

beforeAll(async () => {
  await cluster.start();
  const { client, state } = cluster;
  lockstep = await Lockstep.start(cluster);
  trainer = await Neighbour.start('trainer', { client, directory: state.path });
});
afterEach(async () => {
  for (const name of made.splice(0)) {
    const at = { namespace: 'default', name };
    await cluster.client.delete(TRAIN_JOBS, at, { propagationPolicy: 'Foreground' });
    await until(
      `${name} is gone`,
      async () => {
        const options = { namespace: 'default', fieldSelector: `metadata.name=${name}` };
        expect((await cluster.client.list(TRAIN_JOBS, options)).items).toEqual([]);
      },
      TIMEOUT_MS,
    );
  }
});
afterAll(async () => {
  await trainer?.stop();
  await lockstep?.stop();
  await cluster.stop();
});

interface Step {
  /** The step of a TrainJob that it is. */
  readonly ancestor: string;
  readonly name: string;
  readonly command?: readonly string[];
  readonly dependsOn?: readonly object[];
}

async function makeRuntime(
  name: string,
  steps: readonly Step[],
  failurePolicy: object = { restartStrategy: 'InPlaceRestart', maxRestarts: 2 },
): Promise<void> {
  const replicatedJobs = steps.map(({ ancestor, name: job, command, dependsOn }) => ({
    name: job,
    ...(dependsOn === undefined ? {} : { dependsOn }),
    template: {
      metadata: { labels: { 'trainer.kubeflow.org/trainjob-ancestor-step': ancestor } },
      spec: {
        template: {
          spec: {
            terminationGracePeriodSeconds: 1,
            containers: [
              { name: job, image: 'bash', command: command ?? ['bash', '-c', 'exit 9'] },
            ],
          },
        },
      },
    },
  }));
  await apply(cluster.client, RUNTIMES, {
    apiVersion: API,
    kind: 'ClusterTrainingRuntime',
    metadata: { name, labels: { 'trainer.kubeflow.org/framework': 'torch' } },
    spec: {
      mlPolicy: { numNodes: 1, torch: {} },
      template: {
        metadata: { annotations: { 'lockstep/restart-mode': 'Supervisor' } },
        spec: { failurePolicy, replicatedJobs },
      },
    },
  } as KubeObject & { metadata: { name: string } });
}

const NODE: Step = { ancestor: 'trainer', name: 'node' };

/**
 * Each worker writes a line when it starts. It ends when the file `NAME.done` is there, and fails
 * when `NAME.fail.RANK` is.
 */
async function train(name: string, runtime: string, more: object = {}): Promise<void> {
  const marks = join(cluster.state.path, name);
  const script =
    `echo "$PET_NODE_RANK of $PET_NNODES" >> ${marks}; ` +
    `until [ -e ${marks}.done ]; do ` +
    `[ -e ${marks}.fail.$PET_NODE_RANK ] && rm ${marks}.fail.$PET_NODE_RANK && exit 9; ` +
    `sleep 0.1; done`;
  // Trainer's webhook takes the runtime from a cache, which may not have a new one yet.
  await until(`${name} is accepted`, () =>
    cluster.client.create(TRAIN_JOBS, {
      apiVersion: API,
      kind: 'TrainJob',
      metadata: { name, namespace: 'default' },
      spec: {
        runtimeRef: { name: runtime },
        trainer: { numNodes: SIZE, image: 'bash', command: ['bash', '-c', script] },
        ...more,
      },
    }),
  );
  made.push(name);
}

function tell(name: string, what: 'done' | `fail.${number}`): void {
  writeFileSync(join(cluster.state.path, `${name}.${what}`), '');
}

function starts(name: string): readonly string[] {
  try {
    const text = readFileSync(join(cluster.state.path, name), 'utf8');
    return text.trimEnd().split('\n').toSorted();
  } catch {
    return [];
  }
}

async function jobSet(name: string): Promise<Stored<JobSet>> {
  return await cluster.client.get(JOBSETS, { namespace: 'default', name });
}

async function pods(name: string): Promise<readonly Stored<Pod>[]> {
  const labelSelector = `${JOBSET_NAME}=${name}`;
  const { items } = await cluster.client.list(PODS, { namespace: 'default', labelSelector });
  return items;
}

async function inEpoch(name: string, epoch: number): Promise<void> {
  await until(
    `${name} runs in epoch ${epoch}`,
    async () => {
      expect((await jobSet(name)).status?.syncedEpoch).toBe(epoch);
      expect(starts(name)).toHaveLength(epoch * SIZE);
    },
    TIMEOUT_MS,
  );
}

async function conditions(name: string): Promise<readonly Condition[]> {
  const { status } = await cluster.client.get(TRAIN_JOBS, { namespace: 'default', name });
  return status?.conditions ?? [];
}

async function patch(name: string, spec: object): Promise<void> {
  const at = { namespace: 'default', name };
  await cluster.client.patch(TRAIN_JOBS, at, { type: 'merge', patch: { spec } });
}

async function untilCondition(name: string, expected: object): Promise<void> {
  await until(
    `${name} says so`,
    async () => expect(await conditions(name)).toContainEqual(expect.objectContaining(expected)),
    TIMEOUT_MS,
  );
}

async function podUids(name: string): Promise<readonly string[]> {
  return (await pods(name)).map(({ metadata }) => metadata.uid).toSorted();
}

it('a TrainJob does not notice that its group restarts in place, and completes', async () => {
  await makeRuntime('in-place', [NODE]);
  await train('llm', 'in-place');
  await inEpoch('llm', 1);
  expect(starts('llm')).toEqual(['0 of 3', '1 of 3', '2 of 3']);
  const before = await conditions('llm');
  const uids = await podUids('llm');
  tell('llm', 'fail.1');
  await inEpoch('llm', 2);
  expect(await conditions('llm')).toEqual(before);
  expect(await podUids('llm')).toEqual(uids);
  tell('llm', 'done');
  await untilCondition('llm', { type: 'Complete', status: 'True' });
});

it('a TrainJob is suspended, and resumes in a new epoch that is not counted', async () => {
  await makeRuntime('in-place', [NODE]);
  await train('paused', 'in-place');
  await inEpoch('paused', 1);
  await patch('paused', { suspend: true });
  await untilCondition('paused', { type: 'Suspended', status: 'True' });
  await until('its Pods are gone', async () => expect(await pods('paused')).toEqual([]));
  await patch('paused', { suspend: false });
  await inEpoch('paused', 2);
  const { status } = await jobSet('paused');
  expect(status).toMatchObject({ restarts: 0, inPlaceRestarts: 0 });
  expect(status?.restartHistory).toMatchObject([{ cause: 'Resumed', counted: false }]);
});

it('a TrainJob that has spent its restarts says why in our words', async () => {
  await makeRuntime('once', [NODE], { restartStrategy: 'InPlaceRestart', maxRestarts: 1 });
  await train('spent', 'once');
  await inEpoch('spent', 1);
  tell('spent', 'fail.2');
  await inEpoch('spent', 2);
  tell('spent', 'fail.2');
  await untilCondition('spent', {
    type: 'Failed',
    status: 'True',
    reason: 'ReachedMaxRestarts',
    message: expect.stringMatching(/worker 2 of node .* exited with code 9 \(WorkerExited\)/),
  });
});

it('annotations ask for the restart in place where the runtime does not', async () => {
  await makeRuntime('plain', [NODE], { maxRestarts: 0 });
  const annotations = {
    'lockstep/restart-strategy': 'InPlaceRestart',
    'lockstep/max-restarts': '3',
    'lockstep/progress-timeout': '10m',
  };
  const runtimePatches = [
    {
      manager: 'example.com/me',
      trainingRuntimeSpec: { template: { metadata: { annotations } } },
    },
  ];
  await train('annotated', 'plain', { runtimePatches });
  await inEpoch('annotated', 1);
  const { metadata, spec } = await jobSet('annotated');
  expect(metadata.annotations).toMatchObject(annotations);
  expect(spec.failurePolicy).toMatchObject({ restartStrategy: 'InPlaceRestart', maxRestarts: 3 });
  tell('annotated', 'fail.0');
  await inEpoch('annotated', 2);
});

it("a runtime like torchtune's, whose nodes wait for initializers", async () => {
  const log = join(cluster.state.path, 'tuned.initializers');
  const initializer = (ancestor: string): Step => ({
    ancestor,
    name: ancestor,
    command: ['bash', '-c', `sleep 1; echo ${ancestor} >> ${log}`],
  });
  const initializers = ['dataset-initializer', 'model-initializer'];
  await makeRuntime('tune', [
    ...initializers.map(initializer),
    { ...NODE, dependsOn: initializers.map((name) => ({ name, status: 'Complete' })) },
  ]);
  await train('tuned', 'tune');
  await until(
    'the nodes have started',
    () => expect(starts('tuned')).toHaveLength(SIZE),
    TIMEOUT_MS,
  );
  expect(readFileSync(log, 'utf8').trimEnd().split('\n').toSorted()).toEqual(initializers);
  tell('tuned', 'fail.1');
  await until(
    'all have started again',
    () => expect(starts('tuned')).toHaveLength(2 * SIZE),
    TIMEOUT_MS,
  );
  tell('tuned', 'done');
  await untilCondition('tuned', { type: 'Complete', status: 'True' });
  expect(readFileSync(log, 'utf8').trimEnd().split('\n'), 'initializers run once').toHaveLength(2);
});
