import { expect, test } from 'vitest';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { EXCEPTIONS } from '../kubernetes.ts';
import { startedGroupUnderTest } from './group-under-test.fixture.ts';
import { CALM_MS, SUPERVISOR } from './three-workers.fixture.ts';

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

/** How an operator ends: with its process, or only its term, in a process that keeps its caches. */
type End = 'dies' | 'steps down';

/**
 * From the creation of a JobSet through a restart, with an operator that ends before or right after
 * its write number `diesAt`, and begins again.
 */
async function live(end: End, diesAt: number | undefined, diesBefore: boolean): Promise<Outcome> {
  const group = await startedGroupUnderTest();
  const begin = end === 'dies' ? group.startOperator.bind(group) : group.beginTerm.bind(group);
  try {
    let deaths = 0;
    let isDead = false;
    await begin((client) => {
      client.diesAt = diesAt;
      client.diesBefore = diesBefore;
      client.onDeath = () => {
        deaths++;
        isDead = true;
      };
    });
    const first = group.operatorClient;
    const revive = async (): Promise<void> => {
      await group.cluster.calm(1000);
      if (isDead) await begin();
      isDead = false;
    };
    await group.create(SPEC, SUPERVISOR);
    await revive();
    await group.allIn(1, WORKERS);
    await group.cluster.calm(CALM_MS);
    await revive();
    const uids = await group.podUids();
    group.exit('a/0', 3);
    await revive();
    await group.allIn(2, WORKERS);
    await group.cluster.calm(CALM_MS);
    await revive();
    await group.cluster.calm(CALM_MS);
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

const ENDS: readonly [string, End][] = [
  ['killing the operator', 'dies'],
  ['taking the lease from the operator', 'steps down'],
];

/** All writes; where a life takes seconds, the last of each kind. */
function chosen(writes: readonly string[]): readonly number[] {
  const all = [...writes.keys()];
  return EXCEPTIONS.timeIsReal ? all.filter((i) => writes.lastIndexOf(writes[i] ?? '') === i) : all;
}

/** In real time a life may have a write more than the next one, whose operator would not get there. */
const MAX_LIVES = 3;

/** A life whose operator ends at that write, or at the last of its kind if there is none any more. */
async function disturb(
  end: End,
  { writes }: Outcome,
  at: number,
  diesBefore: boolean,
): Promise<Outcome> {
  let disturbed = await live(end, at, diesBefore);
  for (let lives = 1; disturbed.deaths === 0 && lives < MAX_LIVES; lives++) {
    disturbed = await live(end, disturbed.writes.lastIndexOf(writes[at] ?? ''), diesBefore);
  }
  return disturbed;
}

test.each(EXCEPTIONS.timeIsReal ? ENDS.slice(0, 1) : ENDS)(
  EXCEPTIONS.timeIsReal
    ? '%s after its last write of a kind changes nothing in the outcome'
    : '%s at any of its writes changes nothing in the outcome',
  async (_, end) => {
    const undisturbed = await live(end, undefined, false);
    expect(undisturbed.podsKept).toBe(true);
    expect(undisturbed.result).toMatchObject({ deprecatedEpoch: 1, counted: 1, restarts: 0 });
    expect(undisturbed.writes.filter((what) => what === 'create jobs')).toHaveLength(WORKERS);
    for (const diesAt of chosen(undisturbed.writes)) {
      for (const diesBefore of EXCEPTIONS.timeIsReal ? [false] : [true, false]) {
        const when = `${diesBefore ? 'before' : 'after'} write ${diesAt}: ${undisturbed.writes[diesAt]}`;
        const disturbed = await disturb(end, undisturbed, diesAt, diesBefore);
        expect(disturbed.deaths, when).toBe(1);
        expect(disturbed.result, when).toEqual(undisturbed.result);
        expect(disturbed.podsKept, when).toBe(true);
      }
    }
  },
);
