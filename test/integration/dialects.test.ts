/**
 * Both dialects of the restart in place, in agents and in controllers (`docs/design/upstream.md`).
 */

import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { afterEach, describe, expect, it, test } from 'vitest';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { type StartMember, supervised, TrainingGroup } from './training-group.fixture.ts';
import { UpstreamsController, upstreamsAgent } from './upstream.fixture.ts';

const WORKERS = 3;
const SPEC = {
  replicatedJobs: [replicatedJob('w', WORKERS)],
  failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 3 },
} as const;
const SUPERVISOR = {
  'lockstep/restart-mode': 'Supervisor',
  'lockstep/restart-backoff': 'Disabled',
};
/** Long enough for every delayed action. */
const CALM_MS = 10_000;

let group: TrainingGroup;
let upstreams: UpstreamsController | undefined;

async function start(member: StartMember): Promise<void> {
  group = new TrainingGroup(member);
  await group.start();
}

/** Puts upstream's controller in the place of ours. */
async function startUpstreams(): Promise<void> {
  await group.stopOperator();
  startUpstreamsBesideOurs();
}

function startUpstreamsBesideOurs(): void {
  const { client, clock } = group.cluster;
  const random = new SeededRandom(5);
  upstreams = new UpstreamsController({ client, clock, random, jobSetName: 'train' });
}

async function stopUpstreams(): Promise<void> {
  let isStopped = upstreams === undefined;
  void upstreams?.stop().then(() => {
    isStopped = true;
  });
  upstreams = undefined;
  await group.cluster.clock.runUntil(() => isStopped, CALM_MS);
}

afterEach(async () => {
  await stopUpstreams();
  await group.stop();
});

function expectLockstep(): void {
  const epochs = group.starts.map(({ epoch }) => epoch);
  expect(epochs).toEqual(epochs.toSorted((a, b) => a - b));
  const starts = new Set(group.starts.map(({ slot, epoch }) => `${slot}@${epoch}`));
  expect(starts.size).toBe(group.starts.length);
}

let turn = 0;
const MEMBERS: readonly (readonly [string, StartMember])[] = [
  ["upstream's agents", upstreamsAgent],
  ["our agents in upstream's dialect", supervised('Upstream')],
  ['agents of all kinds', (...args) => ALL_KINDS[turn++ % ALL_KINDS.length]?.(...args) ?? none()],
];
const ALL_KINDS: readonly StartMember[] = [
  upstreamsAgent,
  supervised('Upstream'),
  supervised('Canonical'),
];
const none = (): never => {
  throw new Error('no such kind');
};

describe.each(MEMBERS)('under our controller, %s', (_, member) => {
  it('start together, and restart together for one failure and one charge', async () => {
    await start(member);
    await group.create(SPEC, SUPERVISOR);
    await group.allIn(1, WORKERS);
    const uids = await group.podUids();
    for (const [epoch, slot] of [[2, 'w/1'] as const, [3, 'w/2'] as const]) {
      group.exit(slot, 7);
      await group.allIn(epoch, WORKERS);
    }
    await group.cluster.clock.advance(CALM_MS);
    expect(await group.podUids()).toEqual(uids);
    expectLockstep();
    expect((await group.jobSet()).status).toMatchObject({
      deprecatedEpoch: 2,
      syncedEpoch: 3,
      previousInPlaceRestartAttempt: 1,
      currentInPlaceRestartAttempt: 2,
      inPlaceRestarts: 2,
      inPlaceRestartsCountTowardsMax: 2,
    });
  });

  it('restart once when all fail at once, and replace a Pod that is lost', async () => {
    await start(member);
    await group.create(SPEC, SUPERVISOR);
    await group.allIn(1, WORKERS);
    for (const slot of ['w/0', 'w/1', 'w/2']) group.exit(slot, 1);
    await group.allIn(2, WORKERS);
    await group.cluster.clock.advance(CALM_MS);
    await group.finish('w/0', 137);
    await group.allIn(3, WORKERS);
    expectLockstep();
    expect((await group.jobSet()).status?.inPlaceRestarts).toBe(2);
  });

  it('fail the JobSet when the budget is spent', async () => {
    await start(member);
    await group.create(
      { ...SPEC, failurePolicy: { ...SPEC.failurePolicy, maxRestarts: 1 } },
      SUPERVISOR,
    );
    await group.allIn(1, WORKERS);
    group.exit('w/0', 1);
    await group.allIn(2, WORKERS);
    group.exit('w/0', 1);
    await group.until(({ terminalState }) => terminalState === 'Failed');
  });
});

