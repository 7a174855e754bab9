/**
 * Groups that restart in place together with the other policies, with the real operator, agents and
 * Job controller over the API server in memory.
 */

import { JOBS } from '@lockstep/kube/objects/job.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JobSetSpec } from '../../src/jobset/jobset.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { CALM_MS, SUPERVISOR, startedGroup } from './three-workers.fixture.ts';
import { supervised, TrainingGroup } from './training-group.fixture.ts';

let group: TrainingGroup;

beforeEach(async () => {
  group = await startedGroup();
});

afterEach(() => group.stop());

const IN_PLACE = { restartStrategy: 'InPlaceRestart', maxRestarts: 3 } as const;

/** Slots in the order in which their workers started in that epoch. */
function startsIn(epoch: number): readonly string[] {
  return group.starts.filter((start) => start.epoch === epoch).map(({ slot }) => slot);
}

function stagesOf(slots: readonly string[]): readonly string[] {
  const names = slots.map((slot) => slot.split('/')[0] ?? '');
  return names.filter((name, i) => name !== names[i - 1]);
}

async function run(spec: JobSetSpec, workers: number): Promise<void> {
  await group.create(spec, SUPERVISOR);
  await group.allIn(1, workers);
  await group.cluster.clock.advance(CALM_MS);
}

describe('InOrder', () => {
  const spec: JobSetSpec = {
    replicatedJobs: [replicatedJob('a', 2), replicatedJob('b', 2), replicatedJob('c')],
    startupPolicy: { startupPolicyOrder: 'InOrder' },
    failurePolicy: IN_PLACE,
  };

  test('starts stage by stage, in one epoch', async () => {
    await run(spec, 5);
    expect(stagesOf(startsIn(1))).toEqual(['a', 'b', 'c']);
    const { status } = await group.jobSet();
    expect(status).toMatchObject({ deprecatedEpoch: 0, syncedEpoch: 1 });
    const completed = status?.conditions?.find(({ type }) => type === 'StartupPolicyCompleted');
    expect(completed?.status).toBe('True');
  });

  test.each(['a/1', 'b/0', 'c/0'])(
    'restarts stage by stage after a failure of %s',
    async (slot) => {
      await run(spec, 5);
      const uids = await group.podUids();
      group.exit(slot, 1);
      await group.allIn(2, 5);
      expect(stagesOf(startsIn(2))).toEqual(['a', 'b', 'c']);
      expect(await group.podUids()).toEqual(uids);
      expect((await group.jobSet()).status).toMatchObject({
        deprecatedEpoch: 1,
        syncedEpoch: 2,
        inPlaceRestartsCountTowardsMax: 1,
        restarts: 0,
      });
    },
  );

  test('restarts also when a worker fails while later stages start', async () => {
    let failures = 1;
    group.onStart = ({ slot }) => {
      if (slot === 'b/0' && failures-- > 0) group.exit('a/0', 1);
    };
    await group.create(spec, SUPERVISOR);
    await group.allIn(2, 5);
    expect(stagesOf(startsIn(2))).toEqual(['a', 'b', 'c']);
    expect((await group.jobSet()).status).toMatchObject({ inPlaceRestartsCountTowardsMax: 1 });
  });

  test('resumes stage by stage, uncharged, also when it was suspended while it started', async () => {
    await run(spec, 5);
    await group.patch({ spec: { suspend: true } });
    await group.cluster.until(async () => group.running().size === 0);
    await group.cluster.clock.advance(CALM_MS);
    expect((await group.jobSet()).status, 'no epoch ends').toMatchObject({ deprecatedEpoch: 0 });
    await group.patch({ spec: { suspend: false } });
    await group.cluster.until(async () => startsIn(2).length > 0);
    await group.patch({ spec: { suspend: true } });
    await group.cluster.until(async () => group.running().size === 0);
    await group.cluster.clock.advance(CALM_MS);
    await group.patch({ spec: { suspend: false } });
    await group.cluster.until(async () => group.running().size === 5);
    await group.cluster.clock.advance(CALM_MS);
    const { status } = await group.jobSet();
    expect(status?.inPlaceRestartsCountTowardsMax ?? 0).toBe(0);
    expect(new Set(group.running().values()).size, 'all in one epoch').toBe(1);
  });
});

