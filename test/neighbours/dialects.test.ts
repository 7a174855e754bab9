/**
 * Restarts in place with the agent and the controller of kubernetes-sigs/jobset, and with ours in
 * its dialect (docs/design/upstream.md).
 */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WorkerGroup } from '../../src/bench/worker-group.ts';
import type { JobSet } from '../../src/jobset/jobset.ts';
import { EPOCH } from '../../src/jobset/names.ts';
import { JOBSET_CRD } from '../../src/jobset/schema/crd.ts';
import { removeWorkloads } from '../fixtures/workloads.ts';
import { ClusterInBadWeather } from '../integration/bad-weather.fixture.ts';
import { controllersOf } from './controllers.fixture.ts';
import { applyDefinition, programDirectory } from './neighbour.fixture.ts';

const SIZE = 3;
const AGENTS = [
  ["upstream's agents", join(programDirectory('jobset-agent'), 'jobset-agent')],
  [
    "our agents in upstream's dialect",
    join(dirname(fileURLToPath(import.meta.url)), '../../dist/bin/lockstep-agent'),
  ],
] as const;

const cluster = new ClusterInBadWeather();
const controllers = controllersOf(cluster);
const { ours, upstreams } = controllers;
let group: WorkerGroup;
let count = 0;

beforeAll(() => cluster.start());
afterAll(async () => {
  await applyDefinition(cluster.client, JOBSET_CRD);
  await cluster.stop();
});
afterEach(async () => {
  await Promise.all([group.pods.stop(), group.jobSets.stop()]);
  await controllers.leave();
  await removeWorkloads(cluster.client);
});

/** A group that runs in its first attempt, with this agent in its template, or none. */
async function start(agent: string | undefined, maxRestarts = 5): Promise<void> {
  group = await WorkerGroup.start({
    client: cluster.client,
    directory: cluster.state.path,
    name: `dialect-${count++}`,
    mode: 'Supervisor',
    size: SIZE,
    maxRestarts,
    edit: (jobSet) => withAgent(jobSet, agent),
  });
  await inAttempt(0);
}

/** What upstream's webhook asks for, and the agent as the worker's main process. */
function withAgent(jobSet: JobSet, agent: string | undefined): JobSet {
  const replicatedJobs = (jobSet.spec.replicatedJobs ?? []).map((job) => {
    const { spec } = job.template;
    const pod = spec.template.spec;
    const containers =
      agent === undefined
        ? pod.containers
        : pod.containers.map((container) => {
            const [, , script = ''] = container.command ?? [];
            const env = [
              ...(container.env ?? []),
              { name: 'JOBSET_NAME', value: jobSet.metadata?.name ?? '' },
              { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
              { name: 'IN_PLACE_RESTART_EXIT_CODE', value: '1' },
              { name: 'WORKER_COMMAND', value: script },
            ];
            const exitCodes = { operator: 'NotIn', values: [0] } as const;
            const restartPolicyRules = [{ action: 'Restart', exitCodes }] as const;
            const restartPolicy = 'Never' as const;
            return { ...container, command: [agent], env, restartPolicy, restartPolicyRules };
          });
    const template = { ...spec.template, spec: { ...pod, containers } };
    const limits = { backoffLimit: 2_147_483_647, podReplacementPolicy: 'Failed' } as const;
    return { ...job, template: { spec: { ...spec, ...limits, template } } };
  });
  return { ...jobSet, spec: { ...jobSet.spec, replicatedJobs } };
}

/** All workers run in this attempt, and each has started once in each attempt. */
async function inAttempt(attempt: number): Promise<void> {
  await group.until(`all run in attempt ${attempt}`, () => {
    const { currentInPlaceRestartAttempt: current } = group.status;
    return current === attempt && group.starts().length >= (attempt + 1) * SIZE;
  });
  expect(group.starts()).toHaveLength((attempt + 1) * SIZE);
}

function podUids(): readonly string[] {
  return group.livePods().map(({ metadata }) => metadata.uid);
}

describe.each(AGENTS)('%s', (_, agent) => {
  it('restart together under our controller, for one failure and one charge', async () => {
    await ours.takeOver();
    await start(agent, 2);
    const uids = podUids();
    group.kill(1);
    await inAttempt(1);
    group.kill(0, 1, 2);
    await inAttempt(2);
    expect(podUids()).toEqual(uids);
    expect(group.status).toMatchObject({
      previousInPlaceRestartAttempt: 1,
      inPlaceRestarts: 2,
      inPlaceRestartsCountTowardsMax: 2,
    });
    group.kill(1);
    await group.until('it fails', () => group.status.terminalState === 'Failed');
  });

  it('restart together under upstream’s controller, and go over to ours and back', async () => {
    await upstreams.takeOver();
    await start(agent);
    const uids = podUids();
    group.kill(1);
    await inAttempt(1);

    await upstreams.leave();
    await ours.takeOver();
    await group.until('it is taken over', () => group.status.syncedEpoch === 2);
    expect(group.status).toMatchObject({
      deprecatedEpoch: 1,
      inPlaceRestarts: 1,
      inPlaceRestartsCountTowardsMax: 1,
    });
    group.kill(2);
    await inAttempt(2);

    await ours.leave();
    await upstreams.takeOver();
    group.kill(0);
    await inAttempt(3);
    expect(group.status).not.toHaveProperty('syncedEpoch');
    expect(podUids()).toEqual(uids);
  });

  it('finish a restart under our controller that upstream’s began', async () => {
    await upstreams.takeOver();
    await start(agent);
    group.kill(1);
    await group.until('it has begun', () => group.status.previousInPlaceRestartAttempt === 0);
    await upstreams.leave();
    await ours.takeOver();
    await inAttempt(1);
    await group.until('it is charged once', () => {
      const { inPlaceRestarts, inPlaceRestartsCountTowardsMax: charged } = group.status;
      return inPlaceRestarts === 1 && charged === 1;
    });
  });

  it('restart once for one failure under both controllers by mistake', async () => {
    await upstreams.takeOver();
    await ours.takeOver();
    await start(agent);
    group.kill(1);
    await inAttempt(1);
    await until('the charge is one', () =>
      expect(group.status).toMatchObject({ inPlaceRestartsCountTowardsMax: 1 }),
    );
  });
});

it("injected agents run on under upstream's controller; what fails waits for ours", async () => {
  await ours.takeOver();
  await start(undefined);
  await ours.leave();
  await upstreams.takeOver();
  group.kill(1);
  await group.until('one has announced the next epoch', () =>
    group.livePods().some(({ metadata }) => metadata.annotations?.[EPOCH] === '2'),
  );
  expect(group.starts()).toHaveLength(SIZE);
  await upstreams.leave();
  await ours.takeOver();
  await inAttempt(1);
  expect(group.status).toMatchObject({ inPlaceRestartsCountTowardsMax: 1 });
});
