import { PODS, type PodStatus } from '@lockstep/kube/objects/pod.ts';
import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { HUGE, jobSetOfJobs, storeOversized } from './oversized-jobset.fixture.ts';
import {
  CALM_MS,
  SUPERVISOR,
  startedGroup,
  THREE_WORKERS,
  WORKERS,
} from './three-workers.fixture.ts';
import type { TrainingGroup } from './training-group.fixture.ts';

let group: TrainingGroup;

beforeEach(async () => {
  group = await startedGroup();
});

afterEach(() => group.stop());

async function run(): Promise<void> {
  await group.create(THREE_WORKERS, SUPERVISOR);
  await group.allIn(1, WORKERS);
  await group.cluster.clock.advance(CALM_MS);
}

function statusWrites(): number {
  return group.operatorClient.count('update jobsets/status');
}

/** No worker starts twice in an epoch, or while others are in an older one. */
function expectLockstep(): void {
  const seen = new Set(group.starts.map(({ slot, epoch }) => `${slot}@${epoch}`));
  expect(seen.size).toBe(group.starts.length);
  expect(group.starts.map(({ epoch }) => epoch)).toEqual(
    group.starts.map(({ epoch }) => epoch).toSorted((a, b) => a - b),
  );
}

describe('a group that restarts in place', () => {
  test('does so beside a JobSet that was stored with more Jobs than there can be', async () => {
    const { client, clock } = group.cluster;
    await storeOversized(client, [jobSetOfJobs('huge', HUGE)], (_what, isSo) =>
      clock.runUntil(isSo, 10_000),
    );
    await run();
    group.exit('w/1', 7);
    await group.allIn(2, WORKERS);
    expectLockstep();
    const { status } = await group.jobSet('huge');
    expect(status?.conditions?.map(({ type, status: is }) => `${type}=${is}`)).toEqual([
      'Rejected=True',
      'Ready=False',
      'Stalled=True',
    ]);
  });

  test('costs two status writes for one failure, and keeps all Pods', async () => {
    await run();
    const uids = await group.podUids();
    const before = statusWrites();

    group.exit('w/1', 7);
    await group.allIn(2, WORKERS);
    await group.cluster.clock.advance(CALM_MS);

    expect(statusWrites() - before).toBe(2);
    expect(await group.podUids()).toEqual(uids);
    expectLockstep();
    const { status } = await group.jobSet();
    expect(status).toMatchObject({
      deprecatedEpoch: 1,
      syncedEpoch: 2,
      restarts: 0,
      inPlaceRestarts: 1,
      inPlaceRestartsCountTowardsMax: 1,
      restartHistory: [
        {
          epoch: 1,
          cause: 'WorkerFailed',
          counted: true,
          witness: { pod: group.podNameIn('w/1'), node: 'n1', exitCode: 7 },
          phases: { announceMs: expect.any(Number), releaseMs: expect.any(Number) },
        },
      ],
    });
    const restarting = status?.conditions?.find(({ type }) => type === 'RestartingInPlace');
    expect(restarting?.status).toBe('False');
    const events = (await group.events()).filter(({ reason }) => reason === 'WorkerFailed');
    expect(events).toHaveLength(1);
    expect(events[0]?.note).toContain('exited with code 7');
  });

  test('writes no status when nothing happens', async () => {
    await run();
    const before = group.operatorClient.writes.length;
    await group.cluster.clock.advance(10 * 60_000);
    expect(group.operatorClient.writes.slice(before)).toEqual([]);
  });

  test('restarts once for several failures in one epoch', async () => {
    await run();
    const before = statusWrites();
    for (const slot of ['w/0', 'w/1', 'w/2']) group.exit(slot, 1);
    await group.allIn(2, WORKERS);
    await group.cluster.clock.advance(CALM_MS);
    expect(statusWrites() - before).toBe(2);
    expect((await group.jobSet()).status?.inPlaceRestartsCountTowardsMax).toBe(1);
    expectLockstep();
  });

  test('restarts once for each failure at the instant of release', async () => {
    await run();
    let failures = 2;
    group.onStart = ({ slot, epoch }) => {
      if (slot === 'w/2' && epoch > 1 && failures-- > 0) group.exit('w/2', 1);
    };
    group.exit('w/0', 1);
    await group.allIn(4, WORKERS);
    expect((await group.jobSet()).status).toMatchObject({ inPlaceRestarts: 3, deprecatedEpoch: 3 });
    expectLockstep();
  });

  test('replaces a Pod that was deleted by hand, and restarts the others in place', async () => {
    await run();
    const uids = await group.podUids();
    const name = group.podNameIn('w/1');
    await group.cluster.client.delete(PODS, { namespace: 'default', name });
    await group.allIn(2, WORKERS);
    const after = await group.podUids();
    expect([...after.keys()].filter((pod) => uids.has(pod))).toHaveLength(WORKERS - 1);
    expect((await group.jobSet()).status).toMatchObject({
      inPlaceRestarts: 1,
      restarts: 0,
      restartHistory: [{ cause: 'WorkerFailed' }],
    });
    expectLockstep();
  });

  test('fails when the budget is spent, and ends its Pods', async () => {
    await run();
    for (const epoch of [2, 3, 4]) {
      group.exit('w/0', 1);
      await group.allIn(epoch, WORKERS);
    }
    group.exit('w/1', 9);
    await group.until(({ terminalState }) => terminalState === 'Failed');
    await group.cluster.until(async () => (await group.cluster.pods()).length === 0);
    const { status } = await group.jobSet();
    const failed = status?.conditions?.find(({ type }) => type === 'Failed');
    expect(failed).toMatchObject({ status: 'True', reason: 'ReachedMaxRestarts' });
    expect(failed?.message).toContain('exited with code 9');
    expect(status?.inPlaceRestartsCountTowardsMax).toBe(3);
  });

  test('recreates a Job whose work was partly done when another worker failed', async () => {
    const spec = {
      ...THREE_WORKERS,
      replicatedJobs: [replicatedJob('w', 1, 2), replicatedJob('v')],
    };
    await group.create(spec, SUPERVISOR);
    await group.cluster.until(async () => group.starts.length === 3);
    await group.finish('v/0', 0);
    await group.cluster.clock.advance(CALM_MS);
    const before = await group.podUids();

    const [first, second] = [...before.keys()].filter((name) => name.startsWith('train-w'));
    const pods = await group.cluster.pods();
    const done = pods.find(({ metadata }) => metadata.name === first);
    if (done !== undefined) await group.cluster.finish(done, 0);
    await group.cluster.clock.advance(CALM_MS);
    group.exit('w/0', 1);
    await group.cluster.until(async () => group.starts.length === 5);

    const after = await group.podUids();
    expect(after.has(first ?? ''), 'its Job was made anew').toBe(false);
    expect(after.get(second ?? ''), 'restarted in place').toBe(before.get(second ?? ''));
    expect(
      [...after.keys()].some((name) => name.startsWith('train-v')),
      'complete',
    ).toBe(true);
    expect((await group.jobSet()).status).toMatchObject({
      restarts: 0,
      inPlaceRestartsCountTowardsMax: 1,
    });
  });
});