describe('dependsOn', () => {
  test('Complete lets the dependent run in the epoch of those that still run', async () => {
    const spec: JobSetSpec = {
      replicatedJobs: [
        replicatedJob('prepare'),
        replicatedJob('serve'),
        { ...replicatedJob('train', 2), dependsOn: [{ name: 'prepare', status: 'Complete' }] },
      ],
      failurePolicy: IN_PLACE,
    };
    await run(spec, 2);
    expect(group.running().has('train/0')).toBe(false);
    await group.finish('prepare/0', 0);
    await group.allIn(1, 3);
    group.exit('train/1', 1);
    await group.allIn(2, 3);
    expect([...group.running().keys()].toSorted()).toEqual(['serve/0', 'train/0', 'train/1']);
  });
});

describe('rules for workers', () => {
  const rules = (action: 'FailJobSet' | 'RestartJob' | 'RestartJobSetAndIgnoreMaxRestarts') => [
    {
      name: 'fatal',
      action,
      onJobFailureReasons: ['BackoffLimitExceeded'],
      onJobFailureMessagePatterns: ['exited with code 42\\b'],
    },
  ];
  const spec = (action: Parameters<typeof rules>[0], maxRestarts = 0): JobSetSpec => ({
    replicatedJobs: [replicatedJob('a', 2), replicatedJob('b', 2)],
    failurePolicy: { ...IN_PLACE, maxRestarts, rules: rules(action) },
  });

  test('FailJobSet fails the JobSet for one exit code, and only for that', async () => {
    await run(spec('FailJobSet', 3), 4);
    group.exit('a/0', 1);
    await group.allIn(2, 4);
    group.exit('b/1', 42);
    await group.until(({ terminalState }) => terminalState === 'Failed');
    const { status } = await group.jobSet();
    expect(status?.conditions?.find(({ type }) => type === 'Failed')).toMatchObject({
      reason: 'FailJobSetFailurePolicyAction',
      message: expect.stringContaining('exited with code 42'),
    });
  });

  test('RestartJobSetAndIgnoreMaxRestarts restarts in place without a charge', async () => {
    await run(spec('RestartJobSetAndIgnoreMaxRestarts'), 4);
    for (const epoch of [2, 3]) {
      group.exit('a/0', 42);
      await group.allIn(epoch, 4);
    }
    await group.cluster.clock.advance(CALM_MS);
    expect((await group.jobSet()).status).toMatchObject({
      inPlaceRestarts: 2,
      inPlaceRestartsCountTowardsMax: 0,
      restarts: 0,
    });
    const reasons = (await group.events()).map(({ reason }) => reason);
    expect(reasons).toContain('RestartJobSetAndIgnoreMaxRestartsFailurePolicyAction');
  });

  test('RestartJob recreates the Job of the worker while the rest restarts in place', async () => {
    await run(spec('RestartJob', 1), 4);
    const before = await group.podUids();
    group.exit('a/0', 42);
    await group.allIn(2, 4);
    await group.cluster.clock.advance(CALM_MS);
    const kept = [...(await group.podUids()).keys()].filter((name) => before.has(name));
    expect(kept.toSorted().map((name) => name.slice(0, 9))).toEqual(['train-b-0', 'train-b-0']);
    const { status } = await group.jobSet();
    expect(status).toMatchObject({ restarts: 0, inPlaceRestartsCountTowardsMax: 0 });
    const a = status?.replicatedJobsStatus?.find(({ name }) => name === 'a');
    expect(a).toMatchObject({ jobRestarts: [1], jobRestartsCountTowardsMax: [1] });
    const { restartHistory } = status ?? {};
    expect(restartHistory).toHaveLength(1);
  });
});

