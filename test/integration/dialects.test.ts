/**
 * Our agents in upstream's dialect of the restart in place (`docs/design/upstream.md`). Upstream's own
 * agent and controller take part in `test/neighbours/dialects.test.ts`.
 */

import { afterEach, describe, expect, it } from 'vitest';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { type StartMember, supervised, TrainingGroup } from './training-group.fixture.ts';

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
async function start(member: StartMember): Promise<void> {
  group = new TrainingGroup(member);
  await group.start();
}

afterEach(() => group.stop());

function expectLockstep(): void {
  const epochs = group.starts.map(({ epoch }) => epoch);
  expect(epochs).toEqual(epochs.toSorted((a, b) => a - b));
  const starts = new Set(group.starts.map(({ slot, epoch }) => `${slot}@${epoch}`));
  expect(starts.size).toBe(group.starts.length);
}

let turn = 0;
const MEMBERS: readonly (readonly [string, StartMember])[] = [
  ["our agents in upstream's dialect", supervised('Upstream')],
  [
    'agents of both dialects',
    (...args) => supervised(DIALECTS[turn++ % 2] ?? 'Canonical')(...args),
  ],
];
const DIALECTS = ['Upstream', 'Canonical'] as const;

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