describe('what does not belong to a group', () => {
  const stray = (name: string, uid: string, epoch: string, ownerReferences: readonly object[]) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      labels: {
        'jobset.sigs.k8s.io/jobset-name': 'train',
        'jobset.sigs.k8s.io/jobset-uid': uid,
      },
      annotations: { 'jobset.sigs.k8s.io/epoch': epoch },
      ownerReferences: ownerReferences as [],
    },
    spec: { containers: [{ name: 'c', image: 'none' }], nodeName: 'elsewhere' },
  });

  test('a Pod that only wears the label changes nothing and is reported', async () => {
    await run();
    const { uid } = (await group.jobSet()).metadata;
    const before = statusWrites();
    await group.cluster.client.create(PODS, stray('stray', uid, '2', []));
    await group.cluster.clock.advance(CALM_MS);
    expect(statusWrites()).toBe(before);
    const events = (await group.events()).filter(({ reason }) => reason === 'InvalidMember');
    expect(events.map(({ note }) => note)).toEqual([
      'Pod stray has the label of a JobSet but is not one of its Pods',
    ]);
    group.exit('w/0', 1);
    await group.allIn(2, WORKERS);
  });

  test('an orphan of an older JobSet of the same name changes nothing', async () => {
    const owner = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      name: 'train-w-0',
      uid: 'old',
      controller: true,
    };
    await group.cluster.client.create(PODS, stray('orphan', 'older-jobset', '7', [owner]));
    await run();
    expect((await group.jobSet()).status).toMatchObject({ deprecatedEpoch: 0, syncedEpoch: 1 });
  });

  test.each(['99', 'soon', '-1'])(
    'an epoch %j written by hand ends nothing and is reported',
    async (epoch) => {
      await run();
      const before = statusWrites();
      await group.announce(group.podNameIn('w/1'), epoch);
      await group.cluster.clock.advance(CALM_MS);
      expect(statusWrites()).toBe(before);
      expect((await group.jobSet()).status).toMatchObject({ deprecatedEpoch: 0, syncedEpoch: 1 });
      const reasons = (await group.events()).map(({ reason }) => reason);
      expect(reasons.filter((reason) => reason.startsWith('Invalid'))).toHaveLength(1);
    },
  );
});