describe('Pods that fail before the barrier, over and over', () => {
  /** Lets the Pods of slot 1 fail as soon as they run, `times` times. */
  async function crash(times: number): Promise<void> {
    const { cluster } = group;
    const crashed = new Set<string>();
    // The Job controller waits longer and longer before it makes the next one.
    for (let waits = 0; waits < 100 && crashed.size < times; waits++) {
      for (const pod of await cluster.pods()) {
        const { name, uid } = pod.metadata;
        const isNext = name.startsWith('train-w-0-1') && pod.status?.phase === 'Running';
        if (!isNext || crashed.has(uid)) continue;
        crashed.add(uid);
        await cluster.finish(pod, 1);
      }
      await cluster.clock.advance(CALM_MS);
    }
    expect(crashed.size).toBe(times);
  }

  test('are charged once for more than three of a Job, and fail the JobSet in the end', async () => {
    await group.stop();
    const supervise = supervised('Canonical');
    group = new TrainingGroup((pod, slot, ...others) =>
      slot === 'w/1'
        ? {
            slot,
            podName: pod.metadata.name,
            epoch: undefined,
            exit: () => undefined,
            crash: () => undefined,
            end: () => undefined,
          }
        : supervise(pod, slot, ...others),
    );
    await group.start();
    const replicatedJobs = [replicatedJob('w', 2)];
    const failurePolicy = { ...IN_PLACE, maxRestarts: 1 };
    await group.create({ replicatedJobs, failurePolicy }, SUPERVISOR);
    await crash(3);
    expect((await group.jobSet()).status).toMatchObject({ deprecatedEpoch: 0 });
    await crash(1);
    expect((await group.jobSet()).status).toMatchObject({
      deprecatedEpoch: 1,
      inPlaceRestartsCountTowardsMax: 1,
      restartHistory: [{ cause: 'StartFailed', witness: { exitCode: 1 } }],
    });
    await crash(3);
    expect((await group.jobSet()).status).toMatchObject({ deprecatedEpoch: 1 });
    await crash(1);
    const { status } = await group.jobSet();
    expect(status?.conditions?.find(({ type }) => type === 'Failed')).toMatchObject({
      reason: 'ReachedMaxRestarts',
    });
  });
});

describe('changes of a JobSet that runs', () => {
  const spec: JobSetSpec = { replicatedJobs: [replicatedJob('w', 2)], failurePolicy: IN_PLACE };

  async function scale(replicas: number, pods: number): Promise<void> {
    await group.patch({ spec: { replicatedJobs: [replicatedJob('w', pods, replicas)] } });
  }

  test('scaling starts all workers again in the new size, uncharged', async () => {
    await run(spec, 2);
    for (const [epoch, [replicas, pods]] of [
      [2, [1, 3]],
      [3, [2, 3]],
      [4, [2, 1]],
      [5, [1, 1]],
    ] as const) {
      await scale(replicas, pods);
      const isThere = (): boolean => startsIn(epoch).length === replicas * pods;
      await group.cluster.until(async () => isThere());
      await group.cluster.clock.advance(CALM_MS);
      expect(new Set(group.running().values())).toEqual(new Set([epoch]));
    }
    expect((await group.jobSet()).status).toMatchObject({
      restarts: 0,
      inPlaceRestartsCountTowardsMax: 0,
    });
  });

  test('scaling in the middle of a restart is part of it', async () => {
    await run(spec, 2);
    group.exit('w/0', 1);
    await group.until(({ deprecatedEpoch }) => deprecatedEpoch === 1);
    await scale(1, 3);
    await group.cluster.until(async () => group.running().size === 3);
    await group.cluster.clock.advance(CALM_MS);
    expect(new Set(group.running().values()).size).toBe(1);
    expect((await group.jobSet()).status).toMatchObject({ inPlaceRestartsCountTowardsMax: 1 });
  });

  test('with the annotation barriers open, and removing it causes no restart', async () => {
    await run(spec, 2);
    const annotations = { 'jobset.sigs.k8s.io/disable-in-place-restart': '' };
    await group.patch({ metadata: { annotations } });
    await group.until(({ conditions }) =>
      Boolean(conditions?.some(({ type }) => type === 'InPlaceRestartBypassed')),
    );
    await group.cluster.clock.advance(CALM_MS);
    expect(group.starts).toHaveLength(2);
    const none = { 'jobset.sigs.k8s.io/disable-in-place-restart': null };
    await group.patch({ metadata: { annotations: none } });
    await group.cluster.clock.advance(CALM_MS);
    expect(group.starts).toHaveLength(2);
    expect((await group.jobSet()).status).toMatchObject({ deprecatedEpoch: 0, syncedEpoch: 1 });
    group.exit('w/0', 1);
    await group.allIn(2, 2);
  });

  test('a Job that somebody deletes is recreated, and its group restarts once', async () => {
    await run(spec, 2);
    const at = { namespace: 'default', name: 'train-w-0' };
    await group.cluster.client.delete(JOBS, at, { propagationPolicy: 'Foreground' });
    await group.allIn(2, 2);
    expect((await group.jobSet()).status).toMatchObject({ inPlaceRestartsCountTowardsMax: 1 });
  });
});