test("under upstream's controller, our agents start and restart together", async () => {
  await start(supervised('Upstream'));
  await startUpstreams();
  await group.create(SPEC, SUPERVISOR);
  await group.allIn(1, WORKERS);
  group.exit('w/1', 7);
  await group.allIn(2, WORKERS);
  await group.finish('w/0', 137);
  await group.allIn(3, WORKERS);
  await group.cluster.clock.advance(CALM_MS);
  expectLockstep();
  const { status } = await group.jobSet();
  expect(status).toMatchObject({
    previousInPlaceRestartAttempt: 1,
    currentInPlaceRestartAttempt: 2,
  });
  expect(status?.deprecatedEpoch).toBeUndefined();
});

test.each(MEMBERS.slice(0, 2))(
  "our controller takes over a group from upstream's while %s run",
  async (_, member) => {
    await start(member);
    await startUpstreams();
    await group.create(SPEC, SUPERVISOR);
    await group.allIn(1, WORKERS);
    group.exit('w/1', 7);
    await group.allIn(2, WORKERS);
    await stopUpstreams();
    const startsBefore = group.starts.length;

    await group.startOperator();
    await group.cluster.clock.advance(CALM_MS);
    expect(group.starts.length).toBe(startsBefore);
    expect((await group.jobSet()).status).toMatchObject({
      deprecatedEpoch: 1,
      syncedEpoch: 2,
      inPlaceRestarts: 1,
      inPlaceRestartsCountTowardsMax: 1,
    });
    group.exit('w/2', 7);
    await group.allIn(3, WORKERS);
    expectLockstep();
  },
);

test("our controller continues with a restart that upstream's began", async () => {
  await start(upstreamsAgent);
  await startUpstreams();
  await group.create(SPEC, SUPERVISOR);
  await group.allIn(1, WORKERS);
  group.exit('w/1', 7);
  await group.until(({ previousInPlaceRestartAttempt: previous }) => previous === 0);
  await stopUpstreams();
  await group.startOperator();
  await group.allIn(2, WORKERS);
  await group.cluster.clock.advance(CALM_MS);
  expectLockstep();
  expect((await group.jobSet()).status?.inPlaceRestarts).toBe(1);
});

test("a group of ours continues under upstream's controller, and again under ours", async () => {
  await start(upstreamsAgent);
  await group.create(SPEC, SUPERVISOR);
  await group.allIn(1, WORKERS);
  group.exit('w/1', 7);
  await group.allIn(2, WORKERS);
  await startUpstreams();
  await group.cluster.clock.advance(CALM_MS);
  expect(group.starts, 'no worker restarts for a new controller').toHaveLength(2 * WORKERS);
  group.exit('w/2', 7);
  await group.allIn(3, WORKERS);
  await stopUpstreams();
  expect((await group.jobSet()).status?.deprecatedEpoch, 'upstream’s keeps no field of ours').toBe(
    undefined,
  );

  await group.startOperator();
  await group.cluster.clock.advance(CALM_MS);
  expect(group.starts).toHaveLength(3 * WORKERS);
  expect((await group.jobSet()).status).toMatchObject({
    deprecatedEpoch: 2,
    syncedEpoch: 3,
    inPlaceRestartsCountTowardsMax: 2,
  });
  group.exit('w/0', 7);
  await group.allIn(4, WORKERS);
  expectLockstep();
});

test("injected agents run on under upstream's controller; what fails waits for ours", async () => {
  await start(supervised('Canonical'));
  await group.create(SPEC, SUPERVISOR);
  await group.allIn(1, WORKERS);
  await startUpstreams();
  await group.cluster.clock.advance(CALM_MS);
  group.exit('w/1', 7);
  await group.cluster.clock.advance(CALM_MS);
  expect(Object.fromEntries(group.running())).toEqual({ 'w/0': 1, 'w/2': 1 });
  await stopUpstreams();
  await group.startOperator();
  await group.allIn(2, WORKERS);
  expectLockstep();
  expect((await group.jobSet()).status?.inPlaceRestartsCountTowardsMax).toBe(1);
});

test('both controllers at once, by mistake: one restart for one failure, one charge, then rest', async () => {
  await start(upstreamsAgent);
  startUpstreamsBesideOurs();
  await group.create(SPEC, SUPERVISOR);
  await group.allIn(1, WORKERS);
  group.exit('w/1', 7);
  await group.allIn(2, WORKERS);
  await group.cluster.clock.advance(CALM_MS);
  expectLockstep();
  expect((await group.jobSet()).status).toMatchObject({
    previousInPlaceRestartAttempt: 0,
    currentInPlaceRestartAttempt: 1,
    inPlaceRestartsCountTowardsMax: 1,
  });
  const { resourceVersion } = (await group.jobSet()).metadata;
  await group.cluster.clock.advance(CALM_MS);
  expect((await group.jobSet()).metadata.resourceVersion).toBe(resourceVersion);
});
