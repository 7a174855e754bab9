import { expect, test } from 'vitest';
import { oddRank, type RankActivity } from './rank-hang.ts';

type Did = Partial<Omit<RankActivity, 'local'>>;

const SLEEPS: Did = { cpuMs: 20, runnableMs: 100 };
const SPINS: Did = { cpuMs: 4900, runnableMs: 4950 };
const STARVES: Did = { cpuMs: 300, runnableMs: 4950 };

test.each<[string, readonly Did[], number | undefined]>([
  ['one was stopped', [SPINS, { ...SLEEPS, isStopped: true }, SPINS, SPINS], 1],
  ['two were stopped', [{ isStopped: true }, { isStopped: true }, SPINS, SPINS], undefined],
  ['one is a step behind', [{ step: 9 }, { step: 9 }, { step: 8 }, { step: 9 }], 2],
  ['one is a step ahead', [{ step: 9 }, { step: 8 }, { step: 8 }, { step: 8 }], undefined],
  ['one has not stepped', [{ step: 9, ...SLEEPS }, SLEEPS, SLEEPS, SLEEPS], undefined],
  ['one spins, and the others sleep', [SLEEPS, SLEEPS, SLEEPS, SPINS], 3],
  ['one spins with little of a CPU', [SLEEPS, STARVES, SLEEPS, SLEEPS], 1],
  ['one sleeps, and the others spin', [SLEEPS, SPINS, STARVES, SPINS], 0],
  ['one is neither busy nor idle', [{ cpuMs: 1500 }, SLEEPS, SLEEPS, SPINS], undefined],
  ['all sleep', [SLEEPS, SLEEPS, SLEEPS, SLEEPS], undefined],
  ['two spin', [SLEEPS, SPINS, SPINS, SLEEPS], undefined],
  ['of two, one spins', [SLEEPS, SPINS], undefined],
  ['of two, one was stopped', [SPINS, { isStopped: true }], 1],
  ['nothing is measured', [{}, {}, {}, {}], undefined],
  ['there is only one', [{ isStopped: true }], undefined],
])('%s', (_, did, expected) => {
  const ranks = did.map((each, local) => ({ local, isStopped: false, ...each }));
  expect(oddRank(ranks)).toBe(expected);
});
