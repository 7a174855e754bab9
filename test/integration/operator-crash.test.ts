import { expect, test } from 'vitest';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { CALM_MS, SUPERVISOR, startedGroup } from './three-workers.fixture.ts';

const WORKERS = 2;
const SPEC = {
  replicatedJobs: [replicatedJob('a'), replicatedJob('b')],
  failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 3 },
} as const;

interface Outcome {
  readonly writes: readonly string[];
  readonly deaths: number;
  readonly podsKept: boolean;
  readonly result: unknown;
}

/**
 * From the creation of a JobSet through a restart, with an operator that dies at its write number
 * `diesAt` (before it or right after it) and is started again.
 */
async function live(diesAt: number | undefined, diesBefore: boolean): Promise<Outcome> {
  const group = await startedGroup();
  try {
    let deaths = 0;
    let isDead = false;
    await group.startOperator((client) => {
      client.diesAt = diesAt;
      client.diesBefore = diesBefore;
      client.onDeath = () => {
        deaths++;
        isDead = true;
      };
    });
    const first = group.operatorClient;
    const revive = async (): Promise<void> => {
      await group.cluster.clock.advance(1000);
      if (isDead) await group.startOperator();
      isDead = false;
    };
    await group.create(SPEC, SUPERVISOR);
    await revive();
    await group.allIn(1, WORKERS);
    await group.cluster.clock.advance(CALM_MS);
    await revive();
    const uids = await group.podUids();
    group.exit('a/0', 3);
    await revive();
    await group.allIn(2, WORKERS);
    await group.cluster.clock.advance(CALM_MS);
    await revive();
    await group.cluster.clock.advance(CALM_MS);
    const { status } = await group.jobSet();
    const after = await group.podUids();
    return {
      writes: first.writes.map(({ what }) => what),
      deaths,
      podsKept: JSON.stringify([...after]) === JSON.stringify([...uids]),
      result: {
        starts: group.starts.map(({ slot, epoch }) => `${slot}@${epoch}`).toSorted(),
        deprecatedEpoch: status?.deprecatedEpoch,
        syncedEpoch: status?.syncedEpoch,
        restarts: status?.restarts,
        inPlaceRestarts: status?.inPlaceRestarts,
        counted: status?.inPlaceRestartsCountTowardsMax,
        causes: status?.restartHistory?.map(({ cause, witness }) => [cause, witness?.exitCode]),
        counters: status?.replicatedJobsStatus,
      },
    };
  } finally {
    await group.stop();
  }
}

test('killing the operator at any of its writes changes nothing in the outcome', async () => {
  const undisturbed = await live(undefined, false);
  expect(undisturbed.podsKept).toBe(true);
  expect(undisturbed.result).toMatchObject({ deprecatedEpoch: 1, counted: 1, restarts: 0 });
  expect(undisturbed.writes.filter((what) => what === 'create jobs')).toHaveLength(WORKERS);
  for (let diesAt = 0; diesAt < undisturbed.writes.length; diesAt++) {
    for (const diesBefore of [true, false]) {
      const when = `${diesBefore ? 'before' : 'after'} write ${diesAt}: ${undisturbed.writes[diesAt]}`;
      const disturbed = await live(diesAt, diesBefore);
      expect(disturbed.deaths, when).toBe(1);
      expect(disturbed.result, when).toEqual(undisturbed.result);
      expect(disturbed.podsKept, when).toBe(true);
    }
  }
});
