import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MemberView } from '../../../../jobset/view/status-view.ts';
import { matches } from './filter.ts';
import { cellAt, inOrder, layOut, neighbour } from './layout.ts';
import { COLORINGS, LOOKS, lookOf, type RunState, silenceOf } from './states.ts';

const member = (more: Partial<MemberView> = {}): MemberView => ({
  label: '0',
  replicatedJob: 'workers',
  job: 'train-workers-0',
  index: '0',
  pod: 'train-workers-0-0-abcde',
  node: 'node-1',
  isNodeLost: false,
  phase: 'Running',
  heldBy: null,
  epoch: 4,
  channel: 'Hub',
  lastCause: null,
  progress: { step: 100, silentMs: 20 },
  ...more,
});
const RELEASED: RunState = { state: 'Released', epoch: 4, progress: { highestStep: 101 } };

describe('lookOf', () => {
  const progress = (step: number): MemberView => member({ progress: { step, silentMs: 0 } });
  it.each([
    ['Step', progress(101), 0, 'Level0'],
    ['Step', progress(95), 0, 'Level1'],
    ['Step', progress(20), 0, 'Level2'],
    ['Step', progress(0), 0, 'Level3'],
    ['Step', member({ progress: null }), 0, 'Dot'],
    ['Silence', member(), 10_000, 'Level0'],
    ['Silence', member(), 10_001, 'Level1'],
    ['Silence', member(), 9e9, 'Level3'],
    ['Silence', member(), null, 'Dot'],
    ['Epoch', member(), 0, 'Level0'],
    ['Epoch', member({ epoch: 3 }), 0, 'Level1'],
    ['Epoch', member({ epoch: 1 }), 0, 'Level3'],
    ['Epoch', member({ epoch: null }), 0, 'Dot'],
    ['State', member({ phase: 'Failed' }), 0, 'Cross'],
  ] as const)('draws by %s', (coloring, of, silentMs, shape) => {
    expect(LOOKS[coloring][lookOf(coloring, of, RELEASED, silentMs)]?.shape).toBe(shape);
  });

  it('never relies on colour alone', () => {
    for (const coloring of COLORINGS) {
      const shapes = LOOKS[coloring].map(({ shape }) => shape);
      expect(new Set(shapes).size).toBe(shapes.length);
    }
  });
});

it('lets silence grow between messages', () => {
  const told = { ...member({ progress: { silentMs: 500 } }), atMs: 1000 };
  expect([silenceOf(told, 4000), silenceOf(told, 0)]).toEqual([3500, 500]);
  expect(silenceOf({ ...told, progress: null }, 4000)).toBeNull();
});

describe('layOut', () => {
  const groups = fc.array(fc.tuple(fc.nat(2), fc.nat(12), fc.nat(40)), { maxLength: 300 });
  const members = groups.map((all) =>
    all.map(([group, job, index], i) =>
      member({
        replicatedJob: `r${group}`,
        job: `t-r${group}-${job}`,
        index: String(index),
        pod: `p${i}`,
      }),
    ),
  );

  it('finds each member at its cell, and lays no two onto each other', () => {
    fc.assert(
      fc.property(members, fc.integer({ min: 200, max: 1500 }), (all, width) => {
        const ordered = inOrder(all);
        const layout = layOut(ordered, width);
        for (const i of ordered.keys()) {
          const [x, y] = [layout.x[i] ?? -1, layout.y[i] ?? -1];
          expect(cellAt(layout, x + 1, y + 1)).toBe(i);
          expect(y + layout.cellPx).toBeLessThanOrEqual(layout.heightPx);
          expect(x).toBeGreaterThanOrEqual(layout.gutterPx);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('reaches each cell with the arrow keys, and never leaves the grid', () => {
    fc.assert(
      fc.property(members, fc.integer({ min: 200, max: 1500 }), (all, width) => {
        const layout = layOut(inOrder(all), width);
        for (const i of all.keys()) {
          for (const key of ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End']) {
            const to = neighbour(layout, i, key);
            expect(to >= 0 && to < all.length).toBe(true);
          }
          const down = neighbour(layout, i, 'ArrowDown');
          if (down !== i) expect(layout.y[down] ?? 0).toBeGreaterThan(layout.y[i] ?? 0);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('orders numbers as numbers', () => {
    const all = ['10', '9', '2'].map((index) => member({ index, pod: index }));
    expect(inOrder(all).map(({ index }) => index)).toEqual(['2', '9', '10']);
  });

  it('says where a ReplicatedJob and its Jobs begin', () => {
    const all = [
      member({ replicatedJob: 'driver', job: 't-driver-0' }),
      ...['0', '1'].flatMap((job) =>
        Array.from({ length: 30 }, (_, i) =>
          member({ job: `t-workers-${job}`, index: String(i), pod: `${job}-${i}` }),
        ),
      ),
    ];
    const { labels } = layOut(inOrder(all), 800);
    expect(labels.map(({ text }) => text)).toEqual([
      'driver',
      'job 0',
      'workers',
      'job 0',
      '22',
      'job 1',
      '22',
    ]);
  });

  it('fits 5,000 members on a few screens', () => {
    const all = Array.from({ length: 5000 }, (_, i) => member({ index: String(i), pod: `p${i}` }));
    expect(layOut(all, 1200).heightPx).toBeLessThan(700);
    expect(layOut(all, 360).heightPx).toBeLessThan(2200);
  });
});

describe('matches', () => {
  it.each([
    [{ kind: 'All', text: ' NODE-1 ' }, {}, true],
    [{ kind: 'All', text: 'workers-0/0' }, {}, true],
    [{ kind: 'All', text: 'other' }, {}, false],
    [{ kind: 'Behind', text: '' }, {}, false],
    [{ kind: 'Behind', text: '' }, { epoch: 3 }, true],
    [{ kind: 'Behind', text: '' }, { progress: { step: 9, silentMs: 0 } }, true],
    [{ kind: 'NotReady', text: '' }, { phase: 'Pending' }, true],
    [{ kind: 'NotReady', text: '' }, {}, false],
    [{ kind: 'Lagging', text: '' }, { progress: { silentMs: 0, lag: [] } }, true],
    [{ kind: 'Lagging', text: 'x' }, { progress: { silentMs: 0, lag: [] } }, false],
  ] as const)('applies %j', (filter, more, isMatch) => {
    expect(matches(filter, member(more), RELEASED)).toBe(isMatch);
  });
});