describe('an early notice', () => {
  const notice = async (epoch: string, status: PodStatus): Promise<void> => {
    const at = { namespace: 'default', name: group.podNameIn('w/1') };
    const { client } = group.cluster;
    await client.patch(PODS, at, { type: 'merge', patch: { status } }, { subresource: 'status' });
    const annotations = { 'lockstep/notice': epoch };
    await client.patch(PODS, at, { type: 'merge', patch: { metadata: { annotations } } });
    await group.cluster.clock.advance(CALM_MS);
  };
  const restarting = (status: 'True' | 'False'): PodStatus => ({
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'AllContainersRestarting', status },
    ],
  });

  test('ends the epoch if its Pod shows a failure', async () => {
    await run();
    await notice('1', restarting('True'));
    await group.allIn(2, WORKERS);
    expect((await group.jobSet()).status).toMatchObject({
      inPlaceRestartsCountTowardsMax: 1,
      restartHistory: [{ witness: { pod: group.podNameIn('w/1') } }],
    });
  });

  test('of every member of a group at its end costs few passes, even on a slow server', async () => {
    const members = 12;
    const logger = new MemoryLogger();
    const { clock } = group.cluster;
    await group.startOperator((client) => {
      client.beforeGet = () => sleep(clock, 60);
    }, logger);
    const spec = { ...THREE_WORKERS, replicatedJobs: [replicatedJob('w', members)] };
    await group.create(spec, SUPERVISOR);
    await group.allIn(1, members);
    await clock.advance(CALM_MS);
    for (let slot = 0; slot < members; slot++) {
      const at = { namespace: 'default', name: group.podNameIn(`w/${slot}`) };
      const patch = { metadata: { annotations: { 'lockstep/notice': '1' } } };
      await group.cluster.client.patch(PODS, at, { type: 'merge', patch });
    }
    await clock.advance(CALM_MS);
    expect(logger.records.filter(({ level }) => level !== 'debug')).toEqual([]);
    expect((await group.jobSet()).status).toMatchObject({ deprecatedEpoch: 0 });
  });

  test.each([
    ['its Pod shows no failure', '1', 'False'],
    ['it is of another epoch', '7', 'True'],
    ['it is none', 'soon', 'True'],
  ] as const)('changes nothing if %s', async (_why, epoch, status) => {
    await run();
    const before = statusWrites();
    await notice(epoch, restarting(status));
    expect(statusWrites()).toBe(before);
    expect((await group.jobSet()).status).toMatchObject({ deprecatedEpoch: 0 });
  });
});

describe('several operators', () => {
  test('restart a group once, also when both see the failure', async () => {
    await run();
    const second = group.secondOperator();
    await second.start();
    group.exit('w/0', 1);
    await group.allIn(2, WORKERS);
    await group.cluster.clock.advance(CALM_MS);
    expect((await group.jobSet()).status).toMatchObject({ inPlaceRestarts: 1, deprecatedEpoch: 1 });
    expectLockstep();
    await second.stop();
  });
});
