import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { describe, expect, it } from 'vitest';
import {
  BAD_NODES,
  drawOutages,
  FAILURES,
  FAILURES_OF_A_BAD_NODE,
  type Failure,
  type Outage,
  RUN_MS,
} from './failures.ts';

const MEMBERS = 64;

function failuresOf(outages: readonly Outage[]): readonly Failure[] {
  return outages.flatMap(({ first, relapses }) => [first, ...relapses]);
}

describe.each([1, 2, 3])('the failures of a run, drawn from seed %i', (seed) => {
  const outages = drawOutages(new SeededRandom(seed), MEMBERS);
  const failures = failuresOf(outages);

  it('are the same as in the report, kind by kind', () => {
    const counts = Object.fromEntries(
      Object.keys(FAILURES).map((kind) => [kind, failures.filter((f) => f.kind === kind).length]),
    );
    expect(failures).toHaveLength(419);
    expect(counts).toEqual({
      GPU: 148,
      HBM: 72,
      Software: 54,
      Network: 35,
      'Host maintenance': 32,
      Others: 78,
    });
  });

  it('are hangs one time in eight, but never because a node is taken away', () => {
    const hangs = failures.filter(({ isHang }) => isHang);
    expect(hangs).toHaveLength(52);
    expect(hangs.filter(({ kind }) => kind === 'Host maintenance')).toEqual([]);
  });

  it('come back on a few nodes, and only failures of nodes do', () => {
    const bad = outages.filter(({ relapses }) => relapses.length > 0);
    expect(bad.map(({ relapses }) => 1 + relapses.length)).toEqual(
      Array.from({ length: BAD_NODES }, () => FAILURES_OF_A_BAD_NODE),
    );
    const kinds = new Set(failuresOf(bad).map(({ kind }) => kind));
    expect([...kinds].sort()).toEqual(['GPU', 'HBM', 'Network']);
  });

  it('are spread over the run and the members, in order', () => {
    const times = outages.map(({ atMs }) => atMs);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times.filter((ms) => ms < 0 || ms > RUN_MS)).toEqual([]);
    expect(times.filter((ms) => ms < RUN_MS / 2).length / times.length).toBeCloseTo(0.5, 1);
    const slots = new Set(outages.map(({ slot }) => slot));
    expect([...slots].filter((slot) => !Number.isInteger(slot) || slot >= MEMBERS)).toEqual([]);
    expect(slots.size).toBeGreaterThan(MEMBERS / 2);
  });
});

it('draws the same from one seed, and another run from another', () => {
  const [a, b, c] = [1, 1, 2].map((seed) => drawOutages(new SeededRandom(seed), MEMBERS));
  expect(a).toEqual(b);
  expect(a).not.toEqual(c);
});
